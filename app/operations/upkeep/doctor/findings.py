from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    FINE = "fine"
    WARNING = "warning"
    """Works now, but will cause a problem."""
    WRONG = "wrong"
    """Doesn't work, or isn't secure."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of a check, in words; ``remedy`` is empty if all is fine."""

    about: str
    state: Severity
    says: str
    remedy: str = ""


def fine(about: str, says: str) -> Finding:
    return Finding(about, Severity.FINE, says)


def warning(about: str, says: str, remedy: str) -> Finding:
    return Finding(about, Severity.WARNING, says, remedy)


def wrong(about: str, says: str, remedy: str) -> Finding:
    return Finding(about, Severity.WRONG, says, remedy)
