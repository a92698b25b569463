"""Templates are compiled once for all processes of the tests, and kept for the next run."""

from pathlib import Path

from flask import Flask
from jinja2 import FileSystemBytecodeCache

FOLDER = Path(__file__).resolve().parents[2] / ".pytest_cache" / "templates"


def keep() -> None:
    """Let this process, and its forks, take compiled templates from the folder."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    Flask.jinja_options = {"bytecode_cache": FileSystemBytecodeCache(str(FOLDER))}
