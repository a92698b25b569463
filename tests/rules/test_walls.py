"""The walls hold, break when they are broken on purpose, and are those that are drawn."""

import re
from copy import deepcopy
from importlib import import_module
from pathlib import Path

import grimp
import pytest
from importlinter import Contract
from importlinter.api import read_configuration
from importlinter.contracts.acyclic_siblings import AcyclicSiblingsContract
from importlinter.contracts.layers import LayersContract

from app.core.db import Model
from tests.rules.walls import DomainWithoutWeb, Roles

ROOT = Path(__file__).resolve().parents[2]
TYPES: dict[str, type[Contract]] = {
    "layers": LayersContract,
    "roles": Roles,
    "domain": DomainWithoutWeb,
    "acyclic_siblings": AcyclicSiblingsContract,
}
SETTINGS = read_configuration(str(ROOT / "pyproject.toml"))
[LAYERS] = [one["layers"] for one in SETTINGS["contracts_options"] if one["type"] == "layers"]
FLOORS = [[room.strip() for room in layer.split("|")] for layer in LAYERS]
ROOMS = [room for floor in FLOORS for room in floor if room != "factory"]


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("app", include_external_packages=True, cache_dir=None)


def is_kept(type: str, graph: grimp.ImportGraph, *added: tuple[str, str]) -> bool:
    [options] = [one for one in SETTINGS["contracts_options"] if one["type"] == type]
    broken = deepcopy(graph)
    for importer, imported in added:
        broken.add_module(importer.rpartition(".")[0])
        broken.add_import(importer=importer, imported=imported)
    contract = TYPES[type](options["name"], SETTINGS["session_options"], options)
    return contract.check(broken, verbose=False).kept


@pytest.mark.slow
@pytest.mark.parametrize("type", TYPES)
def test_the_walls_stand(imports, type):
    assert is_kept(type, imports)


@pytest.mark.slow
@pytest.mark.parametrize(
    "added",
    [
        ("app.catalogue.projects.service", "app.releases.switching.service"),
        ("app.web.routes", "app.accounts.service"),
        ("app.access.auth.service", "app.delivery.webhooks.service"),
        ("app.a_new_room.service", "app.core.db"),
    ],
)
def test_between_rooms_imports_lead_downwards(imports, added):
    assert not is_kept("layers", imports, added)


@pytest.mark.slow
@pytest.mark.parametrize(
    "added",
    [
        ("app.catalogue.projects.service", "app.catalogue.projects.pages"),
        ("app.catalogue.projects.schemas", "app.catalogue.features.api"),
        ("app.catalogue.features.models", "app.catalogue.tags.queries"),
        ("app.access.a_new_area.forms", "app.access.users.pages_inactive"),
        ("app.accounts.a_new_file", "app.accounts.schemas"),
        ("app.operations.demo.models", "app.operations.demo.service"),
        ("app.core.events.models", "app.core.events.service"),
        ("app.a_new_room.service", "app.a_new_room.pages"),
    ],
)
def test_inside_a_room_imports_lead_from_faces_down_to_models(imports, added):
    assert not is_kept("roles", imports, added)


@pytest.mark.slow
@pytest.mark.parametrize(
    "added",
    [
        ("app.catalogue.projects.service", "flask"),
        ("app.catalogue.projects.service", "app.web.current"),
        ("app.catalogue.projects.service", "app.accounts.schemas"),
        ("app.core.words", "app.web.current"),
        ("app.catalogue.tags.a_new_file", "app.web.forms"),
        ("app.releases.a_new_area.service", "marshmallow"),
    ],
)
def test_the_domain_reaches_no_face_and_nothing_of_the_web(imports, added):
    assert not is_kept("domain", imports, added)


@pytest.mark.slow
@pytest.mark.parametrize(
    "added",
    [
        ("app.catalogue.projects.service", "app.catalogue.features.service"),
        ("app.delivery.playground.models", "app.delivery.a_new_area.models"),
    ],
)
def test_no_two_areas_need_each_other(imports, added):
    importer, imported = added
    assert not is_kept("acyclic_siblings", imports, added, (imported, importer))


def test_foreign_keys_lead_to_the_same_room_or_down():
    import_module("app.factory")  # with all models
    floors = {room: number for number, floor in enumerate(FLOORS) for room in floor}
    rooms = {
        mapper.local_table: mapper.class_.__module__.split(".")[1]
        for mapper in Model.registry.mappers
    }
    upward = {
        f"{key.parent} -> {key.column}"
        for table, room in rooms.items()
        for key in table.foreign_keys
        if (other := rooms[key.column.table]) != room and floors[other] <= floors[room]
    }
    assert rooms
    assert upward == set()


def test_the_drawing_has_the_rooms_on_their_floors():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    drawing = text.split("```text", 1)[1].split("```", 1)[0]
    drawn = [re.findall(r"│ +(\w+)(?=[ │])", line) for line in drawing.splitlines()]
    assert [rooms for rooms in drawn if rooms] == FLOORS


def test_each_room_says_what_is_in_it_and_what_is_not():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = dict(re.findall(r"^\| `(\w+)` \| (.+?) \|", text, re.MULTILINE))
    said = {room: " ".join(str(import_module(f"app.{room}").__doc__).split()) for room in ROOMS}
    assert {room: table.get(room) for room in ROOMS} == said


def test_each_room_has_an_act_to_look_for_in_a_file_that_exists():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    acts = re.findall(r"^\| [^`|]+ \| `(\w+)` \| `([\w/.]+)` \|", text, re.MULTILINE)
    assert {room for room, _ in acts} == {*ROOMS}
    assert [act for act in acts if not ROOT.joinpath("app", *act).is_file()] == []
