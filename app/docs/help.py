"""What there is to know, within the application itself: no other host is asked for it."""

from collections.abc import Callable
from typing import Any

from flask import abort, current_app, render_template

from app.core.pages import PageBlueprint, recognise
from app.core.permissions import (
    EDITOR_ON_DEFAULT,
    GRANTS,
    ON_PROJECTS,
    PERMISSION_WORDS,
    Access,
    Permission,
    Role,
)
from app.core.settings import current_settings
from app.docs import reference
from app.docs.examples import EXAMPLES

bp = PageBlueprint("help", __name__)

TOPICS = {
    "roles": ("Roles and permissions", "Who may do what, and how one gets it"),
    "keyboard": ("Keyboard", "Everything without a mouse"),
    "faq": ("Questions", "What people ask in their first weeks"),
    "api": ("The API", "For programs: tokens, lists, rehearsals, refusals"),
    "troubleshooting": ("Troubleshooting", "What went wrong, by the name of the refusal"),
    "operating": ("Operating", "Installing, proxies, backups, upgrades, several servers"),
    "settings": ("Settings", "Every environment variable"),
    "commands": ("Commands", "What can be done on the machine itself"),
    "events": ("Events", "What the log tells of"),
}


@bp.get("/help", needs=Access.PUBLIC)
def index() -> str:
    """All topics."""
    recognise()
    return render_template("help/index.html", topics=TOPICS)


@bp.get("/help/<topic>", needs=Access.PUBLIC)
def show(topic: str) -> str:
    """One topic."""
    recognise()
    if topic not in TOPICS:
        abort(404)
    facts = FACTS[topic]() if topic in FACTS else {}
    return render_template(f"help/{topic}.html", topics=TOPICS, topic=topic, **facts)


def _operating() -> dict[str, Any]:
    settings = current_settings()
    texts = [(one.title, one.text(settings)) for one in EXAMPLES.values()]
    return {"examples": texts, "version": current_app.config["API_VERSION"]}


def _held(permission: Permission) -> tuple[Permission, str, list[str]]:
    """A permission, its meaning, and what each role has of it."""
    return permission, PERMISSION_WORDS[permission], [_by(role, permission) for role in Role]


def _by(role: Role, permission: Permission) -> str:
    if permission in GRANTS[role]:
        return "in the project" if permission in ON_PROJECTS and role is not Role.ADMIN else "yes"
    is_default = role is Role.EDITOR and permission in EDITOR_ON_DEFAULT
    return "in default" if is_default else ""


FACTS: dict[str, Callable[[], dict[str, Any]]] = {
    "roles": lambda: {"roles": list(Role), "rows": [_held(one) for one in Permission]},
    "settings": lambda: {"settings": reference.SETTINGS},
    "commands": lambda: {"commands": reference.COMMANDS},
    "troubleshooting": lambda: {"refusals": reference.REFUSALS},
    "events": lambda: {"events": reference.EVENTS},
    "operating": _operating,
}
"""What the code itself knows about a topic."""
