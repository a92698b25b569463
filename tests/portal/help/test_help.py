"""Help documents every setting, command, permission, error and event."""

import re

from app.core import errors
from app.core.config import every_setting
from app.core.events.event_types import EventType
from app.core.permissions import Permission
from app.portal.help import commands
from app.portal.help.examples import EXAMPLES
from app.portal.help.pages_help import TOPICS
from tests.support.browser import Browser
from tests.support.machines import every_command

NAMES = {
    "ValidationError": 400,
    "ForeignFormError": 400,
    "ForeignHostError": 400,
    "AuthenticationRequired": 401,
    "NoAccessError": 403,
    "NotFoundError": 404,
    "MethodNotAllowedError": 405,
    "ConflictError": 409,
    "NameExistsError": 409,
    "PreconditionFailedError": 412,
    "PayloadTooLargeError": 413,
    "ContentTypeerror": 415,
    "ScimError": 400,
    "SignOnFailed": 400,
    "SignOnRefused": 403,
    "RateLimitError": 429,
    "TooManyStreamsError": 429,
    "InternalError": 500,
    "NotImplementedError": 501,
    "UnavailableError": 503,
}
"""Scripts rely on them."""


def test_every_topic_is_shown_to_everyone(visitor, browser, subtests):
    for topic in TOPICS:
        with subtests.test(topic=topic):
            for reader in (visitor, browser):
                page = reader.get(f"/help/{topic}")
                assert (page.status, page.h1) == (200, TOPICS[topic][0])
            assert f"/help/{topic}" in visitor.get("/help").links.values()


def test_help_leads_a_viewer_only_where_they_may_go(app, people):
    people.person("vera", role="Viewer")
    browser = Browser(app).sign_in("vera")
    linked = {
        link.partition("#")[0]
        for topic in TOPICS
        for link in browser.get(f"/help/{topic}").links.values()
        if link.startswith("/")
    }
    assert {link for link in linked if link and browser.get(link).status == 403} == set()


def test_every_page_links_to_help(visitor, browser):
    assert visitor.get("/sign-in").links["Help"] == "/help"
    assert browser.get("/projects").links["Help"] == "/help"
    assert visitor.get("/help/nonsense").status == 404


def test_every_setting_is_documented(visitor):
    page = visitor.get("/help/settings")
    for name, setting in every_setting().items():
        words = (name, setting.meaning, setting.shown_default)
        assert [one for one in words if not page.has(one)] == []


def test_every_command_is_documented_with_its_arguments_and_options(visitor):
    documented = [command for group in commands.groups() for command in group.commands]
    usages = {command.usage for command in documented}
    paths = [path for path, _ in every_command()]
    assert all(any(usage.startswith(f"flagstaff {path}") for usage in usages) for path in paths)
    assert len(usages) == len(paths)
    page = visitor.get("/help/commands")
    texts = [
        text
        for command in documented
        for text in (
            command.usage,
            *command.help,
            *(part for option in command.options for part in option),
        )
    ]
    assert [text for text in texts if not page.has(text)] == []


def test_every_permission_is_documented(visitor):
    page = visitor.get("/help/roles")
    assert [one for one in Permission if not page.has(one.value)] == []


def test_every_error_name_is_documented(visitor):
    page = visitor.get("/help/troubleshooting")
    assert len(errors.all_errors()) == len(NAMES)
    for kind in errors.all_errors():
        assert NAMES[kind.name] == kind.status
        assert page.has(kind.name)
        assert page.has(kind.when)
        assert page.has(kind.remedy)


def test_every_type_of_event_is_documented(visitor):
    page = visitor.get("/help/events")
    assert [type for type in EventType if not page.has(type.value)] == []
    assert [type for type in EventType if not page.has(type.declared.description)] == []


def test_examples_use_the_settings_of_the_server(visitor):
    page = visitor.get("/help/operating")
    assert page.has("server 127.0.0.1:4242 max_fails=1")
    assert page.has("client_max_body_size 2097152;")
    assert [one.title for one in EXAMPLES.values() if not page.has(one.title)] == []


def test_help_loads_nothing_from_other_sites(visitor):
    for topic in TOPICS:
        text = visitor.get(f"/help/{topic}").text
        found = re.findall(r'(?:src|<(?!a )[^>]*href)="(https?:[^"]+)"', text)
        assert found == []


def test_the_openapi_document_says_when_each_error_happens(admin):
    responses = admin.ok("GET", "/api/openapi.json")["components"]["responses"]
    told = " ".join(response["description"] for response in responses.values())
    unsaid = {kind.name for kind in errors.all_errors() if kind.when not in told}
    assert unsaid == {
        *("ForeignFormError", "ForeignHostError", "SignOnFailed", "SignOnRefused"),
    }
