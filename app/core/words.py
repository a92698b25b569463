"""Numbers and names in sentences."""

from collections.abc import Iterable

SHOWN = 3
NAMES_SHOWN = 20


def spoken(names: Iterable[object], shown: int = SHOWN) -> str:
    """``a, b and 3 more``."""
    known = [str(name) for name in names]
    if len(known) > shown + 1:
        known = [*known[:shown], f"{len(known) - shown:,} more"]
    return " and ".join(filter(None, (", ".join(known[:-1]), *known[-1:])))


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 feature``, ``3 features``, ``2 properties`` (with ``many`` given)."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def initials(name: str) -> str:
    words = [word[0].upper() for word in name.split() if word[0].isalnum()]
    return "".join(words[:1] + words[1:][-1:]) or "?"


def listed(names: Iterable[str]) -> str:
    """``a, b and 3 more``: names for a message, cut to a readable length."""
    ordered = sorted(names)
    shown = ", ".join(ordered[:NAMES_SHOWN])
    rest = len(ordered) - NAMES_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown
