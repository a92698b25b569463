"""A release has one version everywhere."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHANGES = "# Changelog\n\n## [Unreleased]\n\n{}## [0.2.0] - 2026-11-24\n\n- A list.\n"
ENTRY = "### Added\n\n- Buttons.\n\n"


def git(folder, *words):
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    done = subprocess.run(
        ["git", "-C", folder, *who, *words], check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.fixture
def repository(tmp_path) -> Path:
    (tmp_path / "CHANGELOG.md").write_text(CHANGES.format(ENTRY))
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "flagstaff"\nversion = "0.2.0"\n')
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "user.name", "Ada")
    git(tmp_path, "config", "user.email", "ada@example.com")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "Begin")
    return tmp_path


def release(folder, version):
    return subprocess.run(
        [sys.executable, ROOT / ".ci/release.py", version],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )


def test_a_release_dates_what_is_unreleased_and_is_a_commit_with_a_tag(repository):
    done = release(repository, "0.3.0")
    assert done.returncode == 0, done.stderr
    changes = (repository / "CHANGELOG.md").read_text()
    assert re.search(r"## \[Unreleased\]\n\n## \[0\.3\.0\] - \d{4}-\d\d-\d\d\n\n### Added", changes)
    assert 'version = "0.3.0"' in (repository / "pyproject.toml").read_text()
    assert git(repository, "log", "-1", "--format=%s %D").startswith("Release 0.3.0 HEAD")
    assert git(repository, "tag").split() == ["v0.3.0"]
    assert git(repository, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("version", "changes", "why"),
    [
        ("0.3", ENTRY, "Name the version in three numbers: make release VERSION=1.2.3"),
        ("0.2.0", ENTRY, "0.2.0 is not newer than what pyproject.toml says."),
        ("0.3.0", "", "CHANGELOG.md has nothing under Unreleased."),
    ],
)
def test_what_is_no_release_is_refused_with_a_reason(repository, version, changes, why):
    (repository / "CHANGELOG.md").write_text(CHANGES.format(changes))
    git(repository, "commit", "--quiet", "--all", "--allow-empty", "--message", "Write")
    assert release(repository, version).stderr == f"{why}\n"
    assert git(repository, "tag") == ""


def test_what_is_not_committed_is_not_released(repository):
    (repository / "pyproject.toml").write_text("[project]\n")
    assert release(repository, "0.3.0").stderr.startswith("There are changes that are not")


def test_the_newest_version_in_the_changelog_is_that_of_the_package():
    newest = re.search(r"^## \[(\d.*?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert newest is not None
    assert newest[1] == project["version"]
