"""The home folder: its permissions, its disk and the free space there."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from app.core.config import KEY_FILE, Settings
from app.operations.upkeep.backup import LAST_BACKUP
from app.operations.upkeep.checkpoints import HEADS
from app.operations.upkeep.doctor.findings import Finding, fine, warning, wrong

OTHERS = stat.S_IRWXG | stat.S_IRWXO
MEGABYTE = 1_000_000
ENOUGH = 1_000 * MEGABYTE
TOO_LITTLE = 100 * MEGABYTE
SHARED = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "afs", "ceph", "glusterfs"}
"""Network file systems, where SQLite's locks don't work reliably."""


def check_files(settings: Settings) -> Iterator[Finding]:
    """Check that only the user who runs the server can read its files."""
    if os.name == "nt":  # permissions are inherited from the folder there
        return
    owner = settings.home.stat().st_uid
    if os.geteuid() not in {owner, 0}:
        yield wrong(
            "files",
            f"{settings.home} belongs to another user (id {owner}).",
            "Run this command as the user who runs the server.",
        )
        return
    kept = [settings.home, *(file for file in _private_files(settings) if file.exists())]
    found = [problem for path in kept if (problem := _access(path, owner))]
    yield from found or [fine("files", f"{len(kept)} checked. No one else has access.")]


def check_disk(settings: Settings) -> Iterator[Finding]:
    about = "disk"
    usage = shutil.disk_usage(settings.home)
    says = f"{usage.free // MEGABYTE:,} of {usage.total // MEGABYTE:,} MB free."
    if usage.free < TOO_LITTLE:
        yield wrong(about, says, f"Free up space on the disk of {settings.home} now.")
    elif usage.free < ENOUGH:
        yield warning(about, says, f"Free up space on the disk of {settings.home}.")
    else:
        yield fine(about, says)
    kind = _file_system(settings.home)
    if kind in SHARED and settings.database_url.startswith("sqlite"):
        yield wrong(
            about,
            f"{settings.home} is on a network file system ({kind}).",
            "SQLite needs a local disk. Move the folder, or use PostgreSQL: flagstaff db move",
        )


def _access(path: Path, owner: int) -> Finding | None:
    """The problem of a path's owner or mode, if any. ``owner``: that of the home folder."""
    status = path.stat()
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid != owner:
        return wrong(
            "files",
            f"{path} belongs to user id {status.st_uid}, not to the owner of the folder.",
            f"chown {owner} {quote(str(path))}, and run commands as the user who runs the server.",
        )
    if mode & OTHERS:
        strict = "700" if path.is_dir() else "600"
        return wrong(
            "files",
            f"Other users of this machine have access to {path} (mode {mode:03o}).",
            f"chmod {strict} {quote(str(path))}",
        )
    if not mode & stat.S_IWUSR:
        return wrong(
            "files",
            f"{path} isn't writable (mode {mode:03o}).",
            f"chmod u+w {quote(str(path))}",
        )
    return None


def _private_files(settings: Settings) -> Iterator[Path]:
    for name in (KEY_FILE, HEADS, LAST_BACKUP):
        yield settings.home / name
    if settings.database_url.startswith("sqlite:///"):
        database = settings.database_url.removeprefix("sqlite:///")
        for ending in ("", "-wal", "-shm"):
            yield Path(database + ending)


def _file_system(path: Path) -> str:
    """The type of the path's file system on Linux; empty on other systems."""
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return ""
    mounted = (line.split()[1:3] for line in mounts.read_text().splitlines())
    # /proc/mounts writes a space as \040.
    at = {Path(place.replace("\\040", " ")): kind for place, kind in mounted}
    return next((at[place] for place in (path, *path.parents) if place in at), "")
