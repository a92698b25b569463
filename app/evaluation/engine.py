"""Evaluates features with Yggdrasil, the engine that Unleash's own SDKs have.

No other module knows that library. It is called past its Python layer, which takes three times as
long and keeps to itself what the engine could not read. So its version is pinned, and the client
specification is run against this module.
"""

import ctypes
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import yggdrasil_engine.engine as yggdrasil

from app.core.errors import Unavailable

_OK = b'{"status_code":"Ok","value":'
_END = b',"error_message":null}'
_IS_ON = b'"featureEnabled":true}' + _END
_NOTHING = b"{}"
_warning = re.compile(r'toggle_name: "(.*?)", message: "(.*?)" }', re.DOTALL).findall

_binary = yggdrasil._get_binary_path()  # noqa: SLF001 - the only way to it
_slow = ctypes.CDLL(_binary)
"""Its calls let other threads run: reading a state takes a tenth of a second."""
_quick = ctypes.PyDLL(_binary)
"""Its calls keep the interpreter lock: giving it away takes longer than an evaluation."""
_pointer, _text = ctypes.c_void_p, ctypes.c_char_p
_slow.new_engine.restype = _pointer
_slow.take_state.argtypes, _slow.take_state.restype = [_pointer, _text], _pointer
_slow.free_engine.argtypes, _slow.free_engine.restype = [_pointer], None
_quick.check_variant.restype = _pointer  # naming the types of arguments makes a call a third slower
_quick.free_response.argtypes, _quick.free_response.restype = [_pointer], None


class Verdict(NamedTuple):
    """What a feature is for a context. ``payload``: as SDKs get it, ``{"type", "value"}``.

    Without a variant, its name is ``disabled``.
    """

    is_on: bool
    variant: str
    payload: Mapping[str, str] | None


class StateRefused(Exception):
    """The engine can't read a state at all."""


class Engine:
    """The features of one environment. They never change; after a change, make another engine.

    ``problems``: why features are off that the engine could not compile, by their names. Safe to
    use from several threads. A context without ``currentTime`` is evaluated as of when the state
    was read, so callers name the time wherever a feature looks at it.

    Raises:
        StateRefused: when the engine can't read ``state``, the JSON that SDKs get.

    """

    def __init__(self, state: bytes) -> None:
        self._engine = _pointer(_slow.new_engine())
        found = json.loads(_taken(_slow.take_state(self._engine, state)))
        message = found["error_message"] or ""
        self.problems: dict[str, str] = dict(_warning(message))
        if found["status_code"] != "Ok" and not self.problems:
            raise StateRefused(message)

    def __del__(self) -> None:
        _slow.free_engine(self._engine)

    def verdict(self, name: str, context: bytes) -> Verdict | None:
        """What a feature is for a context, as JSON; None if there is no such feature.

        Raises:
            Unavailable: when the engine can't read the context.

        """
        answer = _quick.check_variant(self._engine, name.encode(), context, _NOTHING)
        found = json.loads(_taken(answer))
        if found["status_code"] == "Error":
            raise Unavailable
        value: dict[str, Any] | None = found["value"]
        if value is None:
            return None
        return Verdict(value["featureEnabled"], value["name"], value.get("payload"))

    def variant_if_on(self, name: bytes, context: bytes) -> bytes | None:
        """The variant of a feature as JSON, if it is on for the context."""
        [found] = self.variants_if_on([name], context)
        return found

    def variants_if_on(self, names: Iterable[bytes], context: bytes) -> list[bytes | None]:
        """For each feature its variant as JSON, if it is on for the context.

        Parses nothing, and calls nothing but the engine: for hundreds of features, each call of a
        function would count.
        """
        engine, ask, free = self._engine, _quick.check_variant, _quick.free_response
        read, start, end = ctypes.string_at, len(_OK), -len(_END)
        found = []
        for name in names:
            answer = ask(engine, name, context, _NOTHING)
            text = read(answer)
            free(answer)
            found.append(text[start:end] if text.endswith(_IS_ON) else None)
        return found


def _taken(answer: int) -> bytes:
    """What the engine answered; its memory goes back to it."""
    try:
        return ctypes.string_at(answer)
    finally:
        _quick.free_response(answer)
