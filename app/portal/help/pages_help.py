"""The help pages. Their data comes from the code that they describe."""

from collections.abc import Callable
from typing import Any

from flask import abort, current_app, render_template

from app.access.security_log import words as security_words
from app.catalogue.sdk_tokens.forms import TokenPlace
from app.catalogue.sdk_tokens.pages_connect import snippets
from app.core import errors
from app.core.config import every_setting
from app.core.events.event_types import EventType
from app.core.permissions import (
    EDITOR_ON_DEFAULT,
    GRANTS,
    ON_PROJECTS,
    Access,
    Permission,
    Role,
)
from app.core.words import counted, spoken
from app.delivery.webhooks import outbox
from app.portal.help import commands, pipelines, terraform
from app.portal.help.examples import EXAMPLES
from app.portal.help.packages import packages
from app.portal.help.receivers import CHANNELS, ENTRIES, RECEIVERS
from app.portal.instance import service as instance
from app.web import rooms
from app.web.browsers import identify_if_signed_in
from app.web.current import current_settings
from app.web.routes import PageBlueprint

bp = PageBlueprint("help_pages", __name__)

TOPICS = {
    "roles": ("Roles and permissions", "Who can do what, and how to get access"),
    "single-sign-on": ("Single sign-on", "OpenID Connect, a proxy, SCIM, groups and roles"),
    "connect": ("Connect an application", "Code for each language, and what to check"),
    "moving-in": ("From Unleash to here in an hour", "Import, compare, change one address"),
    "configuration": ("Configuration as a file", "Export everything, apply it here or from CI"),
    "change-requests": ("Change requests", "Proposing, approving and applying changes"),
    "releases": ("Release in steps", "Opening a feature gradually, and stopping it at any moment"),
    "webhooks": ("Webhooks", "Events sent to chats, mailboxes and your own address"),
    "arrival": ("Has it arrived?", "Which running instances have a change, and how it’s known"),
    "lifecycle": ("Lifecycle of a feature", "Its stages, and when to remove it from code"),
    "keyboard": ("Keyboard", "How to do everything without a mouse"),
    "faq": ("Questions", "What people ask in their first weeks"),
    "api": ("The API", "Tokens, lists, dry runs and errors, for scripts"),
    "troubleshooting": ("Troubleshooting", "What each error means and what to do about it"),
    "changes": ("What changed", "The versions of Flagstaff, and what each brought"),
    "operating": ("Operating", "Installing, proxies, backups, upgrades and several servers"),
    "settings": ("Settings", "Every environment variable"),
    "commands": ("Commands", "Everything the command flagstaff does on the server"),
    "events": ("Events", "What the event log and the security log record"),
    "about": ("About Flagstaff", "Its version, its licence, and the packages it needs"),
    "licences": ("Licences", "The licences of Flagstaff and of its packages, in full"),
}
REQUEST_OPTIONS = {
    "Authorization: TOKEN": (
        "Access as the owner of the token. Bearer TOKEN works too. Cookies don’t count, except on "
        "the page where you try the API."
    ),
    "If-Match: ETAG": (
        "With PUT and DELETE: 412 and no change if the object is no longer as you read it."
    ),
    "Idempotency-Key: KEY": (
        "With POST: if you repeat the request within 24 hours, the first answer again and no "
        "second object; 409 if that answer had a secret."
    ),
    "?limit=20&offset=40": (
        "With a list: this part of it, and the total. Add ?sort=-createdAt for another order. The "
        "event log uses before instead of offset."
    ),
    "X-Dry-Run: true": (
        "With a change: every check and the answer it would have, but no change, no event and no "
        "webhook. The answer has this header too; ids and secrets in it are not valid. Only wrong "
        "passwords are still counted. ?dryRun=true does the same."
    ),
    "X-Reason: TEXT": "With a change: this reason in the event log.",
}
INSTALL = """\
python3 -m venv /opt/flagstaff
/opt/flagstaff/bin/pip install --no-index --find-links wheels \\
  --require-hashes -r wheels/requirements.txt
/opt/flagstaff/bin/flagstaff serve"""


@bp.get("/help", needs=Access.PUBLIC)
def index() -> str:
    """Show all topics."""
    identify_if_signed_in()
    return render_template("portal/help/topics/index.html", topics=TOPICS)


@bp.get("/help/<topic>", needs=Access.PUBLIC)
def show(topic: str) -> str:
    """Show one topic."""
    identify_if_signed_in()
    if topic not in TOPICS:
        abort(404)
    data = DATA[topic]() if topic in DATA else {}
    return render_template(f"portal/help/topics/{topic}.html", topics=TOPICS, topic=topic, **data)


def _operating() -> dict[str, Any]:
    settings = current_settings()
    texts = {name: (example.title, example.text(settings)) for name, example in EXAMPLES.items()}
    version = current_app.config["API_VERSION"]
    return {
        "install": INSTALL,
        "examples": texts,
        "version": version,
        "quotas": rooms.quotas(),
    }


def _about() -> dict[str, Any]:
    return {"packages": packages(), "contact": current_settings().security_contact}


def _connect() -> dict[str, Any]:
    code = [(place, snippets(place)) for place in TokenPlace]
    address = current_settings().address("/api")
    names = {
        "FLAGSTAFF_SDK_TOKEN": "The token, in the code above.",
        "FLAGSTAFF_URL": f"The address, if you want to read it too: {address}/",
        "UNLEASH_SERVER_API_URL": f"For Next.js on the server: {address}",
        "UNLEASH_SERVER_API_TOKEN": "For Next.js on the server: the server token.",
        "NEXT_PUBLIC_UNLEASH_FRONTEND_API_URL": f"For Next.js in the browser: {address}/frontend",
        "NEXT_PUBLIC_UNLEASH_FRONTEND_API_TOKEN": "For Next.js in the browser: the browser token.",
    }
    return {"code": code, "address": f"{address}/", "names": names}


def _pauses() -> str:
    """Return the pauses between attempts of a webhook, in words."""
    units = ((3_600, "hour"), (60, "minute"), (1, "second"))
    seconds = [int(pause.total_seconds()) for pause in outbox.PAUSES]
    found = (next((each // n, unit) for n, unit in units if each >= n) for each in seconds)
    return spoken([counted(number, unit) for number, unit in found], len(seconds))


def _permission_row(permission: Permission) -> tuple[Permission, str, dict[Role, str]]:
    """Return a permission, its words, and where each role grants it."""
    scopes = {role: _scope(role, permission) for role in Role}
    return permission, permission.words, scopes


def _scope(role: Role, permission: Permission) -> str:
    if permission in GRANTS[role]:
        return "in the project" if permission in ON_PROJECTS and role is not Role.ADMIN else "yes"
    is_default = role is Role.EDITOR and permission in EDITOR_ON_DEFAULT
    return "in default" if is_default else ""


DATA: dict[str, Callable[[], dict[str, Any]]] = {
    "api": lambda: {"options": REQUEST_OPTIONS},
    "roles": lambda: {"roles": list(Role), "rows": [_permission_row(one) for one in Permission]},
    "settings": lambda: {"settings": every_setting()},
    "commands": lambda: {"groups": commands.groups()},
    "troubleshooting": lambda: {"refusals": errors.all_errors()},
    "events": lambda: {
        "events": EventType,
        "kinds": security_words.WORDS,
        "keeps": current_settings().security_log_days,
    },
    "single-sign-on": lambda: {"scim_address": current_settings().address("/scim/v2")},
    "lifecycle": lambda: {"days": current_settings().stale_after_days},
    "configuration": lambda: {
        "workflow": pipelines.workflow(current_settings().address("")),
        "script": pipelines.script(current_settings().address("")),
    },
    "moving-in": lambda: {
        "example": "https://unleash.example.com",
        "terraform": terraform.outcomes(),
    },
    "operating": _operating,
    "about": _about,
    "licences": lambda: {"packages": packages()},
    "connect": _connect,
    "changes": lambda: {"versions": instance.versions()},
    "webhooks": lambda: {
        "receivers": RECEIVERS,
        "entries": ENTRIES,
        "channels": CHANNELS,
        "pauses": _pauses(),
    },
}
"""Values that the template of a topic needs."""
