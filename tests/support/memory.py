"""The files of the tests are kept in memory: SQLite waits for the disk at each commit."""

import os
import tempfile
from pathlib import Path

FOLDER = Path("/dev/shm")
NEEDED = 2 * 2**30
"""A run of all cases keeps half of it at once. Containers often give 64 MB."""


def use() -> None:
    """Put temporary files into memory, unless there is little room, or no program may run there."""
    if "TMPDIR" in os.environ or not FOLDER.is_dir():
        return
    found = os.statvfs(FOLDER)
    if found.f_bavail * found.f_frsize > NEEDED and not found.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(FOLDER)
