"""Backing up a whole instance into one file, and restoring it.

The file is a ZIP archive, so other tools can open it too. It contains the database (a SQLite file
or a dump by pg_dump), the secret key if it is in the home folder, the recorded ends of the event
log, and a manifest with the version, the schema revision, and counts and digests of all tables.
"""

import json
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import file_digest
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import sqlalchemy as sa

from app.core import migrations
from app.core.clock import utcnow
from app.core.config import KEY_FILE, Settings
from app.core.db import db
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.files import revisions
from app.operations.upkeep.checkpoints import HEADS
from app.operations.upkeep.progress import OperationFailed, Progress
from app.operations.upkeep.snapshots import SNAPSHOTS, Snapshots, tables_in
from app.operations.upkeep.table_digests import TableDigest, combined_digest, differing_tables

FORMAT = 1
MANIFEST = "manifest.json"
HOME_FILES = (KEY_FILE, HEADS)
"""The files of the home folder that belong to the instance besides its database."""
LAST_BACKUP = "last_backup.json"
"""The file in the home folder that describes the last backup; ``flagstaff doctor`` reads it."""
UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, RuntimeError),  # of the archive
    *(AttributeError, KeyError, TypeError, ValueError),  # of the manifest
)
"""What reading a file may raise that is not a backup."""
REPLACED_SUFFIX = ".before-restore"
NAME_WITH_TIME = re.compile(r"flagstaff-\d{8}T\d{6}Z\.zip")


@dataclass(frozen=True, slots=True)
class Manifest:
    """The description of a backup that is stored in it."""

    format: int
    version: str
    revision: str
    created_at: str
    dialect: str
    digest: str
    tables: dict[str, TableDigest]
    files: dict[str, str]
    """The SHA-256 of each file in the archive, in hex."""

    @classmethod
    def parse(cls, text: bytes) -> Self:
        try:
            found = json.loads(text)
            if found["format"] != FORMAT:
                raise OperationFailed(
                    f"This backup was created by Flagstaff {found['version']} in a format that "
                    f"{version('flagstaff')} can't read. Install that version or a newer one."
                )
            tables = {name: TableDigest(*digest) for name, digest in found.pop("tables").items()}
            return cls(tables=tables, **found)
        except UNREADABLE:
            raise _not_a_backup() from None

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables.values())

    @property
    def snapshots(self) -> Snapshots:
        return SNAPSHOTS[self.dialect]


def save(engine: sa.Engine, home: Path, file: Path, progress: Progress) -> dict[str, Any]:
    """Back up a whole instance into ``file``, which appears only once it is complete.

    Works while the server is running. Returns the summary that ``--json`` prints.
    """
    _refuse_to_replace(file)
    with _temporary_folder_in(file.absolute().parent) as folder:
        if not migrations.is_current(engine):
            raise OperationFailed("Migrate this database first: flagstaff db upgrade")
        for name in HOME_FILES:  # before the database, so that no recorded end is ahead of it
            if (home / name).exists():
                shutil.copyfile(home / name, folder / name)
        snapshots = SNAPSHOTS[engine.dialect.name]
        tables = snapshots.save(engine, folder / snapshots.file_name, progress)
        manifest = Manifest(
            format=FORMAT,
            version=version("flagstaff"),
            revision=revisions()[-1],
            created_at=utcnow().isoformat(timespec="seconds"),
            dialect=engine.dialect.name,
            digest=combined_digest(tables),
            tables=tables,
            files={path.name: _sha256(path) for path in sorted(folder.iterdir())},
        )
        sha256 = _pack(folder, manifest, file)
    summary = {
        "file": str(file.absolute()),
        "sha256": sha256,
        "createdAt": manifest.created_at,
        "rows": manifest.rows,
        "tables": len(tables),
        "digest": manifest.digest,
    }
    (home / LAST_BACKUP).write_text(f"{_json(summary)}\n")
    return summary


def name_with_time() -> str:
    """A file name that sorts by the time of the backup."""
    return f"flagstaff-{utcnow():%Y%m%dT%H%M%SZ}.zip"


def delete_old(made: Path, keep: int) -> list[str]:
    """Delete the backups of this instance next to ``made``, but not the newest ``keep``.

    A file is one if its name has a time and the event log has its SHA-256. Returns the names of
    those that were deleted.

    Raises:
        OperationFailed: if one can't be deleted.

    """
    query = sa.select(Event.data).where(Event.type == EventType.BACKUP_CREATED)
    digests = {Path(data["file"]).name: data["sha256"] for data in db.session.scalars(query)}
    names = {path.name for path in made.parent.iterdir() if NAME_WITH_TIME.fullmatch(path.name)}
    older = sorted((names & digests.keys()) - {made.name}, reverse=True)
    old = older[keep - 1 :]
    try:
        deleted = [name for name in old if _sha256(made.parent / name) == digests[name]]
        for name in deleted:
            (made.parent / name).unlink()
    except OSError as error:
        raise OperationFailed(
            f"The backup {made} is complete, but an older one can't be deleted: {error}"
        ) from error
    return deleted


def restore(settings: Settings, file: Path, progress: Progress, *, apply: bool) -> Manifest:
    """Check a backup and, with ``apply``, restore it into the empty instance of ``settings``.

    Nothing is changed until the whole backup has been checked.
    """
    url = sa.make_url(settings.database_url)
    manifest = _manifest(file)
    _refuse_unless_restorable(manifest, url)
    with _temporary_folder_in(settings.home) as folder:
        with zipfile.ZipFile(file) as archive:
            archive.extractall(folder, manifest.files)
        database = folder / manifest.snapshots.file_name
        _refuse_unless_same(manifest, manifest.snapshots.check(database, progress))
        if apply:
            _refuse_unless_same(manifest, manifest.snapshots.load(url, database, progress))
            _replace_home_files(folder, settings.home)
    return manifest


def last_backup(home: Path) -> datetime | None:
    """When the instance in this folder was last backed up, None if that is unknown."""
    try:
        return datetime.fromisoformat(json.loads((home / LAST_BACKUP).read_text())["createdAt"])
    except (OSError, KeyError, ValueError):
        return None


@contextmanager
def _temporary_folder_in(parent: Path) -> Iterator[Path]:
    """A folder that only its owner can read, on the same disk as the final file."""
    if not parent.is_dir():
        raise OperationFailed(f"The folder {parent} does not exist.")
    with TemporaryDirectory(prefix=".flagstaff-", dir=parent) as name:
        yield Path(name)


def _pack(folder: Path, manifest: Manifest, file: Path) -> str:
    """Pack the folder into ``file``, which appears once it is checked. Returns its SHA-256."""
    packed = folder / "packed"
    with zipfile.ZipFile(packed, "x", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, f"{_json(asdict(manifest))}\n")
        for name in manifest.files:
            archive.write(folder / name, name)
    with packed.open("rb") as written:
        os.fsync(written.fileno())
    _manifest(packed)  # reads every file back and checks it
    sha256 = _sha256(packed)
    _refuse_to_replace(file)  # again, because packing takes long
    packed.rename(file)
    return sha256


def _refuse_to_replace(file: Path) -> None:
    if file.exists():
        raise OperationFailed(f"{file} already exists and was not changed. Choose another name.")


def _manifest(file: Path) -> Manifest:
    """The manifest of a backup, after checking every file in it.

    Raises:
        OperationFailed: if a file is missing or damaged.

    """
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = Manifest.parse(archive.read(MANIFEST))
            database = manifest.snapshots.file_name
            if not {database} <= set(manifest.files) <= {database, *HOME_FILES}:
                raise _not_a_backup()
            for name, expected in manifest.files.items():
                with archive.open(name) as packed:
                    if file_digest(packed, "sha256").hexdigest() != expected:  # type: ignore[arg-type] # it reads like a file
                        raise OperationFailed(
                            f"The backup is damaged: {name} does not match its checksum."
                        )
    except UNREADABLE:
        raise _not_a_backup() from None
    return manifest


def _not_a_backup() -> OperationFailed:
    return OperationFailed("The file is damaged, or not a backup created by Flagstaff.")


def _refuse_unless_restorable(manifest: Manifest, url: sa.URL) -> None:
    """Check the kind of database, that it is empty, and that this version can read the backup."""
    if manifest.revision not in revisions():
        raise OperationFailed(
            f"This backup was created by Flagstaff {manifest.version}. This version "
            f"({version('flagstaff')}) is older. Install that version or a newer one."
        )
    if url.get_backend_name() != manifest.dialect:
        raise OperationFailed(
            f"This is a backup of a {manifest.dialect} database. Restore it into such a database, "
            "then move it: flagstaff db move --to URL"
        )
    found = tables_in(url)
    if found:
        raise OperationFailed(
            f"{url.render_as_string()} is not empty: it has {len(found)} tables. Nothing was "
            "changed. Set FLAGSTAFF_HOME or FLAGSTAFF_DATABASE_URL to an empty instance, or move "
            "this database away first."
        )


def _refuse_unless_same(manifest: Manifest, found: dict[str, TableDigest] | None) -> None:
    changed = [] if found is None else differing_tables(manifest.tables, found)
    if changed:
        raise OperationFailed(
            f"The backup is damaged. These tables differ from its manifest: {', '.join(changed)}."
        )


def _replace_home_files(folder: Path, home: Path) -> None:
    """Replace the files of the home folder. Existing ones are renamed with a suffix."""
    for name in HOME_FILES:
        target = home / name
        if target.exists():
            target.replace(target.with_name(f"{name}{REPLACED_SUFFIX}"))
        if (folder / name).exists():
            (folder / name).replace(target)


def _sha256(file: Path) -> str:
    with file.open("rb") as source:
        return file_digest(source, "sha256").hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, indent=2)
