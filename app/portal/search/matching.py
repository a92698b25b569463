"""Conditions and ranks in SQL, for names of every alphabet on every database.

The databases fold the case of ASCII only, which takes PostgreSQL half as long as for all alphabets.
Words with other letters are searched in each way they can be written.
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
"""Characters between the parts of a name."""
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
    """Some word is not in the name, but in another text, such as a description."""


class _Folded(FunctionElement[str]):
    """A text with the letters of ASCII in lower case, to compare with LIKE."""

    type = sa.String()
    inherit_cache = True


@compiles(_Folded)
def _on_sqlite(element: _Folded, compiler: SQLCompiler, **kwargs: Any) -> str:
    # LIKE of SQLite folds them itself.
    return compiler.process(next(iter(element.clauses)), **kwargs)


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
    """Whether any of the columns is like any of the patterns, in which {} is the word."""
    return sa.or_(
        *(
            _Folded(column).like(pattern.replace("{}", form), escape=ESCAPE)
            for column in columns
            for form in _forms(word)
            for pattern in patterns
        )
    )


def _forms(word: str) -> list[str]:
    """Return the ways to write a word that differ if only ASCII is folded, escaped for LIKE."""
    forms = [word] if word.isascii() else [word, word.upper(), word.title()]
    return list(dict.fromkeys(_escaped(form.translate(_ascii_lower)) for form in forms))


def _escaped(text: str) -> str:
    return "".join(ESCAPE + char if char in ESCAPE + "%_" else char for char in text)


def rank(words: Sequence[str], names: Sequence[str]) -> Rank:
    """Return how well the words match something with these names."""
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
    """Return the name, and the rest of it after each joint."""
    return [name, *(name[at + 1 :] for at, char in enumerate(name) if char in JOINTS)]
