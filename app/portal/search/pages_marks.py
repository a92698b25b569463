"""Names of hits as pages show them."""

import re
from collections.abc import Sequence

from markupsafe import Markup

from app.portal.search.matching import JOINTS
from app.web.templating import breakable


def marked(name: str, words: Sequence[str]) -> Markup:
    """The name, with what was looked for marked in it."""
    pieces, end = Markup(), 0
    for start, stop in _spans(name, words):
        pieces += breakable(name[end:start])
        pieces += Markup("<mark>{}</mark>").format(breakable(name[start:stop]))
        end = stop
    return pieces + breakable(name[end:])


def _spans(name: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Where the words are in the name, at the start of a part if they are there; none overlap."""
    found = []
    for word in words:
        at_start = rf"(?:(?<=[{re.escape(JOINTS)}])|^){re.escape(word)}"
        match = re.search(at_start, name, re.IGNORECASE) or re.search(
            re.escape(word), name, re.IGNORECASE
        )
        if match:
            found.append(match.span())
    spans: list[tuple[int, int]] = []
    for start, stop in sorted(found):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], stop))
        else:
            spans.append((start, stop))
    return spans
