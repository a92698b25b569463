"""All that scim2-tester checks of a server of SCIM 2.0: of a running one."""

from collections.abc import Callable

import httpx2
import pytest

from tests.support.servers import Server


@pytest.mark.one_in(2)
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_every_check_of_scim2_tester_passes(
    start: Callable[..., Server], request: pytest.FixtureRequest, database: str
):
    # Imported here, since that takes every process of the tests a second.
    from scim2_client.engines.httpx2 import SyncSCIMClient  # noqa: PLC0415
    from scim2_tester import Status, check_server  # noqa: PLC0415

    url = "empty_postgresql"
    settings = {} if database == "sqlite" else {"DATABASE_URL": request.getfixturevalue(url)}
    server = start(**settings)
    token = server.call("POST", "/api/admin/scim-tokens", {"tokenName": "tester"}).json["secret"]
    headers = {"Authorization": f"Bearer {token}"}
    with httpx2.Client(base_url=f"{server.address}/scim/v2", headers=headers) as http:
        results = check_server(SyncSCIMClient(http))
    assert len(results) > 50
    wrong = [
        f"{each.resource_type} {each.title}: {each.status} {each.reason}"
        for each in results
        if each.status is not Status.SUCCESS
    ]
    assert "\n".join(wrong) == ""
