"""The navigation of the pages: groups of links, each with what it takes to follow it."""

from collections.abc import Callable
from typing import NamedTuple

from flask import Flask, current_app, g, request, url_for

from app.core.actor import Actor
from app.core.permissions import Permission


class Entry(NamedTuple):
    """A link to the list at ``endpoint``, current also on the pages below ``also``.

    ``counts``: what the number beside it says of the things there.
    """

    name: str
    endpoint: str
    needs: Permission | None = None
    also: str | None = None
    counts: str = "waiting for you"
    icon: str | None = None


class Link(NamedTuple):
    """``number``: how many things there concern the reader; 0 where nothing is counted."""

    entry: Entry
    href: str
    is_current: bool
    number: int


Count = Callable[[Actor], int]


GROUPS = (
    (
        "",
        (
            Entry("Home", "home_pages.index"),
            Entry("Notices", "notice_pages.index", counts="unread", icon="bell"),
            Entry("Projects", "project_pages.index", also="/new-project"),
            Entry("Features", "all_feature_pages.index"),
            Entry("Change requests", "change_request_pages.inbox"),
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
            Entry("Webhooks", "webhook_pages.index", Permission.ADMIN, also="/new-webhook"),
        ),
    ),
    (
        "People",
        (
            Entry("Users", "user_pages.index", Permission.ADMIN),
            Entry("Groups", "group_pages.index", Permission.ADMIN, also="/new-group"),
            Entry("Service accounts", "service_account_pages.index", Permission.ADMIN),
            Entry(
                "Single sign-on",
                "single_sign_on_pages.show",
                Permission.ADMIN,
                also="/scim-tokens",
            ),
            Entry("Events", "event_pages.index", Permission.READ_LOGS),
            Entry("Security log", "security_log_pages.index", Permission.ADMIN),
        ),
    ),
    ("Support", (Entry("Help", "help_pages.index", also="/api"),)),
)


def count(app: Flask, endpoint: str, number: Count) -> None:
    """Show beside the link to ``endpoint`` how many things wait there, asked once for a page."""
    app.extensions.setdefault("flagstaff.waiting", {})[endpoint] = number


def navigation(actor: Actor) -> list[tuple[str, list[Link]]]:
    """The groups by title, without the links that ``actor`` may not use and empty groups."""
    found = [
        (
            title,
            [_link(entry, actor) for entry in entries if not entry.needs or actor.may(entry.needs)],
        )
        for title, entries in GROUPS
    ]
    return [(title, links) for title, links in found if links]


def _link(entry: Entry, actor: Actor) -> Link:
    href = url_for(entry.endpoint)
    places = (href.removeprefix(request.script_root), entry.also)
    is_current = any(place and f"{request.path}/".startswith(f"{place}/") for place in places)
    return Link(entry, href, is_current, _number(entry, actor))


def _number(entry: Entry, actor: Actor) -> int:
    if "refusal" in g:  # a page about a refusal asks the database for nothing
        return 0
    counts: dict[str, Count] = current_app.extensions.get("flagstaff.waiting", {})
    return counts[entry.endpoint](actor) if entry.endpoint in counts else 0
