"""Folders of files other than Python: next to the package, or inside it once installed."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_ROOT = _PACKAGE if (_PACKAGE / "templates").is_dir() else _PACKAGE.parent

TEMPLATES = _ROOT / "templates"
STATIC = _ROOT / "static"
MIGRATIONS = _ROOT / "migrations"


def revisions() -> list[str]:
    """The schema's revisions that this version knows, oldest first; the last is its own.

    Each is in a file named after it: 0001_….py.
    """
    return sorted(path.name.split("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))
