"""Suggests a similar name if a search finds nothing."""

from collections.abc import Iterable

from app.core.actor import Actor
from app.core.search import Searched
from app.core.words import Spellings
from app.portal.search import sources
from app.portal.search.matching import JOINTS

SHORTEST, LONGEST = 3, 40
CANDIDATES = 300
LEAST_SIMILARITY = 70
_joints = str.maketrans(dict.fromkeys(f"{JOINTS}:@/…", " "))


def near(actor: Actor, text: str, searched: Iterable[Searched], known: Iterable[str]) -> str | None:
    """Return a name that the actor can see, or a part of one, that is spelled almost like the text.

    ``known``: other names, which are in no table.
    """
    if not SHORTEST <= len(text) <= LONGEST:
        return None
    pieces = _pieces(text.lower())
    names = list(known)
    for source in (one for one in searched if one.is_suggested):
        names += sources.names_with(actor, source, pieces, CANDIDATES)
    parts = dict.fromkeys(part for name in names for part in _candidates(name, text))
    similar = Spellings(list(parts)).most_similar(text, least=LEAST_SIMILARITY)
    return similar[0] if similar and similar[0].lower() != text.lower() else None


def _candidates(name: str, text: str) -> list[str]:
    """Return the name and its parts; only the name if the text has several parts too."""
    parts = name.translate(_joints).split()
    return [name] if len(text.translate(_joints).split()) > 1 else [name, *parts]


def _pieces(text: str) -> list[str]:
    """Split a text so that a name with one or two typos still contains one piece.

    Two pieces allow for one typo, three for two.
    """
    number = 2 if len(text) < 2 * SHORTEST else 3
    size = -(-len(text) // number)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return [piece for piece in pieces if len(piece) > 1] or [text]
