"""The folder on this machine: who can read it, on what disk it is, how full that is."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from app.cli.backup import LAST_BACKUP
from app.cli.doctor.findings import Finding, fine, warning, wrong
from app.cli.instance import HEADS
from app.config import KEY_FILE, Settings

OTHERS = stat.S_IRWXG | stat.S_IRWXO
MEGABYTE = 1_000_000
ENOUGH = 1_000 * MEGABYTE
TOO_LITTLE = 100 * MEGABYTE
SHARED = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "afs", "ceph", "glusterfs"}
"""File systems of other machines, on which SQLite's locks can't be relied on."""


def files(settings: Settings) -> Iterator[Finding]:
    """Only who runs the server may read what it keeps."""
    if os.name == "nt":  # there, rights are inherited from the folder
        return
    owner = settings.home.stat().st_uid
    if os.geteuid() not in {owner, 0}:
        yield wrong(
            "files",
            f"{settings.home} belongs to another user (number {owner}).",
            "Run this as the user who runs the server.",
        )
        return
    kept = [settings.home, *(file for file in _kept(settings) if file.exists())]
    found = [problem for path in kept if (problem := _access(path, owner))]
    yield from found or [fine("files", f"{len(kept)} looked at; others have no access.")]


def disk(settings: Settings) -> Iterator[Finding]:
    about = "disk"
    usage = shutil.disk_usage(settings.home)
    says = f"{usage.free // MEGABYTE:,} of {usage.total // MEGABYTE:,} MB are free."
    if usage.free < TOO_LITTLE:
        yield wrong(about, says, f"Make room on the disk of {settings.home}: it is about to fill.")
    elif usage.free < ENOUGH:
        yield warning(about, says, f"Make room on the disk of {settings.home}.")
    else:
        yield fine(about, says)
    kind = _file_system(settings.home)
    if kind in SHARED and settings.database_url.startswith("sqlite"):
        yield wrong(
            about,
            f"{settings.home} is on another machine's disk ({kind}).",
            "SQLite needs a local disk: move the folder, or use PostgreSQL (flagstaff db move).",
        )


def _access(path: Path, owner: int) -> Finding | None:
    """What is wrong with whose it is and who may read it; ``owner``: whose the folder is."""
    found = path.stat()
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid != owner:
        return wrong(
            "files",
            f"{path} does not belong to the folder's owner (but to number {found.st_uid}).",
            f"chown {owner} {quote(str(path))}; run commands as the user who runs the server.",
        )
    if mode & OTHERS:
        right = "700" if path.is_dir() else "600"
        return wrong(
            "files",
            f"Others on this machine have access to {path} (mode {mode:03o}).",
            f"chmod {right} {quote(str(path))}",
        )
    if not mode & stat.S_IWUSR:
        return wrong(
            "files",
            f"{path} can't be written (mode {mode:03o}).",
            f"chmod u+w {quote(str(path))}",
        )
    return None


def _kept(settings: Settings) -> Iterator[Path]:
    for name in (KEY_FILE, HEADS, LAST_BACKUP):
        yield settings.home / name
    if settings.database_url.startswith("sqlite:///"):
        database = settings.database_url.removeprefix("sqlite:///")
        for ending in ("", "-wal", "-shm"):
            yield Path(database + ending)


def _file_system(path: Path) -> str:
    """Its type, as Linux says; empty elsewhere."""
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return ""
    found = (line.split()[1:3] for line in mounts.read_text().splitlines())
    at = {Path(place.replace("\\040", " ")): kind for place, kind in found}
    return next((at[place] for place in (path, *path.parents) if place in at), "")
