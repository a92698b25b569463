"""Who is calling the API: from the token in the Authorization header, in one statement."""

import re

import sqlalchemy as sa
from flask import Flask, g, request
from sqlalchemy.exc import SQLAlchemyError

from app.accounts.models import Account
from app.core.actor import Actor, identify_with
from app.core.db import rows, unit_of_work, utcnow
from app.core.errors import DomainError, NotAuthenticated
from app.core.logs import LOGGER
from app.core.permissions import DEFAULT_PROJECT
from app.projects.models import Member, Project, ProjectMode
from app.tokens import secrets
from app.tokens import service as tokens
from app.tokens.models import Token

_bearer = re.compile(r"\Abearer +", re.IGNORECASE)

_caller = (
    sa.select(
        Account.id,
        sa.func.coalesce(Account.username, Account.email).label("username"),
        Account.role,
        Token.id.label("token_id"),
        Token.last_seen_at,
        Member.project_id,
        Member.role.label("project_role"),
        sa.select(Project.mode)
        .where(Project.id == DEFAULT_PROJECT)
        .scalar_subquery()
        .label("default_mode"),
    )
    .join(Token, Token.account_id == Account.id)
    .outerjoin(Member, Member.account_id == Account.id)
    .where(
        Token.digest == sa.bindparam("digest"),
        Token.revoked_at.is_(None),
        sa.or_(Token.expires_at.is_(None), Token.expires_at > sa.bindparam("now")),
        Account.deleted_at.is_(None),
    )
)


def init_app(app: Flask) -> None:
    identify_with(app, identify)
    app.teardown_request(_note_use)


def identify() -> Actor:
    """The actor whose token came along.

    Raises:
        NotAuthenticated: whatever is wrong with it.

    """
    secret = _bearer.sub("", request.headers.get("Authorization", ""), count=1).strip()
    if not secrets.may_be_one(secret):
        raise NotAuthenticated
    found = rows(_caller, digest=secrets.digest(secret), now=utcnow())
    if not found:
        raise NotAuthenticated
    caller = found[0]
    if tokens.is_use_worth_noting(caller.last_seen_at):
        g.used_token = caller.token_id
    return Actor(
        id=caller.id,
        username=caller.username,
        role=caller.role,
        project_roles={row.project_id: row.project_role for row in found if row.project_id},
        default_is_open=caller.default_mode is ProjectMode.OPEN,
        token_id=caller.token_id,
        ip=request.remote_addr,
    )


def _note_use(_error: BaseException | None) -> None:
    """After the answer, in a transaction of its own: no request waits or fails for it."""
    token_id = g.pop("used_token", None)
    if token_id is None:
        return
    try:
        with unit_of_work(writes=True):
            tokens.note_use(token_id)
    except (DomainError, SQLAlchemyError) as error:
        LOGGER.warning("the use of token %s was not noted: %s", token_id, error)
