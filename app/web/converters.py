"""What the parts of an address can be, and the rules that match addresses."""

from collections.abc import Callable
from functools import cache, partial
from hashlib import sha256
from typing import Any

from werkzeug.routing import BaseConverter, PathConverter, Rule


class KeyConverter(BaseConverter):
    """A project id or feature name in a path. With anything else, no route matches."""

    regex = r"(?!\.\.?\Z)[A-Za-z0-9_~.-]{1,100}"  # with a slash in it, routes are tried in turn


class RefConverter(BaseConverter):
    """A database id, the SHA-256 of an SDK token in hexadecimal, or the token itself.

    Views get its SHA-256 instead of the token, and so does the log.
    """

    regex = r"(?:[1-9][0-9]{0,8}|[0-9a-f]{64}|[^/:]+:[^/.]+\.[^/]+)"

    def to_python(self, value: str) -> str:
        return sha256(value.encode()).hexdigest() if ":" in value else value


class LineConverter(PathConverter):
    """Any line of text, also with slashes, but without NUL, which PostgreSQL refuses in texts."""

    regex = r"[^/\x00][^\x00\n]*?"


class TextConverter(LineConverter):
    """Such a line. If it ends in ``/overview``, another route has the address."""

    regex = r"[^/\x00](?:(?!/overview$)[^\x00\n])*"


class IdConverter(BaseConverter):
    """A database id in a path. Nine digits fit the integers of every database."""

    regex = r"[1-9][0-9]{0,8}"

    def to_python(self, value: str) -> int:
        return int(value)


CONVERTERS = {
    "key": KeyConverter,
    "id": IdConverter,
    "path": LineConverter,
    "ref": RefConverter,
    "text": TextConverter,
}


class LateRule(Rule):
    """Compiles its builder of addresses on first use: many rules never need one.

    Compiling all of them at once took a third of each start.
    """

    def _compile_builder(self, *unknown: bool) -> Callable[..., tuple[str, str]]:
        compiled = cache(partial(super()._compile_builder, *unknown))

        def build(*rule: Any, **values: Any) -> tuple[str, str]:
            return compiled()(*rule, **values)

        return build
