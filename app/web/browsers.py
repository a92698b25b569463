"""Browsers: their sessions, the forms they may send, and asking for the password again."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from flask import Flask, Request, Response, current_app, g, render_template, request, session
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError, CSRFProtect, validate_csrf
from itsdangerous import BadSignature
from werkzeug.datastructures import MultiDict
from wtforms.validators import ValidationError

from app.core.actor import Actor, Proof
from app.core.clock import utcnow
from app.core.errors import AuthenticationRequired, DomainError, Invalid, NotAuthenticated
from app.web import origins
from app.web.current import current_actor
from app.web.http import SAFE_METHODS
from app.web.listing import is_number
from app.web.redirects import form_address, with_kept_form

Fields = dict[str, list[str]]
"""The submitted values of a form by field."""

ADMIN_API = "/api/admin/"
API_PATHS = (ADMIN_API, "/scim/", "/health", "/ready")
CSRF_FIELD = "csrf_token"
CSRF_HEADER = "X-CSRF-Token"
CONFIRMATION_FIELD = "confirm_password"
CONFIRMATION_VALID = timedelta(minutes=5)
_is_secret = re.compile("password|secret", re.IGNORECASE).search
_csrf = CSRFProtect()


class SignInRequired(AuthenticationRequired):
    """No one is signed in with this browser, or their session has ended."""

    def __init__(self) -> None:
        super().__init__("Sign in to continue.")


class PasswordRequired(AuthenticationRequired):
    """The signed-in person must enter their password again before something sensitive.

    ``action`` is what they are about to do; ``fault`` says why the password was refused.
    """

    def __init__(self, action: str, fault: str | None = None) -> None:
        super().__init__(fault or f"Enter your password to {action}.")
        self.action = action
        self.fault = fault
        self.commits = fault is not None


@dataclass(frozen=True, slots=True)
class Browsers:
    """Functions of ``app/access/auth``, which this room can't import.

    ``check_password`` returns why the signed-in person's password is refused, None if it is right.
    ``keep`` stores the fields of a form and returns a number, with which ``kept`` returns them;
    None if they are too large to keep.
    """

    identify: Callable[[], Actor]
    check_password: Callable[[str], str | None]
    keep: Callable[[Fields], int | None]
    kept: Callable[[int], Fields | None]


class _Sessions(SecureCookieSessionInterface):
    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """None for the API, unless a page sent the request: it takes tokens, no cookies.

        A cookie has no maximum age: the session's row decides when it is over, and the cookie may
        be signed by another process whose clock is a little ahead.
        """
        signer = self.get_signing_serializer(app)
        is_api = request.path.startswith(API_PATHS)
        if signer is None or (is_api and not is_sent_by_page(request)):
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


def is_sent_by_page(request: Request) -> bool:
    """Whether a request to the API claims to come from a page; ``identify_page`` verifies that.

    No form and no other site can send the header, and with a token the cookie never counts.
    """
    return (
        request.path.startswith(ADMIN_API)
        and CSRF_HEADER in request.headers
        and "Authorization" not in request.headers
    )


def identify_page() -> Actor:
    """The actor who is signed in to the page that sent this request to the API.

    Raises:
        NotAuthenticated: unless a page of this portal sent it, in the session of the cookie.

    """
    try:
        origins.refuse_foreign_host()
        origins.refuse_foreign_form()
        validate_csrf(request.headers[CSRF_HEADER])
        return current_browsers().identify()
    except (DomainError, ValidationError):
        raise NotAuthenticated from None


def refuse_unproved_change() -> None:
    """Refuse a change that a page sent to the API, unless its person has just proved who they are.

    Some pages ask for the password again. Here every change needs that, so none is forgotten.
    """
    actor: Actor | None = g.get("actor")
    if actor is not None and actor.session_id is not None and must_prove(actor):
        raise AuthenticationRequired(
            "To change something from a page, first confirm there that it is you. A dry run needs "
            "no confirmation."
        )


def must_prove(actor: Actor) -> bool:
    """Whether a signed-in person has to prove who they are. A proof counts for five minutes."""
    at = actor.proved_at
    is_recent = at is not None and abs(utcnow() - at) <= CONFIRMATION_VALID
    return not is_recent and actor.proof is not Proof.NONE


def require_password(action: str) -> None:
    """Accept the form only if the signed-in person has proved recently who they are.

    Without a proof the view still runs, so that a wrong form is refused first; ``confirmed`` then
    asks for the password instead of accepting the form.

    Raises:
        PasswordRequired: if the form came with a wrong password.

    """
    g.pop("awaits_password", None)
    if request.method in SAFE_METHODS or not must_prove(current_actor):
        return
    password = request.form.get(CONFIRMATION_FIELD)
    if password is None or current_actor.proof is Proof.PROVIDER:
        g.awaits_password = action
    elif fault := current_browsers().check_password(password):
        raise PasswordRequired(action, fault)


def confirmed(view: Callable[[], ResponseReturnValue]) -> Response:
    """The response of ``view``. If it succeeded without the password it needs, nothing is stored.

    Raises:
        PasswordRequired: in that case.

    """
    before = dict(session)
    response = current_app.make_response(view())
    action = g.pop("awaits_password", None)
    if action is None or response.status_code >= HTTPStatus.BAD_REQUEST:
        return response
    session.clear()  # also of flashed messages about what did not happen
    session.update(before)
    raise PasswordRequired(action)


def identify_if_signed_in() -> None:
    """Let a public page know who is signed in, if anyone is."""
    with suppress(SignInRequired):
        g.actor = current_browsers().identify()


def refuse_nul() -> None:
    """Refuse the one character that PostgreSQL can't store and no browser lets people type."""
    for sent in (request.args, request.form):
        if any("\0" in value for _, values in sent.lists() for value in values):
            raise Invalid("The request contains a NUL character, which is not allowed.")


def typed_fields() -> Fields:
    """The submitted fields, without secrets."""
    return {
        name: values
        for name, values in request.form.lists()
        if name != CSRF_FIELD and not _is_secret(name)
    }


def current_browsers() -> Browsers:
    found: Browsers = current_app.extensions["flagstaff.browsers"]
    return found


def load_kept_form() -> None:
    """Let the next form begin with the fields that ``?kept=`` names."""
    number = request.args.get("kept", "")
    if "actor" in g and is_number(number):
        kept = current_browsers().kept(int(number))
        if kept is not None:
            g.kept_form = MultiDict(kept)


def refuse_expired_form(*, is_change: bool) -> ResponseReturnValue | None:
    """If the form is from an earlier session, a page that leads back to it; else None.

    Only a form that changes something is kept: the others run in a transaction that reads.
    """
    try:
        _csrf.protect()
    except CSRFError:
        if "actor" not in g:
            raise Invalid(
                "This form was open for too long, or your browser blocks cookies. "
                "Nothing has changed. Open the page again."
            ) from None
        kept = current_browsers().keep(typed_fields()) if is_change else None
        back = request.script_root + with_kept_form(form_address(), kept)
        return render_template("errors/expired_form.html", back=back, is_kept=kept is not None), 400
    return None
