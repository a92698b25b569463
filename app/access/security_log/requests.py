"""Entries of requests in the security log, written after their responses."""

import sqlalchemy as sa
from flask import Flask, current_app, g, request
from sqlalchemy.exc import SQLAlchemyError

from app.access.security_log import service
from app.access.security_log.models import SecurityKind
from app.access.security_log.pending import Pending
from app.access.security_log.service import LogEntry
from app.accounts.models import Account
from app.accounts.tokens.models import Token
from app.accounts.tokens.secrets import PREFIX
from app.core.actor import Actor
from app.core.db import must_wait_to_write
from app.core.errors import DomainError
from app.core.logs import LOGGER, reason
from app.core.secrets import digest
from app.core.statements import Prepared
from app.core.words import counted
from app.web.current import current_actor
from app.web.exports import Export
from app.web.http import current_metrics, loggable_path

_known_token = Prepared(
    sa.select(
        Token.id,
        Token.account_id,
        Token.revoked_at,
        Account.deleted_at,
        sa.func.coalesce(Account.username, Account.email).label("name"),
    )
    .join(Account, Account.id == Token.account_id)
    .where(Token.digest == sa.bindparam("digest"))
)


def init_app(app: Flask) -> None:
    app.extensions["flagstaff.security_log"] = Pending()
    app.teardown_request(_write)
    service.observers.add(_count)


def write_pending() -> None:
    """Write the queue of this process."""
    _pending().write()


def record(kind: SecurityKind, detail: str | None = None) -> None:
    """Record what the caller does, in the transaction of the request."""
    service.record(LogEntry.by(current_actor, kind, detail))


def note(entry: LogEntry) -> None:
    """Queue the entry, to be written after the response."""
    _pending().add(entry)


def note_refused_token(secret: str) -> None:
    """Queue an entry about an invalid token and its owner. Text that is no token leaves none."""
    kind, ip = SecurityKind.TOKEN_REFUSED, request.remote_addr
    found = _known_token.run(digest=digest(secret))
    if not found:
        if secret.startswith(PREFIX):
            note(LogEntry(kind, ip, detail="unknown"))
        return
    [token] = found
    is_revoked = token.revoked_at is not None or token.deleted_at is not None
    why = "revoked" if is_revoked else "expired"
    note(LogEntry(kind, ip, token.account_id, token.name, token.id, why))


def _write(_error: BaseException | None) -> None:
    """Queue a refusal or an export, and write the queue if it is due and no one else is writing.

    Flask calls this before a download is sent and again afterwards.
    """
    actor: Actor | None = g.get("actor")
    if actor is not None and g.pop("is_denied", False):
        path = f"{request.method} {loggable_path()}"
        note(LogEntry.by(actor, SecurityKind.ACCESS_REFUSED, path))
    export: Export | None = g.get("export")
    if actor is not None and export is not None and export.is_over:
        size = counted(export.rows, "row")
        note(LogEntry.by(actor, SecurityKind.LIST_EXPORTED, f"{export.file_name}, {size}"))
    if not _pending().is_due() or must_wait_to_write():
        return
    try:
        write_pending()
    except (DomainError, SQLAlchemyError) as error:
        LOGGER.warning("the security log was not written: %s", reason(error))


def _count(kind: SecurityKind, times: int) -> None:
    # Commands have no metrics.
    if "flagstaff.metrics" in current_app.extensions:
        current_metrics().note_security(kind, times)


def _pending() -> Pending:
    found: Pending = current_app.extensions["flagstaff.security_log"]
    return found
