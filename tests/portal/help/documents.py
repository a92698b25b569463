"""Code blocks of README.md, CONTRIBUTING.md and docs/.

- ``bash`` runs in the tests, and prints the ``json`` or ``text`` block after it.
- ``python`` with a ``text`` block after it runs too. Other ``python`` and all ``jinja`` is taken
  from the file that the first line names; a line with ``…`` leaves lines out.
- ``sh`` is for people to type: each command exists.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTS = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *ROOT.glob("docs/*.md")]
)
ADDING = ROOT / "docs" / "adding.md"
"""Its code is not there yet: tests/rules/test_adding.py adds it."""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
VARYING = (
    (r"…", r".*?"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"),
    (r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", r"[0-9a-f-]{36}"),
    (r"127\.0\.0\.1:4242", r"127\.0\.0\.1:\d+"),
)


@dataclass(frozen=True, slots=True)
class Block:
    """``output``: of the block right after this one, if that shows what this one prints."""

    document: Path
    language: str
    text: str
    output: str | None = None

    @property
    def lines(self) -> list[str]:
        return [line for line in self.text.splitlines() if line.strip()]

    @property
    def runs(self) -> bool:
        return self.language == "bash" or (self.language == "python" and self.output is not None)


def blocks(document: Path) -> Iterator[Block]:
    text = document.read_text("utf-8")
    matches = list(BLOCK.finditer(text))
    for match, after in pairwise([*matches, None]):
        if match is None:
            return
        is_output = (
            after is not None
            and after[1] in {"json", "text"}
            and not text[match.end() : after.start()].strip()
        )
        output = after[2] if after is not None and is_output else None
        yield Block(document, match[1], match[2], output)


def all_blocks() -> list[Block]:
    return [block for document in DOCUMENTS for block in blocks(document)]


def matches(shown: str, printed: str) -> bool:
    """Whether this is what was printed, where times, ids, ports and … may differ."""
    return re.fullmatch(_pattern(shown), printed) is not None


def _pattern(text: str) -> str:
    """Expected output as a regular expression."""
    anything = "|".join(f"(?P<_{index}>{shape})" for index, (shape, _) in enumerate(VARYING))
    parts, end = [], 0
    for match in re.finditer(anything, text):
        parts.append(re.escape(text[end : match.start()]))
        parts.append(VARYING[int((match.lastgroup or "_0")[1:])][1])
        end = match.end()
    return "".join(parts) + re.escape(text[end:])
