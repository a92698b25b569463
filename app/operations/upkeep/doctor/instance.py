"""The database: its state, and problems of its content."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from app.accounts import admins
from app.accounts import service as accounts
from app.accounts.tokens import service as tokens
from app.core import migrations
from app.core.clock import utcnow
from app.core.config import Settings
from app.core.db import db, unit_of_work
from app.core.events import service as events
from app.core.files import revisions
from app.core.maintenance import service as maintenance
from app.delivery.webhooks import traffic as webhooks
from app.delivery.webhooks.service import Allowed
from app.operations.upkeep import backup, checkpoints
from app.operations.upkeep.checkpoints import HEADS, UnreadableHeads, has_served
from app.operations.upkeep.doctor.approvals import check_approvals
from app.operations.upkeep.doctor.evaluation import check_evaluation
from app.operations.upkeep.doctor.findings import Finding, fine, warning, wrong

SOON = timedelta(days=14)
BACKUPS_EVERY = timedelta(days=7)
TOLERANCE = timedelta(seconds=5)
WEBHOOK_REMEDY = (
    "Its page under Webhooks has what the receiver answered. If it is no longer needed: "
    "flagstaff webhook delete"
)
RESTORE = (
    "Stop the server, keep a copy of its files, and restore the last backup into another folder: "
    "flagstaff restore FILE"
)


def check_database(settings: Settings) -> Iterator[Finding]:
    """Check that the database answers and is intact; with the right schema, also its content."""
    about = "database"
    address = db.engine.url.render_as_string()
    try:
        revision = migrations.current(db.engine)
    except DBAPIError as error:
        why = _first_line(error)
        yield wrong(about, f"{address} does not answer: {why}.", _connection_remedy(settings))
        return
    newest = revisions()[-1]
    if revision is None and has_served(settings):
        yield wrong(
            about,
            f"{address} is empty, but an instance has been served from this folder.",
            "Mount the disk it was on, or restore a backup: flagstaff restore FILE",
        )
    elif revision is None and (foreign := _foreign_tables()):
        yield wrong(
            about,
            f"{address} has tables of another application, such as {min(foreign)}.",
            "Set FLAGSTAFF_DATABASE_URL to a database of its own.",
        )
    elif revision is None:
        yield warning(about, f"{address} is empty.", "Start the server: flagstaff serve")
    elif revision not in revisions():
        yield wrong(
            about,
            f"The database is at revision {revision}, which this version ({newest}) does not know.",
            "Install the version of Flagstaff that created it, or a newer one.",
        )
    elif revision != newest:
        yield wrong(
            about,
            f"The database is at revision {revision}, but this version needs {newest}.",
            "Back it up, then run: flagstaff db upgrade",
        )
    else:
        found = list(_sqlite() if db.engine.dialect.name == "sqlite" else _postgresql())
        yield from found or [fine(about, f"{address} works and is at revision {revision}.")]
        yield from _contents(settings)


def _foreign_tables() -> set[str]:
    with db.engine.connect() as connection:
        return migrations.foreign_tables(connection)


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0]


def _connection_remedy(settings: Settings) -> str:
    if settings.database_url.startswith("postgresql"):
        return "Check that PostgreSQL is running and FLAGSTAFF_DATABASE_URL has the right password."
    return "Check that the disk is mounted and that this user can read and write the file."


def _sqlite() -> Iterator[Finding]:
    try:
        with db.engine.connect() as connection:
            found = {connection.exec_driver_sql("PRAGMA quick_check").scalar()} - {"ok"}
            found |= {connection.exec_driver_sql("PRAGMA foreign_key_check").scalar()} - {None}
    except DBAPIError as error:
        found = {_first_line(error)}
    for problem in found:
        says = f"The database file is damaged: {str(problem).splitlines()[-1]}."
        yield wrong("database", says, RESTORE)


def _postgresql() -> Iterator[Finding]:
    with db.engine.connect() as connection:
        for setting in ("fsync", "full_page_writes"):
            if connection.exec_driver_sql(f"SHOW {setting}").scalar() == "off":
                yield wrong(
                    "database",
                    f"PostgreSQL has {setting} off. A power failure can destroy the database.",
                    f"ALTER SYSTEM SET {setting} = on; SELECT pg_reload_conf();",
                )


def check_clock(_settings: Settings) -> Iterator[Finding]:
    """Check the clock, on which expiry, sessions and the event log depend."""
    now = utcnow()
    yield from list(_clock_problems(now)) or [fine("clock", f"{now:%Y-%m-%d %H:%M:%S} UTC.")]


def _clock_problems(now: datetime) -> Iterator[Finding]:
    about = "clock"
    if db.engine.dialect.name == "postgresql":
        theirs = db.session.scalar(sa.select(sa.func.clock_timestamp()))
        apart = abs(theirs - now) if theirs else timedelta()
        if apart > TOLERANCE:
            yield wrong(
                about,
                f"The database's clock is {apart.total_seconds():.0f} seconds off this machine's.",
                "Synchronise both clocks: timedatectl set-ntp true",
            )
    last = events.last_time()
    if last is not None and last > now + TOLERANCE:
        yield wrong(
            about,
            f"The last event is dated {last:%Y-%m-%d %H:%M} UTC, but now is {now:%Y-%m-%d %H:%M}.",
            "The clock is slow now or was fast then. Synchronise it: timedatectl set-ntp true",
        )


def check_event_log(settings: Settings) -> Iterator[Finding]:
    """Check the last checkpoint, which is quick; ``flagstaff events verify`` checks all events."""
    about = "event log"
    try:
        file = checkpoints.read(settings.home)
    except UnreadableHeads:
        yield wrong(
            about,
            f"{settings.home / HEADS} can't be read.",
            "Find out who edited it. flagstaff events verify needs this file.",
        )
        return
    last, digest = max(file.heads, default=(0, b""))
    if last and not events.is_still(last, digest):
        yield wrong(
            about,
            f"Event {last} is not the one that was recorded.",
            "This is another database, an older copy, or someone tampered with it. To find the "
            "first event that differs: flagstaff events verify",
        )
    else:
        yield fine(about, "Ends as recorded. To check every event: flagstaff events verify")


def check_people(_settings: Settings) -> Iterator[Finding]:
    about = "people"
    count = len(admins.who_can_sign_in())
    if count == 0:
        yield warning(
            about,
            "No Admin can sign in.",
            "Create one: flagstaff user create --role Admin, or the link flagstaff serve prints.",
        )
    elif count == 1:
        yield warning(
            about,
            "Only one Admin can sign in. If they lose access, only this machine can restore it.",
            "Make another person an Admin too.",
        )
    else:
        yield fine(about, f"{count} Admins can sign in.")


def check_tokens(_settings: Settings) -> Iterator[Finding]:
    about = "tokens"
    found = tokens.expiring(before=utcnow() + SOON)
    owners = accounts.names({token.account_id for token in found})
    for token in found:
        yield warning(
            about,
            f"The token {token.description!r} of {owners[token.account_id]} expires "
            f"on {token.expires_at:%Y-%m-%d}.",
            "Rotate it and use the new one instead: flagstaff token rotate",
        )
    if not found:
        yield fine(about, f"None that is in use expires within {SOON.days} days.")


def check_webhooks(settings: Settings) -> Iterator[Finding]:
    about = "webhooks"
    found = webhooks.problems(Allowed.by(settings))
    for webhook, says in found:
        yield warning(about, f"{webhook.name}: {says}", WEBHOOK_REMEDY)
    if not found:
        yield fine(about, "No problems.")


def check_backup(settings: Settings) -> Iterator[Finding]:
    about = "backup"
    remedy = "Back up every night to another disk: flagstaff backup FILE"
    made = backup.last_backup(settings.home)
    if made is None:
        yield warning(about, "No backup found.", remedy)
    elif utcnow() - made > BACKUPS_EVERY:
        yield warning(about, f"The last backup was on {made:%Y-%m-%d}.", remedy)
    else:
        yield fine(about, f"The last one was on {made:%Y-%m-%d at %H:%M} UTC.")


def check_maintenance(_settings: Settings) -> Iterator[Finding]:
    found = maintenance.current()
    if found is not None:
        yield warning(
            "maintenance",
            f"Maintenance mode has been on since {found.since:%Y-%m-%d at %H:%M} UTC: {found.by} "
            "switched it on. Nothing can be changed.",
            "When the work is done: flagstaff maintenance off",
        )


CHECKS = (
    check_clock,
    check_event_log,
    check_people,
    check_tokens,
    check_approvals,
    check_webhooks,
    check_maintenance,
)
"""The checks that need the right schema."""


def _contents(settings: Settings) -> Iterator[Finding]:
    try:
        with unit_of_work(writes=False):
            for check in CHECKS:
                yield from check(settings)
        yield from check_evaluation()
    except DBAPIError as error:
        yield wrong("database", f"The database can't be read: {_first_line(error)}.", RESTORE)
