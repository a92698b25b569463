"""What a database error means, in the terms of both databases."""

import sqlite3

from sqlalchemy.exc import DBAPIError, IntegrityError


def is_unavailable(error: DBAPIError) -> bool:
    """Whether the database is locked, full, read-only or gone: not our fault, and may pass."""
    if isinstance(error.orig, sqlite3.Error):
        # The low byte is the primary code; the rest is the extended code.
        return getattr(error.orig, "sqlite_errorcode", 0) & 0xFF in {
            sqlite3.SQLITE_BUSY,
            sqlite3.SQLITE_LOCKED,
            sqlite3.SQLITE_READONLY,
            sqlite3.SQLITE_IOERR,
            sqlite3.SQLITE_FULL,
            sqlite3.SQLITE_CANTOPEN,
        }
    state = _sqlstate(error)
    if error.connection_invalidated or state is None:
        return True
    # 08 connection, 40 rolled back, 53 resources, 57 operator intervention; 55P03 lock timeout,
    # 25006 read-only
    return state[:2] in {"08", "40", "53", "57"} or state in {"55P03", "25006"}


def is_unwritable(error: DBAPIError) -> bool:
    """Whether the disk is full or the database read-only, so that other writes would fail too."""
    if isinstance(error.orig, sqlite3.Error):
        return getattr(error.orig, "sqlite_errorcode", 0) & 0xFF in {
            sqlite3.SQLITE_FULL,
            sqlite3.SQLITE_IOERR,
            sqlite3.SQLITE_READONLY,
        }
    return _sqlstate(error) in {"53100", "25006"}  # disk full, read-only


def is_taken(error: IntegrityError) -> bool:
    """Whether a unique constraint or a primary key was violated."""
    if isinstance(error.orig, sqlite3.Error):
        return error.orig.sqlite_errorcode in {
            sqlite3.SQLITE_CONSTRAINT_UNIQUE,
            sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
        }
    return _sqlstate(error) == "23505"


def is_deadlock(error: DBAPIError) -> bool:
    """Whether PostgreSQL aborted the transaction in favour of another, so that a retry may work."""
    return _sqlstate(error) in {"40001", "40P01"}


def _sqlstate(error: DBAPIError) -> str | None:
    """PostgreSQL's five-character code; see its manual, appendix A."""
    return getattr(error.orig, "sqlstate", None)
