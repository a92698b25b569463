"""Messages of commands that fail: one line each, with what to do."""

import sqlite3

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from app.core.config.setting import WrongKeyFile, WrongSetting
from app.core.errors import DomainError
from app.core.migrations import WrongSchema
from app.operations.server.instance import CantListen, DatabaseMissing
from app.operations.upkeep.progress import OperationFailed

EXPLAINED = (WrongSetting, WrongKeyFile, WrongSchema, DatabaseMissing, CantListen, OperationFailed)
"""Exceptions with a complete message for the operator."""
ADVICE = {
    sqlite3.SQLITE_BUSY: "Another process is using it. Try again.",
    sqlite3.SQLITE_LOCKED: "Another process is using it. Try again.",
    sqlite3.SQLITE_FULL: "Free up space on its disk.",
    sqlite3.SQLITE_READONLY: "Check that this user can write to the file and its folder.",
    sqlite3.SQLITE_CANTOPEN: "Check that this user can read and write the file and its folder.",
    sqlite3.SQLITE_NOTADB: "Check FLAGSTAFF_HOME and FLAGSTAFF_DATABASE_URL.",
}
"""By the primary SQLite error code."""
DOCTOR = "To find out more, run: flagstaff doctor"


def message_for(error: Exception) -> str:
    if isinstance(error, DomainError):
        return error.message
    if isinstance(error, EXPLAINED):
        return str(error)
    if isinstance(error, DBAPIError) and error.orig is not None:
        return _database_message(error.orig)
    if isinstance(error, sqlite3.Error | SQLAlchemyError):
        return _database_message(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    why, *_ = str(error).splitlines() or [""]
    return f"Unexpected problem ({type(error).__name__}): {why}. The data may be damaged. {DOCTOR}"


def _database_message(error: BaseException) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code
    why, *_ = str(error).strip().splitlines() or [type(error).__name__]
    return f"The database can't be used: {why.rstrip('.')}. {ADVICE.get(code, DOCTOR)}"
