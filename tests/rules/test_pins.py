"""The lists in .pins are complete, and installing them says what is wrong in one line."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, packages_distributions
from pathlib import Path
from shutil import copy, copytree

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from app.catalogue.usage.sdks import Sdk

pytestmark = pytest.mark.one_in(2)

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
DEPENDENCIES = [Requirement(text) for text in PROJECT["project"]["dependencies"]]
TESTING = [Requirement(text) for text in PROJECT["dependency-groups"]["dev"]]


def pinned(name: str) -> dict[str, str]:
    """The version of each package in a list."""
    lines = (ROOT / ".pins" / f"{name}.txt").read_text("utf-8").splitlines()
    entries = [Requirement(line.removesuffix("\\")) for line in lines if "==" in line]
    return {
        canonicalize_name(entry.name): str(entry.specifier).removeprefix("==") for entry in entries
    }


def is_wanted(requirement: Requirement, extras: set[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras | {""})


@pytest.mark.parametrize(
    ("name", "roots"),
    [
        ("build", [Requirement(text) for text in PROJECT["build-system"]["requires"]]),
        ("run", DEPENDENCIES),
        ("test", DEPENDENCIES + TESTING),
    ],
)
def test_a_list_has_all_that_its_packages_require_in_versions_that_fit(name, roots):
    versions, checked = pinned(name), set()
    waiting = list(roots)
    while waiting:
        requirement = waiting.pop()
        package = canonicalize_name(requirement.name)
        assert package in versions, f"{requirement} is not in .pins/{name}.txt; run make pins"
        assert requirement.specifier.contains(versions[package], prereleases=True), requirement
        if (package, *sorted(requirement.extras)) in checked:
            continue
        checked.add((package, *sorted(requirement.extras)))
        required = map(Requirement, distribution(package).requires or ())
        waiting += [each for each in required if is_wanted(each, requirement.extras)]
    assert len(checked) > 5


def test_lists_agree_on_the_version_of_each_package():
    tested = pinned("test")
    for name in ("build", "run", "dist"):
        assert {
            package: (version, tested[package])
            for package, version in pinned(name).items()
            if tested.get(package, version) != version
        } == {}


def test_the_newest_sdks_that_are_known_are_those_of_the_tests(subtests):
    text = (ROOT / "tests" / "sdks" / "package.json").read_text("utf-8")
    packages = json.loads(text)["dependencies"]
    for name, version in {
        "unleash-node-sdk": packages["unleash-client"],
        "unleash-js-sdk": packages["unleash-proxy-client"],
        "unleash-python-sdk": pinned("test")["unleashclient"],
    }.items():
        with subtests.test(sdk=name):
            major = int(version.partition(".")[0])
            before, same = Sdk(f"{name}:{major - 1}.0.0"), Sdk(f"{name}:{version}")
            assert (before.newest, same.newest) == (major, None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "named"),
    [
        ("app", DEPENDENCIES),
        ("migrations", DEPENDENCIES),
        ("tests", DEPENDENCIES + TESTING),
    ],
)
def test_each_package_that_is_imported_is_named_in_pyproject(folder, named):
    names = {canonicalize_name(requirement.name) for requirement in named}
    made_by = packages_distributions()
    imported = {
        module.split(".")[0]
        for path in (ROOT / folder).rglob("*.py")
        if "node_modules" not in path.parts
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for module in modules_of(node)
    }
    assert {"sqlalchemy"} <= imported
    known = sys.stdlib_module_names | {"app", "flagstaff", "tests"}
    assert {
        module
        for module in imported - known
        if names.isdisjoint(map(canonicalize_name, made_by.get(module, ())))
    } == set()


def modules_of(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
        return [node.module]
    return []


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What installing reads of a checkout, to be damaged."""
    copytree(ROOT / ".pins", tmp_path / ".pins")
    copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def install(checkout: Path, **environment: str) -> str:
    """What a failed installation says in the end."""
    done = subprocess.run(
        [sys.executable, checkout / ".pins" / "install.py"],
        env={
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_RETRIES": "1",
            "PIP_NO_CACHE_DIR": "1",
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    return done.stderr.removesuffix("\n")


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda text: text.replace("flask==", "flask>=", 1), r"\d+"),
        (lambda text: text[: len(text) // 2], r"\d+"),
        (lambda text: "<<<<<<< HEAD\n" + text, "1"),
        (lambda text: text[:0], "1"),
    ],
    ids=["inexact", "cut off", "half merged", "empty"],
)
def test_a_damaged_list_is_named_before_anything_is_created(checkout, damage, line):
    list_ = checkout / ".pins" / "run.txt"
    list_.write_text(damage(list_.read_text("utf-8")), "utf-8")
    expected = rf"\.pins/run\.txt is damaged from line {line} on\. Get it back with: git .+"
    assert re.fullmatch(expected, install(checkout))
    assert not (checkout / ".venv").exists()


@pytest.mark.slow
def test_an_index_that_does_not_answer_is_said_in_one_line(checkout):
    assert install(checkout, PIP_INDEX_URL="http://127.0.0.1:9/simple") == (
        "The package index does not answer. Check the network, or name another index in"
        " PIP_INDEX_URL."
    )
    assert not (checkout / ".venv" / ".run").exists()


@pytest.mark.slow
def test_a_package_with_other_contents_is_refused(checkout):
    name, version = next(iter(pinned("build").items()))
    wheel = checkout / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    wheel.write_bytes(b"not what was published")
    found = install(checkout, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(checkout))
    assert found.startswith("A package is not the one that .pins names.")
