"""The database: whether it answers, is whole, and what is due in it."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from app.accounts import service as accounts
from app.cli import backup
from app.cli.doctor.findings import Finding, fine, warning, wrong
from app.cli.events import written_down
from app.cli.instance import HEADS, has_served
from app.config import Settings
from app.core import migrations
from app.core.db import db, unit_of_work, utcnow
from app.events import service as events
from app.tokens import service as tokens

SOON = timedelta(days=14)
BACKUPS_EVERY = timedelta(days=7)
TOLERANCE = timedelta(seconds=5)
RESTORE = (
    "Stop the server, keep a copy of the file, and restore the last backup into another folder: "
    "flagstaff restore FILE"
)


def database(settings: Settings) -> Iterator[Finding]:
    """Whether it answers, is whole, and has the right schema; if it has, all that is in it."""
    about = "database"
    address = db.engine.url.render_as_string()
    try:
        revision = migrations.current(db.engine)
    except DBAPIError as error:
        why = _first_line(error)
        yield wrong(about, f"{address} does not answer: {why}.", _reaching(settings))
        return
    newest = migrations.known()[-1]
    if revision is None and has_served(settings):
        yield wrong(
            about,
            f"{address} is empty, but this folder has served an instance.",
            "Bring the disk back that it was on, or restore a backup: flagstaff restore FILE",
        )
    elif revision is None:
        yield warning(about, f"{address} is empty.", "Start the server: flagstaff serve")
    elif revision not in migrations.known():
        yield wrong(
            about,
            f"The database is at revision {revision}, newer than this version's {newest}.",
            "Install the version of Flagstaff that made it, or a newer one.",
        )
    elif revision != newest:
        yield wrong(
            about,
            f"The database is at revision {revision}; this version needs {newest}.",
            "Back up, then: flagstaff db upgrade",
        )
    else:
        found = list(_sqlite() if db.engine.dialect.name == "sqlite" else _postgresql())
        yield from found or [fine(about, f"{address} answers, at revision {revision}.")]
        yield from _contents(settings)


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0]


def _reaching(settings: Settings) -> str:
    if settings.database_url.startswith("postgresql"):
        return "Is PostgreSQL running, and are name and password in FLAGSTAFF_DATABASE_URL right?"
    return "Is the disk there, and is it a file that this user may read and write?"


def _sqlite() -> Iterator[Finding]:
    try:
        with db.engine.connect() as connection:
            found = {connection.exec_driver_sql("PRAGMA quick_check").scalar()} - {"ok"}
            found |= {connection.exec_driver_sql("PRAGMA foreign_key_check").scalar()} - {None}
    except DBAPIError as error:
        found = {_first_line(error)}
    for problem in found:
        says = f"The file is damaged: {str(problem).splitlines()[-1]}."
        yield wrong("database", says, RESTORE)


def _postgresql() -> Iterator[Finding]:
    with db.engine.connect() as connection:
        for setting in ("fsync", "full_page_writes"):
            if connection.exec_driver_sql(f"SHOW {setting}").scalar() == "off":
                yield wrong(
                    "database",
                    f"PostgreSQL runs with {setting} off: a power cut destroys the database.",
                    f"ALTER SYSTEM SET {setting} = on; SELECT pg_reload_conf();",
                )


def clock(_settings: Settings) -> Iterator[Finding]:
    """Expiry, sessions and the log go by it."""
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
                f"The database's clock is {apart.total_seconds():.0f} s away from this one.",
                "Keep both machines at network time: timedatectl set-ntp true",
            )
    last = events.last_time()
    if last is not None and last > now + TOLERANCE:
        yield wrong(
            about,
            f"The last event is of {last:%Y-%m-%d %H:%M} UTC, and now it is {now:%Y-%m-%d %H:%M}.",
            "The clock is behind, or was ahead: set it right, timedatectl set-ntp true",
        )


def event_log(settings: Settings) -> Iterator[Finding]:
    """Only its end, which is quick; ``flagstaff events verify`` follows all of it."""
    about = "event log"
    try:
        known = written_down(settings.home)
    except ValueError:
        yield wrong(
            about,
            f"{settings.home / HEADS} can't be read.",
            "Look at what somebody wrote into it; flagstaff events verify relies on it.",
        )
        return
    last = max(known, default=0)
    if last and not events.is_still(last, known[last]):
        yield wrong(
            about,
            f"Event {last} is not the one that was written down.",
            "The database is another one, an older one, or was tampered with. flagstaff events "
            "verify finds the first event that differs.",
        )
    else:
        yield fine(about, "Ends as it was last written down; flagstaff events verify checks all.")


def people(_settings: Settings) -> Iterator[Finding]:
    about = "people"
    admins = len(accounts.admins_who_can_sign_in())
    if admins == 0:
        yield warning(
            about,
            "No Admin can sign in.",
            "flagstaff user create --role Admin, or the link that flagstaff serve prints at first",
        )
    elif admins == 1:
        yield warning(
            about,
            "Only one Admin can sign in; if he loses his password, only this machine helps.",
            "Make somebody else an Admin too.",
        )
    else:
        yield fine(about, f"{admins} Admins can sign in.")


def expiring_tokens(_settings: Settings) -> Iterator[Finding]:
    about = "tokens"
    found = tokens.expiring(before=utcnow() + SOON)
    owners = accounts.names({token.account_id for token in found})
    for token in found:
        yield warning(
            about,
            f"The token {token.description!r} of {owners[token.account_id]} expires "
            f"on {token.expires_at:%Y-%m-%d}.",
            "Rotate it, and give the new secret to whoever uses it.",
        )
    if not found:
        yield fine(about, f"None in use expires within {SOON.days} days.")


def last_backup(settings: Settings) -> Iterator[Finding]:
    about = "backup"
    remedy = "flagstaff backup FILE, every night, to another disk"
    made = backup.last_backup(settings.home)
    if made is None:
        yield warning(about, "No backup by flagstaff backup is known.", remedy)
    elif utcnow() - made > BACKUPS_EVERY:
        yield warning(about, f"The last backup is of {made:%Y-%m-%d}.", remedy)
    else:
        yield fine(about, f"Made on {made:%Y-%m-%d at %H:%M} UTC.")


def _contents(settings: Settings) -> Iterator[Finding]:
    """All that is looked for in a database that has the right schema."""
    try:
        with unit_of_work(writes=False):
            for check in (clock, event_log, people, expiring_tokens):
                yield from check(settings)
    except DBAPIError as error:
        yield wrong("database", f"It can't be read: {_first_line(error)}.", RESTORE)
