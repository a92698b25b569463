"""Backups: one file with all that an instance is, and the way back from it.

The file is a ZIP archive, so that it can be looked into without Flagstaff: the database (a SQLite
file, or what pg_dump writes), the secret key if the home folder has it, where the event log ended,
and a manifest with the version, the revision, and the counts and digests of all tables.
"""

import json
import os
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import file_digest
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import click
import sqlalchemy as sa

from app.cli.commands import Said, json_option, say
from app.cli.instance import HEADS, opened, settings_with_home
from app.cli.snapshots import SNAPSHOTS, Snapshots, tables_in
from app.cli.tallies import Tally, differing, digest_of
from app.config import KEY_FILE
from app.core import migrations
from app.core.db import db, utcnow

FORMAT = 1
MANIFEST = "manifest.json"
ALONG = (KEY_FILE, HEADS)
"""Files of the home folder without which the database is not the same instance."""
LAST_BACKUP = "last_backup.json"
"""In the home folder: when a backup was last made, and where; ``flagstaff doctor`` reads it."""
REPLACED = ".before-restore"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself."""

    format: int
    version: str
    revision: str
    created_at: str
    dialect: str
    digest: str
    tables: dict[str, Tally]
    files: dict[str, str]
    """The sha256 of each file in the archive."""

    @classmethod
    def parse(cls, text: bytes) -> Self:
        try:
            found = json.loads(text)
            if found["format"] != FORMAT:
                raise click.ClickException(
                    f"This backup was made by Flagstaff {found['version']} in a form that "
                    f"{version('flagstaff')} does not know. Install that version, or a newer one."
                )
            tables = {name: Tally(*tally) for name, tally in found.pop("tables").items()}
            return cls(tables=tables, **found)
        except (KeyError, TypeError, ValueError):
            raise _no_backup() from None

    @property
    def rows(self) -> int:
        return sum(tally.rows for tally in self.tables.values())

    @property
    def snapshots(self) -> Snapshots:
        return SNAPSHOTS[self.dialect]


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@json_option
def backup(file: Path, *, as_json: bool) -> None:
    """Write all that this instance is into FILE, and keep FILE if everything is in it.

    The server may go on serving meanwhile. FILE holds whatever the instance holds, the secret key
    too: keep it where nobody else can read it, and not on the same disk.
    """
    _refuse_to_replace(file)
    with opened() as settings, _folder_in(file.absolute().parent) as folder:
        if not migrations.is_current(db.engine):
            raise click.ClickException("Migrate this database first: flagstaff db upgrade")
        for name in ALONG:  # before the database, which may go on meanwhile
            if (settings.home / name).exists():
                shutil.copyfile(settings.home / name, folder / name)
        dialect = db.engine.dialect.name
        snapshots = SNAPSHOTS[dialect]
        tables = snapshots.save(db.engine, folder / snapshots.file_name, quiet=as_json)
        manifest = Manifest(
            format=FORMAT,
            version=version("flagstaff"),
            revision=migrations.known()[-1],
            created_at=utcnow().isoformat(timespec="seconds"),
            dialect=dialect,
            digest=digest_of(tables),
            tables=tables,
            files={path.name: _sha256(path) for path in sorted(folder.iterdir())},
        )
        sha256 = _pack(folder, manifest, file)
    made = {
        "file": str(file.absolute()),
        "sha256": sha256,
        "createdAt": manifest.created_at,
        "rows": manifest.rows,
        "digest": manifest.digest,
    }
    (settings.home / LAST_BACKUP).write_text(f"{_text(made)}\n")
    text = (
        f"Backed up {manifest.rows:,} rows of {len(tables)} tables into {file}\n"
        f"sha256 of the file  {sha256}\ndigest of the rows  {manifest.digest}"
    )
    say(Said(made, text), as_json=as_json)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--yes", is_flag=True, help="Restore it; without this, FILE is checked and no more.")
@json_option
def restore(file: Path, *, yes: bool, as_json: bool) -> None:
    """Check the backup FILE and, with --yes, make an empty instance what it was.

    The instance is the one that FLAGSTAFF_HOME and FLAGSTAFF_DATABASE_URL name. Its database must
    be empty. Nothing is changed before the whole backup has been read and checked.
    """
    settings = settings_with_home()
    url = sa.make_url(settings.database_url)
    manifest = _manifest(file)
    _refuse_unless_it_fits(manifest, url)
    with _folder_in(settings.home) as folder:
        with zipfile.ZipFile(file) as archive:
            archive.extractall(folder, manifest.files)
        database = folder / manifest.snapshots.file_name
        _compare(manifest, manifest.snapshots.check(database, quiet=as_json))
        if yes:
            _compare(manifest, manifest.snapshots.load(url, database, quiet=as_json))
            _bring_along(folder, settings.home)
    told = {
        "restored": yes,
        "version": manifest.version,
        "createdAt": manifest.created_at,
        "rows": manifest.rows,
        "digest": manifest.digest,
    }
    where = url.render_as_string()
    text = (
        f"Made at {manifest.created_at} by Flagstaff {manifest.version}\n"
        f"{manifest.rows:,} rows of {len(manifest.tables)} tables, all there\n"
        f"digest of the rows  {manifest.digest}\n"
    )
    done = f"Nothing was changed. To restore it into {where} add --yes"
    say(Said(told, text + (f"Restored into {where}" if yes else done)), as_json=as_json)


def last_backup(home: Path) -> datetime | None:
    """When the last backup of the instance in this folder was made, if that is known."""
    try:
        return datetime.fromisoformat(json.loads((home / LAST_BACKUP).read_text())["createdAt"])
    except (OSError, KeyError, ValueError):
        return None


@contextmanager
def _folder_in(parent: Path) -> Iterator[Path]:
    """A folder for a while, for its owner alone, on the disk where the outcome is to be."""
    if not parent.is_dir():
        raise click.ClickException(f"There is no folder {parent}.")
    with TemporaryDirectory(prefix=".flagstaff-", dir=parent) as name:
        yield Path(name)


def _pack(folder: Path, manifest: Manifest, file: Path) -> str:
    """Put the folder into ``file``, read back and whole, or not at all; its sha256."""
    packed = folder / "packed"
    with zipfile.ZipFile(packed, "x", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, f"{_text(asdict(manifest))}\n")
        for name in manifest.files:
            archive.write(folder / name, name)
    with packed.open("rb") as written:
        os.fsync(written.fileno())
    _manifest(packed)
    sha256 = _sha256(packed)
    _refuse_to_replace(file)
    packed.rename(file)
    return sha256


def _refuse_to_replace(file: Path) -> None:
    if file.exists():
        raise click.ClickException(f"{file} is there already, and was left as it is.")


def _manifest(file: Path) -> Manifest:
    """What a backup says of itself, once every file in it has been read.

    Raises:
        ClickException: when anything is missing, or not as it was packed.

    """
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = Manifest.parse(archive.read(MANIFEST))
            database = manifest.snapshots.file_name
            if not {database} <= set(manifest.files) <= {database, *ALONG}:
                raise _no_backup()
            for name, expected in manifest.files.items():
                with archive.open(name) as packed:
                    if file_digest(packed, "sha256").hexdigest() != expected:  # type: ignore[arg-type] # it reads like a file
                        raise click.ClickException(
                            f"The backup is damaged: {name} is not as it was packed."
                        )
    except (zipfile.BadZipFile, KeyError):
        raise _no_backup() from None
    return manifest


def _no_backup() -> click.ClickException:
    return click.ClickException("The file is damaged, or no backup that Flagstaff made.")


def _refuse_unless_it_fits(manifest: Manifest, url: sa.URL) -> None:
    """Before anything is changed: the right kind of database, empty, and code that knows it."""
    if manifest.revision not in migrations.known():
        raise click.ClickException(
            f"This backup was made by Flagstaff {manifest.version}, which is newer than this "
            f"({version('flagstaff')}). Install that version, or a newer one."
        )
    if url.get_backend_name() != manifest.dialect:
        raise click.ClickException(
            f"This is a backup of a {manifest.dialect} database. Restore it into one, and then "
            "move: flagstaff db move --to URL"
        )
    found = tables_in(url)
    if found:
        raise click.ClickException(
            f"{url.render_as_string()} is not empty: it has {len(found)} tables. Nothing was "
            "changed; name another FLAGSTAFF_HOME or FLAGSTAFF_DATABASE_URL, or move it away."
        )


def _compare(manifest: Manifest, found: dict[str, Tally] | None) -> None:
    wrong = [] if found is None else differing(manifest.tables, found)
    if wrong:
        raise click.ClickException(f"Not as it was when it was backed up: {', '.join(wrong)}.")


def _bring_along(folder: Path, home: Path) -> None:
    """The files beside the database; what was there under their names is kept under another."""
    for name in ALONG:
        kept = home / name
        if kept.exists():
            kept.replace(kept.with_name(f"{name}{REPLACED}"))
        if (folder / name).exists():
            (folder / name).replace(kept)


def _sha256(file: Path) -> str:
    with file.open("rb") as found:
        return file_digest(found, "sha256").hexdigest()


def _text(value: Any) -> str:
    return json.dumps(value, indent=2)
