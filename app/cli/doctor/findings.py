"""What the doctor finds."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    FINE = "fine"
    WARNING = "warning"
    """Works, and will hurt some day."""
    WRONG = "wrong"
    """Does not work, or is not safe."""


@dataclass(frozen=True, slots=True)
class Finding:
    """``says`` what was seen; ``remedy`` what to do about it, where it is not fine."""

    about: str
    state: State
    says: str
    remedy: str = ""


def fine(about: str, says: str) -> Finding:
    return Finding(about, State.FINE, says)


def warning(about: str, says: str, remedy: str) -> Finding:
    return Finding(about, State.WARNING, says, remedy)


def wrong(about: str, says: str, remedy: str) -> Finding:
    return Finding(about, State.WRONG, says, remedy)
