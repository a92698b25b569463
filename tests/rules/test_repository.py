"""The files that other tools read follow their schemas, and agree with our own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from app.core.config import from_environment

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = yaml.safe_load((GITHUB / "workflows" / "checks.yml").read_text("utf-8"))
FILES = {
    "compose-spec": [ROOT / "docker" / "compose.yaml"],
    "dependabot": [GITHUB / "dependabot.yml"],
    "github-issue-config": [GITHUB / "ISSUE_TEMPLATE" / "config.yml"],
    "github-issue-forms": [GITHUB / "ISSUE_TEMPLATE" / f"{name}.yml" for name in ("bug", "idea")],
    "github-workflows": sorted((GITHUB / "workflows").iterdir()),
}


@pytest.mark.parametrize("schema", FILES)
def test_a_file_follows_the_schema_of_its_tool(schema):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    done = subprocess.run([*command, *FILES[schema]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_each_push_and_pull_request_is_checked_on_the_oldest_and_the_newest_python():
    assert {"push", "pull_request"} <= set(WORKFLOWS[True])  # YAML 1.1 reads "on" so
    job = WORKFLOWS["jobs"]["checks"]
    assert {"run": ".ci/run"} in job["steps"]
    supported = re.search(r"^PYTHONS := (.+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    versions = supported[1].split()
    image = re.search(r"python:([\d.]+)-", (ROOT / "docker" / "Dockerfile").read_text())
    assert {versions[0], versions[-1], image[1]} <= set(job["strategy"]["matrix"]["python"])


def test_the_compose_file_says_how_to_create_the_secrets_that_it_names(tmp_path):
    [step] = [each for each in WORKFLOWS["jobs"]["image"]["steps"] if "compose.yaml |" in str(each)]
    source = ROOT / step["working-directory"] / "compose.yaml"
    (tmp_path / "compose.yaml").write_text(source.read_text("utf-8"))
    subprocess.run(["sh", "-c", step["run"]], cwd=tmp_path, check=True, capture_output=True)
    secrets = yaml.safe_load(source.read_text("utf-8"))["secrets"]
    texts = {name: (tmp_path / each["file"]).read_text() for name, each in secrets.items()}
    password = texts["postgresql_password"]
    assert re.fullmatch(r"[0-9a-f]{48}", password)
    assert texts["database_url"] == f"postgresql://flagstaff:{password}@postgresql/flagstaff"
    assert from_environment({"FLAGSTAFF_DATABASE_URL_FILE": f"{tmp_path}/secrets/database_url"})


def test_dependabot_watches_each_list_of_packages():
    updates = yaml.safe_load((GITHUB / "dependabot.yml").read_text("utf-8"))["updates"]
    found = {each["package-ecosystem"]: each["directory"] for each in updates}
    for ecosystem, name in (
        ("pip", "run.txt"),
        ("npm", "package.json"),
        ("docker", "Dockerfile"),
        ("docker-compose", "compose.yaml"),
    ):
        assert (ROOT / found[ecosystem].strip("/") / name).is_file(), ecosystem
