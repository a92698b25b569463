"""What HTML pages have in common: who may send them a form, and where a form leads."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import wraps
from typing import Any
from urllib.parse import urlencode, urlsplit

from flask import Blueprint, Flask, Request, current_app, g, render_template, request, url_for
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError, CSRFProtect
from itsdangerous import BadSignature
from marshmallow import ValidationError
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import HTTPException
from werkzeug.utils import redirect
from werkzeug.wrappers import Response

from app.core import origins
from app.core.actor import Actor, current_actor
from app.core.blueprints import READING, Routes, View
from app.core.db import utcnow
from app.core.errors import DomainError, Invalid
from app.core.schemas import Schema

Fields = dict[str, list[str]]
"""The values of a form as sent, by the name of the field."""

API_PATHS = ("/api/admin/", "/health", "/ready")
CSRF_FIELD = "csrf_token"
PROOF_FIELD = "confirm_password"
PROOF_VALID = timedelta(minutes=5)
MAX_DIGITS = 9
_is_secret = re.compile("password|secret", re.IGNORECASE).search
_is_ours = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*").fullmatch
_csrf = CSRFProtect()


class SignInNeeded(DomainError):
    """Nobody is signed in with this browser, or no longer."""

    status = 401
    name = "AuthenticationRequired"

    def __init__(self) -> None:
        super().__init__("Sign in to go on.")


class ProofNeeded(DomainError):
    """Whoever sits at the browser must show first that he is the one who signed in with it."""

    status = 401
    name = "AuthenticationRequired"
    keeps_changes = True

    def __init__(self, fault: str | None = None) -> None:
        super().__init__(fault or "Give your password to go on.")
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Browsers:
    """How pages know who is there; ``app/auth`` knows it.

    ``keep`` puts away what was typed and returns a number, for which ``kept`` gives it back.
    ``prove`` takes the password of who is signed in, and raises ProofNeeded for any other.
    """

    identify: Callable[[], Actor]
    prove: Callable[[str], None]
    keep: Callable[[Fields], int]
    kept: Callable[[int], Fields | None]


class _Sessions(SecureCookieSessionInterface):
    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """None for programs: they bring a token each time, and there is no cookie to look into.

        A cookie's age is not asked. Whether a session is over, its row says, which then is deleted;
        and who signed it may be another process, whose clock is a little ahead of this one's.
        """
        signer = self.get_signing_serializer(app)
        if signer is None or request.path.startswith(API_PATHS):
            return None
        try:
            return self.session_class(
                signer.loads(request.cookies.get(self.get_cookie_name(app), ""))
            )
        except BadSignature:
            return self.session_class()


def init_app(app: Flask, browsers: Browsers) -> None:
    app.session_interface = _Sessions()
    app.extensions["flagstaff.browsers"] = browsers
    _csrf.init_app(app)


class PageBlueprint(Routes, Blueprint):  # type: ignore[misc] # route() asks for more
    """HTML pages. A form that comes from elsewhere, or from another sign-in, is not accepted."""

    def identify(self) -> Actor:
        actor: Actor = _browsers().identify()
        return actor

    def answer(self, view: Callable[[], Any]) -> Any:
        origins.refuse_foreign_host()
        _refuse_nul()
        if request.method in READING:
            _take_kept_form()
            return view()
        origins.refuse_foreign_form()
        try:
            _csrf.protect()
        except CSRFError:
            if "actor" not in g:
                raise Invalid(
                    "This form was open for too long, or your browser refuses cookies. "
                    "Nothing was changed; open the page again."
                ) from None
            return _keep_and_refuse()
        return view()


def proven(view: View) -> View:
    """For what a stranger at an open browser must not do: a form that asks for the password first.

    For five minutes after it was given, at sign-in or later, it is not asked for again.
    """

    @wraps(view)
    def run(*args: Any, **kwargs: Any) -> Any:
        if request.method not in READING:
            prove()
        return view(*args, **kwargs)

    return run


def prove() -> None:
    """Go on only if who is signed in gave his password lately, or gives it with this form.

    Raises:
        ProofNeeded: else.

    """
    at = current_actor.proved_at
    if at is not None and abs(utcnow() - at) <= PROOF_VALID:
        return
    given = request.form.get(PROOF_FIELD)
    if given is None:
        raise ProofNeeded
    _browsers().prove(given)


def recognise() -> None:
    """Let a page that is open to everybody know who is there, if anybody."""
    with suppress(SignInNeeded):
        g.actor = _browsers().identify()


def _refuse_nul() -> None:
    """Refuse the one character that PostgreSQL has no place for, and no browser lets one type."""
    for sent in (request.args, request.form):
        if any("\0" in value for _, values in sent.lists() for value in values):
            raise Invalid("The request has a NUL character in it, which no text may have.")


def typed_fields() -> Fields:
    """What was typed, without what is secret."""
    return {
        name: values
        for name, values in request.form.lists()
        if name != CSRF_FIELD and not _is_secret(name)
    }


def way_back() -> str:
    """Where the form that was sent was opened: here, or at the page it was sent from."""
    here = request.full_path.rstrip("?")
    if _takes_get(request.path):
        return here
    came_from = urlsplit(request.referrer or "")
    root = request.script_root
    path = came_from.path.removeprefix(root) if came_from.path.startswith(root) else ""
    return own_path(f"{path}?{came_from.query}" if came_from.query else path)


def own_path(target: str | None, *, otherwise: str = "/") -> str:
    """``target`` if it is a path of this server and of nobody else, below the prefix."""
    return target if target and _is_ours(target) else otherwise


def go_to(path: str) -> Response:
    """Lead on to a path of ours, below the prefix."""
    return redirect(request.script_root + path, 303)


def see(endpoint: str, **values: Any) -> Response:
    """Lead on to a page after a form was accepted."""
    return redirect(url_for(endpoint, **values), 303)


def with_kept(path: str, kept: int) -> str:
    """The address of the form at ``path``, filled in with what was kept."""
    return f"{path}{'&' if '?' in path else '?'}kept={kept}"


@dataclass(frozen=True, slots=True)
class Query:
    """What a page's address asks for: the values that hold, and what is wrong with the rest."""

    values: dict[str, Any]
    given: dict[str, str]
    faults: dict[str, str]

    def as_path(self, path: str) -> str:
        """The API's ``path`` with what was asked for."""
        asked = {name: value for name, value in self.given.items() if name not in self.faults}
        return f"{path}?{urlencode(asked)}" if asked else path


def read_query(
    schema: type[Schema], tidy: Callable[[str, str], str] = lambda _name, value: value
) -> Query:
    """The part of the address that ``schema`` knows. What can't be used is named, not obeyed.

    ``tidy`` makes of a parameter's name and value what the schema takes.
    """
    rules = schema().load_fields.values()
    known = {rule.data_key for rule in rules}
    sent = {k: v.strip() for k, v in request.args.items() if k in known and v.strip()}
    given = {name: tidy(name, value) for name, value in sent.items()}
    faults: dict[str, str] = {}
    try:
        values = schema().load(given)
    except ValidationError as error:
        faults = {name: str(found[0]) for name, found in error.messages_dict.items()}
        values = schema().load({k: v for k, v in given.items() if k not in faults})
    return Query(values, given, faults)


def is_number(text: str) -> bool:
    """Whether a text is a number that an address or a form may name a row by."""
    return text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS


def _browsers() -> Browsers:
    found: Browsers = current_app.extensions["flagstaff.browsers"]
    return found


def _takes_get(path: str) -> bool:
    adapter = current_app.create_url_adapter(request)
    try:
        return adapter is not None and bool(adapter.match(path, method="GET"))
    except HTTPException:
        return False


def _take_kept_form() -> None:
    number = request.args.get("kept", "")
    if "actor" in g and is_number(number):
        kept = _browsers().kept(int(number))
        if kept is not None:
            g.kept_form = MultiDict(kept)


def _keep_and_refuse() -> ResponseReturnValue:
    back = with_kept(way_back(), _browsers().keep(typed_fields()))
    return render_template("errors/expired_form.html", back=request.script_root + back), 400
