"""What a server does beside its requests: it writes what waits, and prunes."""

from typing import Any

import sqlalchemy as sa

from tests.support.machines import Machine
from tests.support.servers import Server, until


def entries(server: Server) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.call("GET", "/api/admin/security-log").json["entries"]
    return found


def test_it_writes_the_rest_of_a_flood_within_seconds(start):
    server = start()
    robot = server.call("POST", "/api/admin/service-account", {"name": "CI", "rootRole": 3}).json
    tokens = f"/api/admin/service-account/{robot['id']}/token"
    token = server.call("POST", tokens, {"description": "x"}).json
    server.call("DELETE", f"{tokens}/{token['id']}")
    for _ in range(100):
        assert server.call("GET", "/api/admin/user", token=token["secret"]).status == 401
    until(lambda: sum(entry["times"] for entry in entries(server)) == 100)
    assert {entry["tokenId"] for entry in entries(server)} == {token["id"]}


def test_it_deletes_what_is_older_than_the_setting(machine: Machine, start):
    server = start()
    server.call("GET", "/api/admin/user")
    assert server.end() == 0
    old = (
        "INSERT INTO security_log (at, kind, network, times) "
        "VALUES ('2020-01-01 00:00:00.000000', 'sign-in', 'unknown', 1)"
    )
    engine = sa.create_engine(f"sqlite:///{machine.home}/flagstaff.db")
    with engine.begin() as connection:
        connection.execute(sa.text(old))
    engine.dispose()
    again = start()
    until(lambda: entries(again) == [])
