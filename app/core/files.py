"""Folders of files other than Python: they stand next to the package ``app``, also installed."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

TEMPLATES = ROOT / "templates"
STATIC = ROOT / "static"
MIGRATIONS = ROOT / "migrations"
CHANGELOG = ROOT / "CHANGELOG.md"


def revisions() -> list[str]:
    """The schema's revisions that this version knows, oldest first; the last is its own.

    Each is in a file named after it: 0001_….py.
    """
    return sorted(path.name.split("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))
