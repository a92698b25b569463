"""docker/: what an image is built of works, and the compose file starts it safely.

Where there is no Docker, the commands of the Dockerfile run in folders of their own.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from app.core.config import every_setting
from tests.support.machines import SECONDS
from tests.support.preloaded import ROOT
from tests.support.processes import free_port
from tests.support.servers import until

DOCKER = ROOT / "docker"
COMPOSE = yaml.safe_load((DOCKER / "compose.yaml").read_text("utf-8"))
PINNED = r"\S+:\d+(\.\d+)*-\S+"
HOME = "/var/lib/flagstaff"


class Step(NamedTuple):
    name: str
    text: str


def steps() -> list[Step]:
    """The instructions of the Dockerfile, each on one line."""
    text = (DOCKER / "Dockerfile").read_text("utf-8")
    joined = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    return [Step(*line.split(" ", 1)) for line in joined.splitlines() if line]


STEPS = steps()
STAGES = [number for number, step in enumerate(STEPS) if step.name == "FROM"]
BUILD, IMAGE = STEPS[STAGES[0] : STAGES[1]], STEPS[STAGES[1] :]


def last(name: str) -> str:
    return [step.text for step in IMAGE if step.name == name][-1]


def environment() -> dict[str, str]:
    return dict(word.split("=", 1) for word in last("ENV").split())


def test_an_image_is_pinned_and_runs_without_root():
    base = dict(step.text.split("=", 1) for step in takewhile(lambda s: s.name == "ARG", STEPS))
    assert re.fullmatch(PINNED, base["PYTHON"])
    assert {STEPS[number].text.split(" AS ")[0] for number in STAGES} == {"${PYTHON}"}
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", last("USER"))
    assert f"--uid {last('USER').split(':')[0]} " in last("RUN")
    assert (last("VOLUME"), environment()["FLAGSTAFF_HOME"]) == (HOME, HOME)


def test_containers_get_only_settings_that_exist():
    service = COMPOSE["services"]["flagstaff"]
    given = {name for name in environment() if name.startswith("FLAGSTAFF_")}
    given |= {name.removesuffix("_FILE") for name in service["environment"]}
    assert given <= every_setting().keys()


def test_the_example_of_settings_has_all_of_them(machine):
    assert (DOCKER / ".env.example").read_text("utf-8") == machine.ok("example", "env") + "\n", (
        "run: flagstaff example env > docker/.env.example"
    )


def test_the_example_of_a_container_is_the_dockerfile(machine):
    text = (DOCKER / "Dockerfile").read_text("utf-8")
    assert machine.ok("example", "container", BASE_URL="https://flags.example.org") + "\n" == text


def test_compose_waits_for_the_database_and_keeps_data_and_secrets_apart():
    server, database = (COMPOSE["services"][name] for name in ("flagstaff", "postgresql"))
    assert server["depends_on"]["postgresql"]["condition"] == "service_healthy"
    assert "HEALTHCHECK" in {step.name for step in IMAGE}
    assert database["healthcheck"]["test"][:2] == ["CMD", "pg_isready"]
    assert re.fullmatch(PINNED, database["image"])
    assert HOME in {volume.split(":")[1] for volume in server["volumes"]}
    for service in (server, database):
        assert {volume.split(":")[0] for volume in service["volumes"]} <= COMPOSE["volumes"].keys()
        files = [value for name, value in service["environment"].items() if name.endswith("_FILE")]
        assert files == [f"/run/secrets/{name}" for name in service["secrets"]]
        assert set(service["secrets"]) <= COMPOSE["secrets"].keys()
    [port] = server["ports"]
    assert port.startswith("127.0.0.1:")
    assert port.endswith(f":{last('EXPOSE')}")


def context(folder: Path) -> Path:
    """What an image of this clone is built of."""
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert "*" in lines
    for name in (line[1:] for line in lines if line.startswith("!")):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, folder / name)
    return folder


@pytest.mark.slow
@pytest.mark.one_in(3)
def test_what_is_built_serves_and_the_health_check_says_so(tmp_path):
    environ = {name: os.environ[name] for name in os.environ if not name.startswith("FLAGSTAFF_")}
    environ["PATH"] = f"{Path(sys.executable).parent}:{environ['PATH']}"
    opt, home = tmp_path / "opt", tmp_path / "home"
    for step in BUILD:
        if step.name == "RUN":
            script = step.text.replace("/opt/", f"{opt}/")
            folder = context(tmp_path / "source")
            subprocess.run(["sh", "-c", script], cwd=folder, env=environ, check=True)

    for name, value in environment().items():
        moved = value.replace("/opt/", f"{opt}/").replace(HOME, str(home))
        environ[name] = moved.replace("$PATH", environ["PATH"])
    environ["FLAGSTAFF_PORT"] = str(free_port())
    health = json.loads(last("HEALTHCHECK").partition("CMD ")[2])

    def is_healthy() -> bool:
        done = subprocess.run(health, env=environ, capture_output=True, check=False)
        return done.returncode == 0

    with (tmp_path / "log").open("w") as log:
        command = [*json.loads(last("ENTRYPOINT")), *json.loads(last("CMD"))]
        process = subprocess.Popen(command, env=environ, cwd=tmp_path, stdout=log, stderr=log)
    try:
        until(is_healthy)
    finally:
        process.terminate()
        assert process.wait(SECONDS) == 0, (tmp_path / "log").read_text()
    assert not is_healthy()
    assert (home / "flagstaff.db").exists()
