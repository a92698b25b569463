"""The people, service accounts and access tokens that can be found."""

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from app.accounts.models import Account, AccountKind
from app.accounts.tokens.models import Token
from app.catalogue.projects.models import Member
from app.core.actor import Actor
from app.core.db import db
from app.core.permissions import Permission
from app.core.search import Hit, Kind, Searched, expiry, joined
from app.core.words import counted


def _visible_accounts(kind: AccountKind) -> Callable[[Actor], sa.ColumnElement[bool] | None]:
    is_one = sa.and_(Account.kind == kind, Account.deleted_at.is_(None))
    return lambda actor: is_one if actor.may(Permission.ADMIN) else None


def _visible_tokens(actor: Actor) -> sa.ColumnElement[bool]:
    """Condition for the valid tokens that the actor can find: their own; for Admins all."""
    is_valid = sa.and_(Token.revoked_at.is_(None), Account.deleted_at.is_(None))
    belongs = Account.id == Token.account_id
    own = sa.true() if actor.may(Permission.ADMIN) else Token.account_id == actor.id
    return sa.and_(is_valid, belongs, own)


def _accounts(endpoint: str) -> Callable[[Actor, Sequence[Any]], list[Hit]]:
    def hits(_actor: Actor, rows: Sequence[Any]) -> list[Hit]:
        query = (
            sa.select(Member.account_id, sa.func.count())
            .where(Member.account_id.in_([row.id for row in rows]))
            .group_by(Member.account_id)
        )
        counts = dict(db.session.execute(query).all())
        return [
            Hit(
                row.name or row.username or row.email,
                joined(
                    (row.username or row.email) if row.name else "",
                    row.role.title,
                    counted(counts[row.id], "project") if row.id in counts else "",
                ),
                endpoint,
                {"account_id": row.id},
            )
            for row in rows
        ]

    return hits


def _tokens(actor: Actor, rows: Sequence[Any]) -> list[Hit]:
    found = []
    for row in rows:
        endpoint = (
            "account_pages.show"
            if row.account_id == actor.id
            else "user_pages.show"
            if row.kind is AccountKind.PERSON
            else "service_account_pages.show"
        )
        of_account = {} if row.account_id == actor.id else {"account_id": row.account_id}
        owner = "yours" if row.account_id == actor.id else f"of {row.owner}"
        found.append(
            Hit(
                row.description,
                joined(owner, f"…{row.hint}", expiry(row.expires_at)),
                endpoint,
                {**of_account, "_anchor": "tokens"},
            )
        )
    return found


_account = (Account.id, Account.name, Account.username, Account.email, Account.role)
_names = (Account.name, Account.username, Account.email)

SEARCHED = (
    Searched(
        Kind(9, "users", "Users"),
        _account,
        _names,
        _accounts("user_pages.show"),
        visible=_visible_accounts(AccountKind.PERSON),
    ),
    Searched(
        Kind(10, "serviceAccounts", "Service accounts"),
        _account,
        _names,
        _accounts("service_account_pages.show"),
        visible=_visible_accounts(AccountKind.SERVICE),
        is_suggested=False,
    ),
    Searched(
        Kind(12, "accessTokens", "Access tokens"),
        columns=(
            Token.description,
            Token.hint,
            Token.expires_at,
            Token.account_id,
            Account.kind,
            sa.func.coalesce(Account.name, Account.username, Account.email).label("owner"),
        ),
        names=(Token.description,),
        hits=_tokens,
        hint=Token.hint,
        visible=_visible_tokens,
        is_suggested=False,
    ),
)
