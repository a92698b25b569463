"""Conditions and ranks in SQL, for names of every alphabet on every database.

Both databases are asked to fold the case of ASCII alone, which costs half of what PostgreSQL needs
for all alphabets; words with other letters are looked for in each way they can be written.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from app.core.search import Column

JOINTS = ".-_ "
"""What parts of a name begin after."""
ESCAPE = "\\"
_ascii_lower = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


class Rank(IntEnum):
    """How well a name matches; the smallest is the best."""

    EXACT = 0
    START = 1
    PARTS = 2
    """Each word starts a part of the name."""
    INSIDE = 3
    ELSEWHERE = 4
    """Some word is not in the name, but in what is beside it, such as a description."""


class _Folded(FunctionElement[str]):
    """A text with the capital letters of ASCII in lower case, to be compared with LIKE."""

    type = sa.String()
    inherit_cache = True


@compiles(_Folded)
def _on_sqlite(element: _Folded, compiler: SQLCompiler, **kwargs: Any) -> str:
    return compiler.process(next(iter(element.clauses)), **kwargs)  # its LIKE folds them itself


@compiles(_Folded, "postgresql")
def _on_postgresql(element: _Folded, compiler: SQLCompiler, **kwargs: Any) -> str:
    return f'lower(({compiler.process(next(iter(element.clauses)), **kwargs)}) COLLATE "C")'


def matches(words: Sequence[str], columns: Sequence[Column]) -> sa.ColumnElement[bool]:
    """Whether each word is in one of the columns."""
    return sa.and_(sa.true(), *(_any_like(columns, word, "%{}%") for word in words))


def starts(words: Sequence[str], names: Sequence[Column]) -> sa.ColumnElement[bool]:
    """Whether a name of a row starts with the words."""
    return _any_like(names, " ".join(words), "{}%")


def _any_like(columns: Sequence[Column], word: str, *patterns: str) -> sa.ColumnElement[bool]:
    """Whether one of the columns is like one of the patterns, in which {} is the word."""
    return sa.or_(
        *(
            _Folded(column).like(pattern.replace("{}", form), escape=ESCAPE)
            for column in columns
            for form in _forms(word)
            for pattern in patterns
        )
    )


def _forms(word: str) -> list[str]:
    """The ways to write a word, as patterns, that differ when only ASCII is folded."""
    forms = [word] if word.isascii() else [word, word.upper(), word.title()]
    return list(dict.fromkeys(_escaped(form.translate(_ascii_lower)) for form in forms))


def _escaped(text: str) -> str:
    return "".join(ESCAPE + char if char in ESCAPE + "%_" else char for char in text)


def rank(words: Sequence[str], names: Sequence[str]) -> Rank:
    """How well something matches that is called all these names."""
    folded, whole = [name.lower() for name in names], " ".join(words)
    if whole in folded:
        return Rank.EXACT
    if any(name.startswith(whole) for name in folded):
        return Rank.START
    parts = [part for name in folded for part in parts_of(name)]
    if all(any(part.startswith(word) for part in parts) for word in words):
        return Rank.PARTS
    if all(any(word in name for name in folded) for word in words):
        return Rank.INSIDE
    return Rank.ELSEWHERE


def parts_of(name: str) -> list[str]:
    """The name, and what remains of it after each joint."""
    return [name, *(name[at + 1 :] for at, char in enumerate(name) if char in JOINTS)]
