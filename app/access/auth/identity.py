"""The caller: a script by the token in its request, a person by the session of their browser.

Each takes one statement. Pages accept no token. The API accepts a session only of a page that
sends its form token with the request: see ``identify_page`` in ``app/web/browsers.py``.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

import sqlalchemy as sa
from flask import Flask, g, request, session
from flask_login import LoginManager, UserMixin, current_user, login_user
from sqlalchemy.exc import SQLAlchemyError

from app.access.auth import first_admin, service
from app.access.security_log.requests import note_refused_token
from app.accounts import links, passwords
from app.accounts.models import PROXY, Account, Identity
from app.accounts.sessions import service as sessions
from app.accounts.sessions.models import Session
from app.accounts.tokens import secrets
from app.accounts.tokens import service as tokens
from app.accounts.tokens.models import Token, is_use_worth_noting
from app.catalogue.projects.models import Member, Project, ProjectMode
from app.core.actor import Actor, Proof
from app.core.clock import utcnow
from app.core.commits import CommitCache
from app.core.db import must_wait_to_write, unit_of_work
from app.core.errors import DomainError, NotAuthenticated, TooManyRequests, WrongPassword
from app.core.logs import LOGGER, reason
from app.core.permissions import DEFAULT_PROJECT
from app.core.secrets import digest
from app.core.statements import Prepared
from app.web import browsers
from app.web.browsers import Browsers, SignInRequired
from app.web.current import current_settings
from app.web.remote_user import remote_user

_account = (
    Account.id,
    sa.func.coalesce(Account.username, Account.email).label("username"),
    Account.name,
    Account.role,
    Member.project_id,
    Member.role.label("project_role"),
    sa.select(Project.mode)
    .where(Project.id == DEFAULT_PROJECT)
    .scalar_subquery()
    .label("default_mode"),
)
_by_token = Prepared(
    sa.select(*_account, Token.id.label("token_id"), Token.last_seen_at, Token.expires_at)
    .join(Token, Token.account_id == Account.id)
    .outerjoin(Member, Member.account_id == Account.id)
    .where(
        Token.digest == sa.bindparam("digest"),
        Token.revoked_at.is_(None),
        Token.seen_expired_at.is_(None),
        Account.deleted_at.is_(None),
        Account.deactivated_at.is_(None),
    )
)
_by_session = Prepared(
    sa.select(
        *_account,
        Session.id.label("session_id"),
        Session.last_used_at,
        Session.proved_at,
        Session.created_at.label("started_at"),
        Session.identity_id,
        Identity.issuer,
        Identity.subject,
        Account.password_hash.is_not(None).label("has_password"),
        Account.time_zone,
    )
    .join(Session, Session.account_id == Account.id)
    .outerjoin(Member, Member.account_id == Account.id)
    .outerjoin(Identity, Identity.id == Session.identity_id)
    .where(
        Session.digest == sa.bindparam("digest"),
        Account.deleted_at.is_(None),
        Account.deactivated_at.is_(None),
    )
)

_deferred: dict[str, Callable[[Any], None]] = {
    "used_token": tokens.note_use,
    "expired_token": tokens.note_expiry,
    "expired_link": links.note_expiry,
    "expired_first_link": first_admin.note_expiry,
    "used_session": sessions.note_use,
    "ended_session": sessions.close,
    "proved_session": sessions.note_proof,
}
"""Writes to do after the response, by the name of their value in ``g``."""

CAN_WAIT = {"used_token", "used_session"}
"""Writes to drop instead of waiting for another writer: the next request repeats them."""

_callers: CommitCache[Sequence[Any]] = CommitCache()
"""Cached rows of tokens and sessions, by their digest."""


def store_after(name: str, store: Callable[[Any], None]) -> None:
    """After a response, call ``store`` with the value that ``g`` has under ``name``.

    It is skipped if it would have to wait.
    """
    _deferred[name] = store
    CAN_WAIT.add(name)


class SignedIn(UserMixin):  # type: ignore[misc] # untyped
    """The user of a session. Flask-Login keeps the session's secret as their id."""

    def __init__(self, secret: str, actor: Actor | None = None) -> None:
        self.secret = secret
        self.actor = actor

    def get_id(self) -> str:
        return self.secret


def init_app(app: Flask) -> None:
    logins = LoginManager(app, add_context_processor=False)
    logins.session_protection = None  # the row of the session is what protects it
    logins.user_loader(_load)
    app.extensions["flagstaff.identify"] = by_token
    passwords.share_slots(app.config["SETTINGS"].home)
    browsers.init_app(app, Browsers(by_session, _check_password, _keep_form, _kept_form))
    app.teardown_request(_store_deferred)


def by_token() -> Actor:
    """The actor whose token the request carries.

    Raises:
        NotAuthenticated: if it is missing, unknown, expired or revoked.

    """
    secret = secrets.sent_in(request.headers.get("Authorization", ""))
    if secrets.SDK_MARK in secret:
        raise NotAuthenticated(
            "This is an SDK token: it reads features, and nothing else. Send an access token, "
            "which you create under your account or a service account."
        )
    if not secrets.may_be_one(secret):
        raise NotAuthenticated
    hashed = digest(secret)
    found = _callers.get(hashed, lambda: _by_token.run(digest=hashed))
    if not found:
        note_refused_token(secret)
        raise NotAuthenticated
    token = found[0]
    if token.expires_at is not None and token.expires_at <= utcnow():
        g.expired_token = token.token_id
        note_refused_token(secret)
        raise NotAuthenticated
    if is_use_worth_noting(token.last_seen_at):
        g.used_token = token.token_id
    return _actor(found, token_id=token.token_id)


def by_session() -> Actor:
    """The actor who is signed in with this browser.

    Raises:
        SignInRequired: if no one is.

    """
    # A session that starts with this request has no actor yet.
    actor: Actor | None = current_user.actor if current_user.is_authenticated else None
    if actor is None:
        raise SignInRequired
    return actor


def begin(secret: str) -> None:
    """Give the browser a session, and drop everything its cookie held before."""
    session.clear()
    login_user(SignedIn(secret))


def end() -> None:
    """End the session on the server too, so that a copy of the cookie is useless."""
    sessions.close(_secret())
    session.clear()


def _load(secret: str) -> SignedIn | None:
    hashed = digest(secret)
    found = _callers.get(hashed, lambda: _by_session.run(digest=hashed))
    if not found:
        return None
    row = found[0]
    hours = current_settings().session_hours
    if sessions.is_over(row.started_at, row.last_used_at, idle_hours=hours):
        g.ended_session = secret  # or it would be valid again if the clock is set back
        return None
    if not _still_holds(row):
        return None
    if sessions.is_use_worth_noting(row.last_used_at):
        g.used_session = row.session_id
    actor = _actor(
        found,
        session_id=row.session_id,
        proved_at=row.proved_at,
        proof=_proof(row),
        has_password=row.has_password,
        time_zone=row.time_zone,
    )
    return SignedIn(secret, actor)


def _still_holds(session: Any) -> bool:
    """Whether people may still sign in the way this session began."""
    settings = current_settings()
    if session.identity_id is None:
        return service.may_use_password(session.username, session.role, settings)
    if session.issuer == PROXY:
        user = remote_user()
        return user is not None and user.subject == session.subject
    return bool(session.issuer == settings.oidc_issuer)


def _proof(session: Any) -> Proof:
    if session.identity_id is None:
        return Proof.PASSWORD
    if session.issuer != PROXY:
        return Proof.PROVIDER
    return Proof.PASSWORD if session.has_password else Proof.NONE


def _actor(found: Sequence[Any], **credentials: Any) -> Actor:
    """The caller. ``credentials``: fields of Actor about the token or the session."""
    caller = found[0]
    return Actor(
        id=caller.id,
        username=caller.username,
        name=caller.name,
        role=caller.role,
        project_roles={row.project_id: row.project_role for row in found if row.project_id},
        default_is_open=caller.default_mode is ProjectMode.OPEN,
        ip=request.remote_addr,
        **credentials,
    )


def _secret() -> str:
    return cast(str, session.get("_user_id", ""))


def _check_password(password: str) -> str | None:
    actor = cast(Actor, g.actor)
    try:
        service.prove(actor, password)
    except (WrongPassword, TooManyRequests) as error:
        return error.message
    g.proved_session = actor.session_id
    return None


def _keep_form(fields: dict[str, list[str]]) -> int | None:
    return sessions.keep_form(_secret(), fields)


def _kept_form(number: int) -> dict[str, list[str]] | None:
    return sessions.kept_form(cast(Actor, g.actor), number)


def _store_deferred(_error: BaseException | None) -> None:
    """Do the writes after the response and in a separate transaction.

    So no request waits for them, or fails with them.
    """
    due = {name: g.pop(name) for name in _deferred if name in g}
    if not due or (due.keys() <= CAN_WAIT and must_wait_to_write()):
        return
    try:
        with unit_of_work(writes=True):
            for name, subject in due.items():
                _deferred[name](subject)
    except (DomainError, SQLAlchemyError) as error:
        LOGGER.warning("the use of a token or session was not recorded: %s", reason(error))
