"""Redirects, only to paths of this server, and the message that the next page shows."""

import re
from typing import Any
from urllib.parse import urlsplit

from flask import current_app, flash, request, url_for
from markupsafe import Markup, escape
from werkzeug.exceptions import HTTPException
from werkzeug.utils import redirect
from werkzeug.wrappers import Response

_is_ours = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*").fullmatch


def form_address() -> str:
    """Where the form that was sent was opened: here, or at the page it was sent from."""
    if _takes_get(request.path):
        return this_address()
    came_from = urlsplit(request.referrer or "")
    root = request.script_root
    path = came_from.path.removeprefix(root) if came_from.path.startswith(root) else ""
    return own_path(f"{path}?{came_from.query}" if came_from.query else path)


def this_address() -> str:
    """The address of the page itself, below the prefix, for a form that leads back to it."""
    return request.full_path.rstrip("?")


def own_path(target: str | None, *, otherwise: str = "/") -> str:
    """``target`` if it is a path of this server, below the prefix; else ``otherwise``."""
    return target if target and _is_ours(target) else otherwise


def redirect_to_path(path: str) -> Response:
    """Redirect to a path of this server, below the prefix."""
    return redirect(request.script_root + path, 303)


def redirect_to(endpoint: str, **values: Any) -> Response:
    """Redirect to a page, after a form was accepted."""
    return redirect(url_for(endpoint, **values), 303)


_of_a_form = re.compile(r"(.*)/(?:([a-z-]+)s/new|new-([a-z-]+))").fullmatch


def new_address(path: str) -> str | None:
    """The address of the form to create something that ``path`` has in another shape.

    ``/webhooks/new`` and ``/new-webhook`` are one. None if no form has the other shape.
    """
    found = _of_a_form(path)
    if found is None or _rule_of(path).endswith(path.rsplit("/", 1)[-1]):
        return None
    before, things, thing = found.groups()
    other = f"{before}/new-{things}" if things else f"{before}/{thing}s/new"
    return other if _rule_of(other).endswith(other.rsplit("/", 1)[-1]) else None


def with_kept_form(path: str, kept: int | None) -> str:
    """The address of the form at ``path``, filled in with what was kept, if anything was."""
    if kept is None:
        return path
    return f"{path}{'&' if '?' in path else '?'}kept={kept}"


def _takes_get(path: str) -> bool:
    return bool(_rule_of(path))


def _rule_of(path: str) -> str:
    """The rule of the page at this path; empty if there is none."""
    adapter = current_app.create_url_adapter(request)
    try:
        return adapter.match(path, method="GET", return_rule=True)[0].rule if adapter else ""
    except HTTPException:
        return ""


DONE = "done"
"""The id of the messages. In the fragment of the address, they get the focus."""


def flash_with_undo(
    done: Markup | str, *, what: str, batch: str | None = None, action: str = ""
) -> None:
    """Flash what was done, with a button that undoes all events of the ``batch``.

    ``what`` completes the name of the button: “Undo switching on cart in production”. ``action``:
    to post to instead, for what changes the address of its page.
    """
    action = action or url_for("event_pages.undo_batch", batch=batch)
    note = {"done": escape(done), "action": action, "what": what}
    flash(note, "ok")  # type: ignore[arg-type] # the session keeps more than strings
