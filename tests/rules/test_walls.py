"""The walls between web and domain hold; each is seen to break when it is broken on purpose."""

import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any

import grimp
import pytest
from importlinter import Contract

from tests.rules.walls import DomainWithoutWeb, LayersByPattern

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
TYPES = {"domain": DomainWithoutWeb, "patterns": LayersByPattern}


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("app", include_external_packages=True, cache_dir=None)


def contract(type: str) -> Contract:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    [options] = [one for one in settings["contracts"] if one["type"] == type]
    session: dict[str, Any] = {"root_packages": ["app"]}
    return TYPES[type](options["name"], session, options)


def is_kept(type: str, graph: grimp.ImportGraph, *added: tuple[str, str]) -> bool:
    broken = deepcopy(graph)
    for importer, imported in added:
        broken.add_module(importer.rpartition(".")[0])
        broken.add_import(importer=importer, imported=imported)
    return contract(type).check(broken, verbose=False).kept


def test_the_walls_stand(imports):
    assert is_kept("domain", imports)
    assert is_kept("patterns", imports)


@pytest.mark.parametrize(
    "added",
    [
        [("app.projects.service", "flask")],
        [("app.projects.service", "app.web.caller")],
        [("app.projects.service", "app.core.words"), ("app.core.words", "app.web.settings")],
        [("app.tags.models", "app.projects.schemas")],
        [("app.tags.a_new_file", "app.web.forms")],
        [("app.a_new_area.service", "app.web.forms")],
    ],
)
def test_the_domain_may_not_reach_the_web_on_any_way(imports, added):
    assert not is_kept("domain", imports, *added)


@pytest.mark.parametrize(
    "added",
    [
        ("app.projects.service", "app.projects.pages"),
        ("app.projects.schemas", "app.projects.api"),
        ("app.features.models", "app.features.queries"),
        ("app.users.forms", "app.users.pages_inactive"),
    ],
)
def test_inside_an_area_imports_lead_downwards(imports, added):
    assert not is_kept("patterns", imports, added)
