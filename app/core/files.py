"""Where the files are that are not Python."""

from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]

TEMPLATES = _ROOT / "templates"
STATIC = _ROOT / "static"
MIGRATIONS = _ROOT / "migrations"
