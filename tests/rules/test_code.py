"""Rules about the code that no linter knows."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from app.core.config import from_environment
from app.delivery.sdk.api_openapi import ADDRESSES
from app.factory import create_app

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "app"
XML_NAMESPACES = {"www.w3.org"}


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """The application as it is built, without a database."""
    home = tmp_path_factory.mktemp("home")
    return create_app(from_environment({"FLAGSTAFF_HOME": str(home)}))


def attributes(path: Path) -> Iterator[ast.Attribute]:
    tree = ast.parse(path.read_text("utf-8"))
    return (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))


@pytest.mark.slow
def test_only_the_unit_of_work_commits():
    commits = {
        str(path.relative_to(APP))
        for path in APP.rglob("*.py")
        for node in attributes(path)
        if node.attr == "commit"
    }
    assert commits == {"core/db.py"}


def test_no_face_talks_to_the_database_itself():
    faces = [*APP.rglob("api*.py"), *APP.rglob("pages*.py")]
    assert len(faces) > 10
    talking = {
        str(path.relative_to(APP))
        for path in faces
        for node in attributes(path)
        if node.attr == "session" and isinstance(node.value, ast.Name) and node.value.id == "db"
    }
    assert talking == set()


def test_no_query_names_a_table_past_its_model():
    naming = {
        f"{path.relative_to(APP)}:{node.lineno}"
        for path in APP.rglob("*.py")
        for node in attributes(path)
        if node.attr == "table" and isinstance(node.value, ast.Name) and node.value.id == "sa"
    }
    assert naming == set()


def test_no_line_of_a_template_is_longer_than_120_characters():
    lines = {
        f"{path.relative_to(ROOT)}:{number}"
        for path in (ROOT / "templates").rglob("*.html")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > 120
    }
    assert lines == set()


def test_every_template_compiles(application):
    names = application.jinja_env.list_templates()
    assert "errors/error.html" in names
    for name in names:
        application.jinja_env.get_template(name)


def test_nothing_is_fetched_from_elsewhere():
    files = [
        path
        for folder in (ROOT / "templates", ROOT / "static")
        for path in folder.rglob("*")
        if path.suffix in {".html", ".svg", ".css", ".js", ".txt", ".webmanifest"}
    ]
    assert {path.suffix for path in files} >= {".html", ".svg", ".css"}
    hosts = {
        (host.lower(), str(path.relative_to(ROOT)))
        for path in files
        for host in re.findall(
            r"""(?:https?:|["'(=]\s*)//([^\s/"'()<>]+)""", path.read_text("utf-8"), re.IGNORECASE
        )
    }
    assert {(host, path) for host, path in hosts if host not in XML_NAMESPACES} == set()


def test_every_view_says_what_it_needs(application):
    views = {name: view for name, view in application.view_functions.items() if name != "static"}
    assert [name for name, view in views.items() if not hasattr(view, "needs")] == []


def test_the_openapi_document_has_every_json_route_and_no_other(application):
    rules = {
        (method.lower(), rule.rule)
        for rule in application.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        if re.match("/api/(?!$|try)", rule.rule)  # which are pages for people
    } | {(address.method, address.path) for address in ADDRESSES}
    routed = {(method, re.sub(r"<(?:[^<>:]+:)?(\w+)>", r"{\1}", rule)) for method, rule in rules}
    paths = application.test_client().get("/api/openapi.json").json["paths"]
    documented = {
        (method, path)
        for path, operations in paths.items()
        for method in operations.keys() & {"get", "post", "put", "patch", "delete"}
        if path.startswith(("/api/", "/edge/", "/ofrep/"))
    }
    assert documented == routed


AS_IN_UNLEASH = ("/api/admin/environments/<key:name>", "/api/admin/environments/sort-order")
"""Clients of Unleash sort environments there; one with this name is changed on its page."""


def test_no_id_or_name_hides_behind_a_fixed_path(application):
    """A project called ``new`` must have a page, as any other."""
    key, fixed = "<key:", re.compile(r"[A-Za-z0-9_~.-]{1,100}")
    rules = [
        (rule.rule.split("/"), rule.methods - {"HEAD", "OPTIONS"})
        for rule in application.url_map.iter_rules()
    ]
    hidden = [
        ("/".join(one), "/".join(other))
        for one, methods in rules
        for other, others in rules
        if len(one) == len(other)
        and one != other
        and methods & others
        and any(a.startswith(key) and fixed.fullmatch(b) for a, b in zip(one, other, strict=True))
        and all(
            a == b or (a.startswith(key) and (b.startswith(key) or fixed.fullmatch(b)))
            for a, b in zip(one, other, strict=True)
        )
    ]
    assert hidden == [AS_IN_UNLEASH]


@pytest.mark.slow
def test_commands_start_without_the_pages_which_take_half_a_second_to_import():
    code = (
        "import sys, app.operations.cli; print(*(name for name in sys.modules if 'pages' in name))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [name for name in done.stdout.split() if name.startswith("app.")] == []
