"""The applications in docs/examples, each run beside a server."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from tests.support.processes import free_port
from tests.support.programs import SDKS
from tests.support.servers import until

EXAMPLES = Path(__file__).parents[3] / "docs/examples"
FEATURES = "/api/admin/projects/default/features"
EXPRESS = f"{FEATURES}/checkout.express/environments/production"
ONLY_ADA = {"contextName": "userId", "operator": "IN", "values": ["ada"]}


@pytest.fixture
def reads(start):
    """The variables of a server on which checkout.express is on for ada alone."""
    server = start()
    server.call("POST", FEATURES, {"name": "checkout.express"})
    strategy = {"name": "flexibleRollout", "constraints": [ONLY_ADA]}
    assert server.call("POST", f"{EXPRESS}/strategies", strategy).status == 200
    assert server.call("POST", f"{EXPRESS}/on").status == 200
    new = {"tokenName": "shop", "type": "client", "environment": "production"}
    secret = server.call("POST", "/api/admin/api-tokens", new).json["secret"]
    return {"FLAGSTAFF_URL": f"{server.address}/api/", "FLAGSTAFF_SDK_TOKEN": secret}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("flask_shop.py", (sys.executable, "-m", "flask", "--app", "flask_shop", "run")),
        ("node_shop.mjs", ("node", "node_shop.mjs")),
    ],
)
def test_a_shop_sells_in_one_step_to_the_users_of_its_feature(sdks, reads, tmp_path, file, command):
    tmp_path.joinpath(file).write_bytes(EXAMPLES.joinpath(file).read_bytes())
    tmp_path.joinpath("node_modules").symlink_to(SDKS / "node_modules")
    port = str(free_port())
    environ = reads | {"PORT": port, "FLASK_RUN_PORT": port, "HOME": str(tmp_path)}
    with subprocess.Popen(command, cwd=tmp_path, env=os.environ | environ) as shop:
        try:
            until(lambda: says(port, "ada") == "Buy now")
            assert says(port, "bob") == "Go to checkout"
        finally:
            shop.terminate()


def says(port, user):
    """What the shop shows a user; None while it isn't there yet."""
    try:
        return requests.get(f"http://127.0.0.1:{port}/?user={user}", timeout=10).text
    except requests.ConnectionError:
        return None
