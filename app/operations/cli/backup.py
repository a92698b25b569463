from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from app.core.actor import COMMAND_LINE
from app.core.db import db, transact
from app.core.errors import DomainError
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.words import counted
from app.operations.cli.commands import Output, json_option, print_output, progress_bar
from app.operations.server.instance import open_instance, set_up_home
from app.operations.upkeep import backup as operation
from app.operations.upkeep.progress import silent


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="In a folder: delete all but the newest NUMBER backups of this instance.",
)
@json_option
def backup(file: Path, *, keep: int | None, as_json: bool) -> None:
    """Back up the whole instance into FILE.

    The server can keep running. FILE contains everything the instance has, including the secret
    key, so keep it where no one else can read it, and on another disk.

    If FILE is a folder, the backup gets a name with the time. --keep deletes only files with such
    names whose SHA-256 is in the event log of this instance.

    Don't copy the database file of a running server: flagstaff.db, flagstaff.db-wal and
    flagstaff.db-shm belong together, and only all three of one moment are complete. After a clean
    stop, flagstaff.db alone is.
    """
    if keep is not None and not file.is_dir():
        raise click.UsageError(f"--keep needs a folder, and {file} is none.")
    if file.is_dir():
        file /= operation.name_with_time()
    with open_instance() as settings:
        data = operation.save(db.engine, settings.home, file, silent if as_json else progress_bar)
        text = (
            f"Backed up {data['rows']:,} rows in {data['tables']} tables to {file}\n"
            f"SHA-256 of the file  {data['sha256']}\nDigest of the rows   {data['digest']}"
        )
        text += _record(EventType.BACKUP_CREATED, data)
        if keep is not None:
            deleted = transact(lambda: operation.delete_old(file, keep), writes=False)
            data |= {"deleted": deleted}
            text += f"\nDeleted {counted(len(deleted), 'older backup')}"
            text += f": {', '.join(deleted)}" if deleted else ""
    print_output(Output(data, text), as_json=as_json)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--yes", is_flag=True, help="Restore FILE. Without this option it is only checked.")
@json_option
def restore(file: Path, *, yes: bool, as_json: bool) -> None:
    """Check the backup FILE and, with --yes, restore it into an empty instance.

    FLAGSTAFF_HOME and FLAGSTAFF_DATABASE_URL choose the instance. Its database must be empty.
    Nothing is changed until the whole backup has been checked.
    """
    settings = set_up_home()
    progress = silent if as_json else progress_bar
    manifest = operation.restore(settings, file, progress, apply=yes)
    data = {
        "version": manifest.version,
        "createdAt": manifest.created_at,
        "rows": manifest.rows,
        "digest": manifest.digest,
    }
    unrecorded = ""
    if yes:
        with open_instance(settings):
            unrecorded = _record(EventType.BACKUP_RESTORED, data | {"file": str(file.absolute())})
    target = sa.make_url(settings.database_url).render_as_string()
    text = (
        f"Created on {manifest.created_at} by Flagstaff {manifest.version}\n"
        f"Complete: {manifest.rows:,} rows in {len(manifest.tables)} tables\n"
        f"Digest of the rows   {manifest.digest}\n"
    )
    hint = f"Nothing was changed. To restore it to {target}, add --yes"
    text += f"Restored to {target}{unrecorded}" if yes else hint
    print_output(Output({"restored": yes} | data, text), as_json=as_json)


def _record(type: EventType, data: dict[str, Any]) -> str:
    """Record the event. Return a line for the output if the database can't be written to.

    The backup is complete in any case.
    """
    try:
        transact(lambda: events.record(COMMAND_LINE, type, data=data), writes=True)
    except (DomainError, SQLAlchemyError):
        return "\nThe event log can't be written to, so it has no event of this."
    return ""
