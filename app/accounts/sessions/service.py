"""Sessions of browsers, stored on the server so that ending one here is final."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.accounts.sessions.models import KEPT_FORMS, SESSIONS, KeptForm, Session
from app.core import secrets
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import chunks, db, save

LONGEST = timedelta(days=30)
USE_PRECISION = timedelta(minutes=1)
CLOCK_SKEW = timedelta(minutes=5)
"""How far the clocks of several machines may differ."""

USER_AGENT_LENGTH = 255


@dataclass(frozen=True, slots=True)
class Browser:
    """The browser that a session is opened for; ``idle_hours`` without use end it."""

    ip: str | None
    user_agent: str
    idle_hours: int


@dataclass(frozen=True, slots=True)
class Origin:
    """The single sign-on that a session begins with. A proxy has no session and no ID token."""

    identity_id: int
    provider_session: str | None = None
    id_token: str | None = None


def open(account_id: int, browser: Browser, origin: Origin | None = None) -> str:
    """Start a session and return the secret for its cookie.

    Deletes sessions that are over, and of this account those that were unused longest if there are
    too many.

    ``origin``: None for a sign-in with a password.
    """
    now = utcnow()
    over = sa.or_(
        Session.last_used_at < now - timedelta(hours=browser.idle_hours),
        Session.created_at < now - LONGEST,
    )
    db.session.execute(sa.delete(Session).where(over))
    secret = secrets.generate()
    session = Session(
        account_id=account_id,
        digest=secrets.digest(secret),
        ip=browser.ip,
        user_agent=browser.user_agent[:USER_AGENT_LENGTH],
        identity_id=origin and origin.identity_id,
        provider_session=origin and origin.provider_session,
        id_token=origin and origin.id_token,
    )
    save(session)
    SESSIONS.drop_oldest(Session.account_id == account_id, by=Session.last_used_at)
    return secret


def is_over(started_at: datetime, last_used_at: datetime, *, idle_hours: int) -> bool:
    """Whether a session was unused for ``idle_hours``, or started longer than LONGEST ago.

    A session from the future is over too, so that setting back the clock extends none.
    """
    now = utcnow()
    return (
        now - last_used_at > timedelta(hours=idle_hours)
        or now - started_at > LONGEST
        or started_at - now > CLOCK_SKEW
    )


def close(secret: str) -> None:
    """End the session with this secret, if it exists."""
    db.session.execute(sa.delete(Session).where(Session.digest == secrets.digest(secret)))


def close_of_identities(
    ids: Collection[int],
    *,
    provider_session: str | None = None,
    begun_before: datetime | None = None,
) -> set[int]:
    """End the sessions that began with these identities, or only with one session there.

    ``begun_before``: only those that are older. Returns the ids of the accounts whose sessions
    ended.
    """
    ended = sa.delete(Session).where(Session.identity_id.in_(ids))
    if provider_session is not None:
        ended = ended.where(Session.provider_session == provider_session)
    if begun_before is not None:
        ended = ended.where(Session.created_at < begun_before)
    return set(db.session.scalars(ended.returning(Session.account_id)))


def get(session_id: int) -> Session | None:
    return db.session.get(Session, session_id)


def close_all(account_ids: Collection[int], *, but: int | None = None) -> None:
    """End every session of these accounts, except the one with the id ``but``."""
    for chunk in chunks(account_ids):
        of_theirs = sa.delete(Session).where(Session.account_id.in_(chunk))
        db.session.execute(of_theirs.where(Session.id.is_distinct_from(but)))


def of_account(account_id: int) -> list[Session]:
    """The sessions of an account, most recently used first."""
    query = sa.select(Session).where(Session.account_id == account_id)
    return list(db.session.scalars(query.order_by(Session.last_used_at.desc(), Session.id.desc())))


def note_use(session_id: int) -> None:
    """Store that a session was used, at most once a minute."""
    now = utcnow()
    db.session.execute(
        sa.update(Session)
        .where(Session.id == session_id, Session.last_used_at < now - USE_PRECISION)
        .values(last_used_at=now)
    )


def note_proof(session_id: int) -> None:
    """Store that the person of a session has just entered their password."""
    db.session.execute(
        sa.update(Session).where(Session.id == session_id).values(proved_at=utcnow())
    )


def is_use_worth_noting(last_used_at: datetime) -> bool:
    return last_used_at < utcnow() - USE_PRECISION


def keep_form(secret: str, fields: dict[str, list[str]]) -> int | None:
    """Store what was typed for the session with this secret; return the id for ``kept_form``.

    None: it is too large to keep.
    """
    if len(json.dumps(fields)) > KEPT_FORMS.bytes:
        return None
    session = db.session.scalars(
        sa.select(Session).where(Session.digest == secrets.digest(secret))
    ).one()
    kept = KeptForm(session_id=session.id, fields=fields)
    save(kept)
    KEPT_FORMS.drop_oldest(KeptForm.session_id == session.id, by=KeptForm.id)
    return kept.id


def kept_form(actor: Actor, id: int) -> dict[str, list[str]] | None:
    """The fields stored with this id, if they belong to the actor's session."""
    query = sa.select(KeptForm.fields).where(
        KeptForm.id == id, KeptForm.session_id == actor.session_id
    )
    return db.session.scalar(query)


def browser_name(user_agent: str) -> str:
    """The browser and its system, such as ``Firefox on Windows``."""
    import ua_parser  # noqa: PLC0415 - 0.1 seconds and 6 MB that most processes never need

    browser, system = ua_parser.parse_user_agent(user_agent), ua_parser.parse_os(user_agent)
    name = browser.family if browser else "Unknown browser"
    return f"{name} on {system.family}" if system else name
