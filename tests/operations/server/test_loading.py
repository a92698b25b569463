"""What most servers never need is loaded by those that need it, before they answer."""

import subprocess
import sys

import pytest

from tests.support.processes import environment

pytestmark = pytest.mark.slow

CODE = """
import sys
from app.operations.cli import main
from app.operations.server import worker
from app.operations.server.application import application, prepare

prepare(application())
print(*sorted({"authlib", "scim2_models", "ua_parser"} & sys.modules.keys()))
"""
PROVIDER = {"OIDC_ISSUER": "https://id.example.org", "OIDC_CLIENT_ID": "flagstaff"}


def run(home, *arguments, **settings):
    command = [sys.executable, *arguments]
    env = environment({"HOME": str(home), **settings})
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("settings", "loaded"), [({}, "\n"), (PROVIDER, "authlib\n")])
def test_single_sign_on_is_loaded_where_it_is_set_up(tmp_path, settings, loaded):
    assert run(tmp_path, "-c", CODE, **settings) == loaded


def test_scim_is_loaded_where_a_directory_has_a_token(tmp_path):
    run(tmp_path, "-c", CODE)
    flagstaff = "from app.operations.cli import main; main()"
    run(tmp_path, "-c", flagstaff, "scim-token", "create", "Directory")
    assert run(tmp_path, "-c", CODE) == "scim2_models\n"
