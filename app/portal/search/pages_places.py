"""The pages and actions that can be found: those of the navigation, of the help, and these."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from app.core.actor import Actor
from app.core.config import every_setting
from app.core.permissions import DEFAULT_PROJECT, Permission
from app.portal.help.pages_help import TOPICS
from app.portal.search.asking import Kind
from app.portal.search.hits import Hit
from app.portal.search.service import PageEntry
from app.web.navigation import GROUPS


class _Action(NamedTuple):
    """``about``: the page it is on, or what it is about. ``words``: what else people call it."""

    name: str
    about: str
    endpoint: str
    may: Callable[[Actor], bool] = lambda _actor: True
    values: dict[str, Any] = {}  # noqa: RUF012 - never changed
    words: str = ""


def _needs(permission: Permission) -> Callable[[Actor], bool]:
    return lambda actor: actor.may(permission)


def _somewhere(permission: Permission) -> Callable[[Actor], bool]:
    """Everywhere, or in some project that the actor works in."""
    return lambda actor: any(
        actor.may(permission, id) for id in (None, DEFAULT_PROJECT, *actor.project_roles)
    )


_admin = _needs(Permission.ADMIN)
_account = partial(_Action, about="My account")

ACTIONS = (
    _Action(
        "New feature",
        "Features",
        "new_feature_pages.choose",
        _somewhere(Permission.CREATE_FEATURE),
        words="create add flag toggle",
    ),
    _Action(
        "New project",
        "Projects",
        "project_pages.new",
        _needs(Permission.CREATE_PROJECT),
        words="create add",
    ),
    _Action(
        "Connect an application",
        "SDK tokens",
        "connect_pages.new",
        _needs(Permission.CREATE_CLIENT_API_TOKEN),
        words="new sdk token api key create",
    ),
    _Action(
        "New segment",
        "Segments",
        "segment_pages.new",
        lambda actor: (
            actor.may(Permission.CREATE_SEGMENT)
            or _somewhere(Permission.UPDATE_PROJECT_SEGMENT)(actor)
        ),
        words="create add audience",
    ),
    _Action("New user", "Users", "user_pages.new", _admin, words="create add invite person"),
    _Action(
        "Check a leaked token",
        "Service accounts",
        "service_account_pages.find_token",
        _admin,
        words="found secret whose key",
    ),
    _Action(
        "New context field",
        "Context fields",
        "context_pages.new",
        _needs(Permission.CREATE_CONTEXT_FIELD),
        words="create add attribute",
    ),
    _Action(
        "New strategy type",
        "Strategy types",
        "strategy_type_pages.new",
        _needs(Permission.CREATE_STRATEGY),
        words="create add custom",
    ),
    _Action(
        "New tag type",
        "Tags",
        "tag_pages.new_type",
        _needs(Permission.CREATE_TAG_TYPE),
        words="create add label",
    ),
    _Action(
        "New environment",
        "Environments",
        "environment_pages.new",
        _admin,
        words="create add stage",
    ),
    _Action(
        "New service account",
        "Service accounts",
        "service_account_pages.new",
        _admin,
        words="create add bot machine",
    ),
    _Action(
        "Find tokens that expire soon",
        "SDK tokens",
        "sdk_token_pages.index",
        _needs(Permission.READ_CLIENT_API_TOKEN),
        {"state": "expiring"},
        words="rotate expiring",
    ),
    _Action(
        "Find inactive users",
        "Users",
        "inactive_pages.index",
        _admin,
        words="unused delete clean up",
    ),
    _Action(
        "Restore deleted users",
        "Users",
        "user_pages.index_deleted",
        _admin,
        words="undo bring back",
    ),
    _Action(
        "Export events…",
        "Events",
        "event_pages.index",
        _needs(Permission.READ_LOGS),
        words="download csv json audit",
    ),
    _Action(
        "Find features that look stale",
        "Features",
        "all_feature_pages.index",
        values={"staleProposal": "any"},
        words="unused remove clean up debt",
    ),
    _Action(
        "Find archived features",
        "Features",
        "all_feature_pages.index",
        values={"archived": "true"},
        words="revive restore",
    ),
    _account("Change password", endpoint="account_pages.change_password"),
    _account("New personal token", endpoint="account_pages.new_token", words="create add api key"),
    _account("My account", endpoint="account_pages.show", words="profile settings theme dark"),
    _account(
        "My permissions", endpoint="account_pages.permissions", words="roles access what can i do"
    ),
    _account("My sessions", endpoint="account_pages.show_sessions", words="sign out browsers"),
    _account("Hints", endpoint="account_pages.show_hints", words="notices questions"),
    _account(
        "Two-step sign-in",
        endpoint="authenticator_pages.show",
        words="second factor 2fa mfa totp authenticator recovery codes",
    ),
    _Action("API reference", "Help", "docs_pages.api", words="openapi swagger rest"),
)

FIRST_ACTIONS = 6
"""So many are offered before anyone types."""


def entries(actor: Actor) -> list[PageEntry]:
    """The pages and actions that the actor can open: actions first, then what can be read."""
    return [*_actions(actor), *_lists(actor), *_help()]


def first(actor: Actor) -> list[Hit]:
    """What people most often begin with."""
    return [entry.hit for entry in _actions(actor)[:FIRST_ACTIONS]]


def _actions(actor: Actor) -> list[PageEntry]:
    return [
        PageEntry(Hit(Kind.PAGES, one.name, one.about, one.endpoint, one.values), one.words)
        for one in ACTIONS
        if one.may(actor)
    ]


def _lists(actor: Actor) -> list[PageEntry]:
    return [
        PageEntry(Hit(Kind.PAGES, entry.name, title, entry.endpoint))
        for title, listed in GROUPS
        for entry in listed
        if entry.needs is None or actor.may(entry.needs)
    ]


def _help() -> list[PageEntry]:
    topics = [
        PageEntry(Hit(Kind.PAGES, title, "Help", "help_pages.show", {"topic": topic}), about)
        for topic, (title, about) in TOPICS.items()
    ]
    settings = [
        PageEntry(
            Hit(
                Kind.PAGES,
                name,
                "Setting",
                "help_pages.show",
                {"topic": "settings", "_anchor": name},
            ),
            setting.meaning,
        )
        for name, setting in every_setting().items()
    ]
    return topics + settings
