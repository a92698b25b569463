"""docs/adding.md names all that is touched: each example is added to a copy, and works there."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.portal.help.documents import ADDING, BLOCK, ROOT

COPIED = ("app", "docker", "docs", "flagstaff", "migrations", "static", "templates", "tests")
TESTS = {
    "Add an event": [
        "tests/catalogue/features/test_stale_events.py",
        "tests/core/events/test_words.py",
        "tests/operations/demo/test_demo.py",
        "tests/portal/help/test_help.py",
    ],
    "Add a field": [
        "tests/catalogue/features/test_api.py",
        "tests/catalogue/features/test_pages.py",
        "tests/exchange/unleash/test_imports.py",
        "tests/input/test_types.py",
        "tests/rules/test_migrations.py",
    ],
    "Add a page": ["tests/access/auth/test_access.py", "tests/portal/search"],
    "Add an area": [
        "tests/catalogue/notes",
        "tests/access/auth/test_access.py",
        "tests/input/test_types.py",
        "tests/rules/test_migrations.py",
        "tests/web/test_dry_run.py",
        "tests/web/test_openapi.py",
    ],
}
"""Tests that fail where an example leaves out something that must be touched."""
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name != "CI" and not name.startswith("PYTEST")
}


def blocks(section: str) -> list[tuple[str, Path, str]]:
    """The language, the file and the text of each block of a section."""
    _, _, rest = ADDING.read_text("utf-8").partition(f"\n## {section}\n")
    found = []
    for language, text in BLOCK.findall(rest.partition("\n## ")[0]):
        first, _, body = text.partition("\n")
        found.append((language, Path(first.strip("{}# ")), body))
    return found


def patched(text: str, changes: str) -> str:
    """The text with the lines that begin with + added, and those that begin with - removed."""
    done = ""
    for change in changes.split("…\n"):
        lines = change.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] in " -")
        skipped, found, text = text.partition(before)
        assert found, f"There is no\n{before}"
        done += skipped + "".join(line[1:] for line in lines if line[0] in " +")
    return done + text


@pytest.mark.one_in(2)
@pytest.mark.slow
@pytest.mark.parametrize("section", TESTS)
def test_an_example_works_with_nothing_but_what_it_shows(section: str, tmp_path: Path):
    for name in COPIED:
        ignored = shutil.ignore_patterns("node_modules")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    for name in ("CHANGELOG.md", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    with suppress(FileNotFoundError):  # mypy looks only at what differs from what it knows
        shutil.copytree(ROOT / ".mypy_cache", tmp_path / ".mypy_cache")
    touched = blocks(section)
    for language, path, body in touched:
        file = tmp_path / path
        if language == "diff":
            file.write_text(patched(file.read_text("utf-8"), body), "utf-8")
            continue
        if not file.parent.exists():
            file.parent.mkdir()
            if file.suffix == ".py":
                (file.parent / "__init__.py").touch()
        file.write_text(body, "utf-8")
    code = [str(path) for _, path, _ in touched if path.suffix == ".py"]
    run(tmp_path, "ruff", "check", *code)
    run(tmp_path, "ruff", "format", "--check", *code)
    run(tmp_path, "djlint", "templates", "--lint")
    run(tmp_path, "djlint", "templates", "--check")
    run(tmp_path, "mypy")
    run(tmp_path, "lint-imports", "--no-cache")
    run(tmp_path, "python", "-m", "pytest", "--randomly-seed=1", *TESTS[section])


def run(copy: Path, program: str, *arguments: str) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name(program), *arguments],
        cwd=copy,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{program}\n{done.stdout[-6000:]}{done.stderr[-6000:]}"
