"""The help within the application: all that there is, is in it."""

import dataclasses
import inspect
import re

import click
import pytest

from app.cli import cli
from app.config import Settings
from app.core import errors, http, origins, pages
from app.core.errors import DomainError
from app.core.permissions import Permission
from app.docs import reference
from app.docs.examples import EXAMPLES
from app.docs.help import TOPICS
from app.events.models import EventType


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_is_there_for_everybody(visitor, browser, topic):
    for who in (visitor, browser):
        page = who.get(f"/help/{topic}")
        assert (page.status, page.h1) == (200, TOPICS[topic][0])
    assert f"/help/{topic}" in visitor.get("/help").links.values()


def test_there_is_a_way_to_it_from_every_page(visitor, browser):
    assert visitor.get("/sign-in").links["Help"] == "/help"
    assert browser.get("/projects").links["Help"] == "/help"
    assert visitor.get("/help/nonsense").status == 404


def test_every_setting_is_documented(visitor):
    names = {f"FLAGSTAFF_{field.name.upper()}" for field in dataclasses.fields(Settings)}
    assert {setting.name for setting in reference.SETTINGS} == names
    page = visitor.get("/help/settings")
    assert [name for name in names if not page.has(name)] == []


def test_every_command_is_documented(visitor):
    documented = {words_of(command.words) for command in reference.COMMANDS}
    assert documented == set(leaves(cli))
    page = visitor.get("/help/commands")
    assert [words for words in documented if not page.has(f"flagstaff {words}")] == []


def words_of(usage: str) -> str:
    """The command without what it is given: user show NAME -> user show."""
    return " ".join(
        word for word in usage.split(" --", maxsplit=1)[0].split() if not word.isupper()
    )


def leaves(group: click.Group, above: str = "") -> list[str]:
    found: list[str] = []
    for name, command in group.commands.items():
        path = f"{above} {name}".strip()
        found += leaves(command, path) if isinstance(command, click.Group) else [path]
    return found


def test_every_permission_is_documented(visitor):
    page = visitor.get("/help/roles")
    assert [one for one in Permission if not page.has(one.value)] == []


def test_every_name_of_a_refusal_is_documented(visitor):
    classes = [
        found
        for module in (errors, origins, pages)
        for _, found in inspect.getmembers(module, inspect.isclass)
        if issubclass(found, DomainError)
    ]
    names = {found.name for found in classes} | {name for name, _ in http.REFUSALS.values()}
    documented = {refusal.name for refusal in reference.REFUSALS}
    assert names <= documented
    assert documented - names == {"InternalError"}
    page = visitor.get("/help/troubleshooting")
    assert [name for name in documented if not page.has(name)] == []


def test_every_type_of_event_is_documented(visitor):
    assert set(reference.EVENTS) == set(EventType)
    page = visitor.get("/help/events")
    assert [one for one in EventType if not page.has(one.value)] == []


def test_the_examples_are_filled_in_with_the_settings_of_the_server(visitor):
    page = visitor.get("/help/operating")
    assert page.has("server 127.0.0.1:4242 max_fails=1")
    assert page.has("client_max_body_size 2097152;")
    assert [one.title for one in EXAMPLES.values() if not page.has(one.title)] == []


def test_help_asks_no_other_host_for_anything(visitor):
    for topic in TOPICS:
        found = re.findall(r'(?:src|href)="(https?:[^"]+)"', visitor.get(f"/help/{topic}").text)
        assert found == []
