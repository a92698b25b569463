"""The navigation of the pages: groups of links, each with what it takes to follow it."""

from typing import NamedTuple

from flask import request, url_for

from app.core.actor import Actor
from app.core.permissions import Permission


class Entry(NamedTuple):
    """A link to the list at ``endpoint``, current also on the pages below ``also``."""

    name: str
    endpoint: str
    needs: Permission | None = None
    also: str | None = None


class Link(NamedTuple):
    name: str
    href: str
    is_current: bool


GROUPS = (
    (
        "",
        (
            Entry("Projects", "project_pages.index", also="/new-project"),
            Entry("Features", "all_feature_pages.index"),
            Entry("Playground", "playground_pages.index"),
        ),
    ),
    (
        "Targeting",
        (
            Entry("Segments", "segment_pages.index", also="/new-segment"),
            Entry("Context fields", "context_pages.index", also="/new-context-field"),
            Entry("Strategy types", "strategy_type_pages.index", also="/new-strategy-type"),
            Entry("Tags", "tag_pages.index"),
        ),
    ),
    (
        "Connections",
        (
            Entry(
                "SDK tokens",
                "sdk_token_pages.index",
                Permission.READ_CLIENT_API_TOKEN,
                also="/connect",
            ),
            Entry("Browser origins", "browser_origin_pages.show", Permission.UPDATE_CORS),
            Entry("Applications", "application_pages.index"),
            Entry("Environments", "environment_pages.index", also="/new-environment"),
        ),
    ),
    (
        "People",
        (
            Entry("Users", "user_pages.index", Permission.ADMIN),
            Entry("Service accounts", "service_account_pages.index", Permission.ADMIN),
            Entry("Events", "event_pages.index", Permission.READ_LOGS),
            Entry("Security log", "security_log_pages.index", Permission.ADMIN),
        ),
    ),
    ("Support", (Entry("Help", "help_pages.index", also="/api"),)),
)


def navigation(actor: Actor) -> list[tuple[str, list[Link]]]:
    """The groups by title, without the links that ``actor`` may not use and empty groups."""
    found = [
        (title, [_link(entry) for entry in entries if not entry.needs or actor.may(entry.needs)])
        for title, entries in GROUPS
    ]
    return [(title, links) for title, links in found if links]


def _link(entry: Entry) -> Link:
    href = url_for(entry.endpoint)
    places = (href.removeprefix(request.script_root), entry.also)
    is_current = any(place and f"{request.path}/".startswith(f"{place}/") for place in places)
    return Link(entry.name, href, is_current)
