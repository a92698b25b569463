"""The files of a run are kept in memory: SQLite waits for the disk at each commit."""

import os
import tempfile
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")
NEEDED = 2 * 2**30
"""A run of all cases keeps half of it at once. Containers often give 64 MB."""


def use(config: pytest.Config) -> None:
    """Put temporary files into memory, unless there is little room, or no program may run there.

    The folder is of this run alone, and goes with it. Its workers know it by TMPDIR.
    """
    if "TMPDIR" in os.environ or not MEMORY.is_dir():
        return
    found = os.statvfs(MEMORY)
    if found.f_bavail * found.f_frsize > NEEDED and not found.f_flag & os.ST_NOEXEC:
        folder = tempfile.TemporaryDirectory(
            prefix="flagstaff-tests-", dir=MEMORY, ignore_cleanup_errors=True
        )
        config.add_cleanup(folder.cleanup)
        Path(folder.name).chmod(0o711)  # for the user who runs PostgreSQL where root runs the tests
        os.environ["TMPDIR"] = tempfile.tempdir = folder.name
