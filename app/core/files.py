"""Where the files are that are not Python: beside the package, and within it once installed."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_ROOT = _PACKAGE if (_PACKAGE / "templates").is_dir() else _PACKAGE.parent

TEMPLATES = _ROOT / "templates"
STATIC = _ROOT / "static"
MIGRATIONS = _ROOT / "migrations"
