"""Receipts in words, and as a bar."""

from collections.abc import Iterable
from typing import NamedTuple

from app.catalogue.receipts.arrival import Arrival
from app.catalogue.receipts.queries import Change
from app.catalogue.receipts.service import Counted, Receipts
from app.catalogue.receipts.states import State
from app.core.events.event_types import EventType
from app.core.words import counted


class Shown(NamedTuple):
    """A state on pages: its word, the look of its mark, and what it means for several."""

    word: str
    look: str
    meaning: str


STATES = {
    State.CONFIRMED: Shown("Confirmed", "ok", "They asked again and have the new state"),
    State.SENT: Shown("Sent", "sent", "They were given it and haven’t asked again yet"),
    State.WAITING: Shown("Waiting", "info", "They haven’t asked since the change"),
    State.SILENT: Shown("Silent", "warn", "Not heard from for 2 of their intervals"),
    State.CANT_TELL: Shown("Can’t tell", "open", "Behind a proxy, or the SDK gives no proof"),
}
"""Those that count, in the order of the bar and of the list below it."""
MEANINGS = {
    State.CONFIRMED: (
        "The instance asked again and named the new state. It answers with it.",
        "Nothing",
    ),
    State.SENT: (
        "It was given the new state. The proof comes when it asks again, usually in 15 seconds.",
        "Wait",
    ),
    State.WAITING: ("It hasn’t asked since the change. It does so within its interval.", "Wait"),
    State.SILENT: (
        "It hasn’t asked for 2 of its intervals. It may have ended, or still run as it was before.",
        "Check whether it still runs",
    ),
    State.CANT_TELL: (
        "It asks through a proxy, streams, shares its id, or its SDK never says what it has.",
        "Check it yourself",
    ),
    State.NOT_AFFECTED: ("What its token can read is the same before and after.", "Nothing"),
}
"""What a state of one instance means, and what to do."""
NEARLY = 0.9
OFF = {EventType.FEATURE_ENVIRONMENT_DISABLED, EventType.FEATURE_ARCHIVED}
WIDTH, GAP, LEAST = 1_000.0, 3.0, 5.0
"""Of the bar, between its parts, and of a part, so that two of 418 can be seen."""


class Part(NamedTuple):
    """A part of the bar."""

    state: State
    x: float
    width: float


def title(change: Change) -> str:
    return "Is it off everywhere?" if change.type in OFF else "Has it arrived?"


def lateness(change: Change) -> str:
    return "Not off everywhere" if change.type in OFF else "Not arrived everywhere"


def summary(found: Counted) -> str:
    """Say how many are in each state, as a text for the bar."""
    return ", ".join(text for text, _ in states(found))


def bar(found: Counted) -> list[Part]:
    """Return the parts of the bar, without empty ones."""
    numbers = {state: found.counts[state] for state in STATES if found.counts[state]}
    room = WIDTH - GAP * (len(numbers) - 1)
    widths = {state: max(LEAST, room * n / found.total) for state, n in numbers.items()}
    if widths:
        widest = max(widths, key=lambda state: widths[state])
        widths[widest] -= sum(widths.values()) - room
    parts, x = [], 0.0
    for state, width in widths.items():
        parts.append(Part(state, round(x, 1), round(width, 1)))
        x += width + GAP
    return parts


def verdict(receipts: Receipts) -> str:
    """Say whether a change has arrived, for people and the command line."""
    counts, total = receipts.counts, receipts.total
    if not total:
        return "No instance that reads this is running."
    done = counts[State.CONFIRMED]
    took = "" if receipts.slowest is None else f" after {counted(_seconds(receipts), 'second')}"
    if done == total:
        return f"Everywhere: {done:,} of {counted(total, 'instance')} confirmed{took}."
    is_waiting = counts[State.SENT] or counts[State.WAITING]
    nearly = "Nearly: " if done >= NEARLY * total and not is_waiting else ""
    return f"{nearly}{done:,} of {counted(total, 'instance')} confirmed{took}."


def rest(receipts: Receipts) -> list[str]:
    """Say what is known of those that have not confirmed, in sentences."""
    counts = receipts.counts
    return [
        f"{number:,} {one if number == 1 else several}."
        for state, one, several in (
            (State.SENT, "was sent the change", "were sent the change"),
            (State.WAITING, "has yet to ask", "have yet to ask"),
            (State.SILENT, "hasn’t been heard from", "haven’t been heard from"),
            (State.CANT_TELL, "can’t tell", "can’t tell"),
        )
        if (number := counts[state])
    ]


def _seconds(found: Counted) -> int:
    return 0 if found.slowest is None else round(found.slowest.total_seconds())


def states(found: Counted) -> list[tuple[str, str]]:
    """Say how many are in each state that any is in, with the look of its mark."""
    return [
        (f"{found.counts[state]:,} {shown.word.lower()}", shown.look)
        for state, shown in STATES.items()
        if found.counts[state]
    ]


def slowest(found: Counted) -> str:
    """Say how long the last that confirmed took."""
    if not found.counts[State.CONFIRMED]:
        return "Never"
    return "Unknown" if found.slowest is None else counted(_seconds(found), "second")


def ids(found: Counted, limit: int = 4) -> str:
    """Name those that have not confirmed; for many of them, some."""
    names = [one.process.id for one in found.missing()]
    more = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {more:,} more" if more > 0 else "")


def current(found: Iterable[Arrival]) -> str:
    """Say how many applications have the newest state wherever they run."""
    has_it: dict[str, bool] = {}
    for one in found:
        if one.total:
            all_confirmed = one.counts[State.CONFIRMED] == one.total
            has_it[one.application] = has_it.get(one.application, True) and all_confirmed
    done, number = sum(has_it.values()), counted(len(has_it), "running application")
    return f"{done:,} of {number} confirmed the newest state everywhere."
