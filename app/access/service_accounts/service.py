"""Accounts for scripts: no password and no sign-in, only tokens."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Unpack

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.accounts import admins, usernames
from app.accounts import service as accounts
from app.accounts.models import Account, AccountKind
from app.accounts.tokens import secrets
from app.accounts.tokens import service as tokens
from app.accounts.tokens.models import Issued, Token
from app.accounts.tokens.secrets import TokenKind
from app.core.actor import COMMAND_LINE, Actor
from app.core.clock import utcnow
from app.core.db import db, save
from app.core.errors import Conflict, Invalid, Unavailable
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.paging import Page
from app.core.permissions import Role

BOOTSTRAP = "bootstrap"
MAX_DERIVED = 200
ROUNDS = 100


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    account: Account
    tokens: list[Token]

    @property
    def active(self) -> list[Token]:
        return [token for token in self.tokens if not token.is_expired]

    @property
    def expiring(self) -> int:
        """How many tokens expire soon."""
        return sum(token.expires_soon for token in self.active)

    @property
    def unused(self) -> int:
        """How many active tokens were never used."""
        return sum(token.last_seen_at is None for token in self.active)

    @property
    def last_used_at(self) -> datetime | None:
        return max((t.last_seen_at for t in self.tokens if t.last_seen_at), default=None)


def create(
    actor: Actor, *, root_role: Role, username: str | None = None, name: str | None = None
) -> ServiceAccount:
    """Create a service account. The default username is derived from its name, or from its id."""
    account = Account(kind=AccountKind.SERVICE, name=name)
    account.give(actor, root_role)
    if username is None:
        _save_under_free_username(account)
    else:
        usernames.rename(account, username)
        usernames.refuse_taken(account)
        save(account, if_taken=usernames.name_taken(username))
    events.record(actor, EventType.SERVICE_ACCOUNT_CREATED, data=account.snapshot())
    return ServiceAccount(account, [])


def get(account_id: int) -> ServiceAccount:
    return _with_tokens(accounts.get(account_id, kind=AccountKind.SERVICE))


def search(
    *, limit: int, offset: int, **filters: Unpack[accounts.AccountFilters]
) -> Page[ServiceAccount]:
    page = accounts.search(AccountKind.SERVICE, limit=limit, offset=offset, **filters)
    held = tokens.of_accounts([account.id for account in page.items])
    return page.of([ServiceAccount(account, held[account.id]) for account in page.items])


def get_for_change(account_id: int) -> ServiceAccount:
    """The account, locked for a change."""
    return _with_tokens(accounts.get_for_change(account_id, kind=AccountKind.SERVICE))


def _with_tokens(account: Account) -> ServiceAccount:
    return ServiceAccount(account, tokens.of_accounts([account.id])[account.id])


def issue_token(
    actor: Actor, account_id: int, *, description: str, expires_at: datetime | None = None
) -> Issued[Token]:
    account = accounts.get(account_id, kind=AccountKind.SERVICE)
    return tokens.issue(
        actor,
        account.id,
        TokenKind.SERVICE_ACCOUNT,
        description=description,
        expires_at=expires_at,
    )


def bootstrap(secret: str) -> bool:
    """Give the service account ``bootstrap`` this token, unless an Admin has a valid one.

    Returns whether it got the token.
    """
    if not secrets.may_be_one(secret):
        raise Invalid(
            f"The bootstrap token starts with {secrets.PREFIX} but is not valid, or is longer "
            f"than {secrets.LONGEST} characters. Choose another."
        )
    admins.guard()  # several processes may start at once
    if _admin_has_token() or Token.known_by(secret) is not None:
        return False  # a token that was revoked stays revoked
    account = accounts.with_username(BOOTSTRAP)
    if account is None:
        account = create(
            COMMAND_LINE, root_role=Role.ADMIN, username=BOOTSTRAP, name="Bootstrap"
        ).account
    if account.is_person or account.role is not Role.ADMIN:
        raise Conflict(f"The username {BOOTSTRAP!r} belongs to an account that is not an Admin.")
    tokens.keep(
        COMMAND_LINE, account.id, secret, description=f"bootstrap {utcnow():%Y-%m-%d %H:%M:%S}"
    )
    return True


def _admin_has_token() -> bool:
    query = sa.exists().where(
        Token.account_id == Account.id,
        Token.revoked_at.is_(None),
        sa.or_(Token.expires_at.is_(None), Token.expires_at > utcnow()),
        Token.seen_expired_at.is_(None),
        Account.role == Role.ADMIN,
        Account.deleted_at.is_(None),
    )
    return bool(db.session.scalar(sa.select(query)))


def _save_under_free_username(account: Account) -> None:
    slug = _slug(account.name or "")
    if not slug:
        save(account)  # the username is derived from the id
    base = f"service-{slug}" if slug else f"service-account-{account.id}"
    for _ in range(ROUNDS):
        usernames.rename(account, _first_free(base))
        try:
            with db.session.begin_nested():
                save(account)
        except IntegrityError:
            continue  # someone else just took it; the client named none, so try the next
        return
    raise Unavailable


def _first_free(base: str) -> str:
    like_it = Account.username_key.startswith(base, autoescape=True)
    taken = set(db.session.scalars(sa.select(Account.username_key).where(like_it)))
    numbered = (base if number == 1 else f"{base}-{number}" for number in count(1))
    return next(username for username in numbered if username not in taken)


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:MAX_DERIVED].rstrip("-")
