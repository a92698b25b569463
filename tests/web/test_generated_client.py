"""A client that a common generator makes of the OpenAPI document works without changes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.servers import TOKEN

pytestmark = pytest.mark.slow

GENERATOR = Path(sys.executable).with_name("openapi-python-client")
SCRIPT = """
import sys
from client import AuthenticatedClient
from client.api.features import features_create, features_index
from client.api.projects import projects_create
from client.models import NewFeature, NewProject

address, token = sys.argv[1:]
with AuthenticatedClient(base_url=address, token=token, raise_on_unexpected_status=True) as flags:
    print(projects_create.sync(client=flags, body=NewProject(id="pay", name="Pay")).id)
    made = features_create.sync("pay", client=flags, body=NewFeature(name="cart"))
    print(made.name, made.environments[0].enabled)
    print([row.name for row in features_index.sync("pay", client=flags).features])
"""


def test_it_creates_a_project_and_a_feature_and_lists_it(start, tmp_path):
    server = start()
    document = server.call("GET", "/api/openapi.json", token=None).json
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    (tmp_path / "config.yaml").write_text("post_hooks: []\n")
    words = ("generate", "--path", "openapi.json", "--config", "config.yaml", "--meta", "none")
    made = subprocess.run(
        [GENERATOR, *words, "--output-path", "client", "--fail-on-warning"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, server.address, TOKEN],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == ["pay", "cart False", "['cart']"], done.stderr
