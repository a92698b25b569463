"""Evaluates features with Yggdrasil, the engine of Unleash's own SDKs.

Only this module uses that library. It bypasses the library's Python layer, which takes three times
as long and hides which features the engine could not read. So the version is pinned, and tests run
the client specification against this module.
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
_names_variants = re.compile(rb'"dependencies":\s*\[[^]]*"variants":\s*\[\s*"').search
_STAND_IN = {"name": "disabled", "weight": 1000, "payload": {"type": "none", "value": ""}}
"""A variant for parents without any. No one sees it: no real payload has such a type."""
_OF_STAND_IN = b'"payload":{"type":"none",'
_DISABLED = b'{"name":"disabled","enabled":false,"featureEnabled":true}'
_warning = re.compile(r'toggle_name: "(.*?)", message: "(.*?)" }', re.DOTALL).findall

_binary = yggdrasil._get_binary_path()  # noqa: SLF001 - the only way to it
_slow = ctypes.CDLL(_binary)
"""CDLL releases the GIL during a call: reading a state takes a tenth of a second."""
_quick = ctypes.PyDLL(_binary)
"""PyDLL keeps the GIL during a call: releasing it takes longer than an evaluation."""
_pointer, _text = ctypes.c_void_p, ctypes.c_char_p
_slow.new_engine.restype = _pointer
_slow.take_state.argtypes, _slow.take_state.restype = [_pointer, _text], _pointer
_slow.free_engine.argtypes, _slow.free_engine.restype = [_pointer], None
_quick.check_variant.restype = _pointer  # no argtypes: they make a call a third slower
_quick.free_response.argtypes, _quick.free_response.restype = [_pointer], None


class Verdict(NamedTuple):
    """Result of a feature for a context. ``variant``: ``disabled`` if there is none.

    ``payload``: as SDKs get it, ``{"type", "value"}``.
    """

    is_on: bool
    variant: str
    payload: Mapping[str, str] | None


class StateRefused(Exception):
    """The engine can't read a state at all."""


class Engine:
    """The features of one environment. They never change; after a change, make another engine.

    ``problems``: why the engine could not compile a feature, by name. Such a feature is off. Safe
    to use from several threads. A context without ``currentTime`` is evaluated as of when the
    state was read, so callers pass the time if any feature looks at it.

    Raises:
        StateRefused: if the engine can't read ``state``, the JSON that SDKs get.

    """

    def __init__(self, state: bytes) -> None:
        self._has_stand_ins = _names_variants(state) is not None
        if self._has_stand_ins:
            state = _with_stand_ins(state)
        self._engine = _pointer(_slow.new_engine())
        response = json.loads(_read_and_free(_slow.take_state(self._engine, state)))
        message = response["error_message"] or ""
        self.problems: dict[str, str] = dict(_warning(message))
        if response["status_code"] != "Ok" and not self.problems:
            raise StateRefused(message)

    def __del__(self) -> None:
        _slow.free_engine(self._engine)

    def verdict(self, name: str, context: bytes) -> Verdict | None:
        """Evaluate a feature; None if there is no such feature. ``context``: as JSON.

        Raises:
            Unavailable: if the engine can't read the context.

        """
        pointer = _quick.check_variant(self._engine, name.encode(), context, _NOTHING)
        response = json.loads(_read_and_free(pointer))
        if response["status_code"] == "Error":
            raise Unavailable
        value: dict[str, Any] | None = response["value"]
        if value is None:
            return None
        payload = value.get("payload")
        is_stand_in = payload == _STAND_IN["payload"]
        return Verdict(value["featureEnabled"], value["name"], None if is_stand_in else payload)

    def variant_if_on(self, name: bytes, context: bytes) -> bytes | None:
        """Return the variant of a feature as JSON; None if it is off for the context."""
        [found] = self.variants_if_on([name], context)
        return found

    def variants_if_on(self, names: Iterable[bytes], context: bytes) -> list[bytes | None]:
        """Return the variant of each feature as JSON; None if it is off for the context.

        Parses no JSON and calls no other functions, since with hundreds of features each call
        counts.
        """
        engine, ask, free = self._engine, _quick.check_variant, _quick.free_response
        read, start, end = ctypes.string_at, len(_OK), -len(_END)
        found = []
        for name in names:
            answer = ask(engine, name, context, _NOTHING)
            text = read(answer)
            free(answer)
            found.append(text[start:end] if text.endswith(_IS_ON) else None)
        if self._has_stand_ins:
            found = [_DISABLED if text and _OF_STAND_IN in text else text for text in found]
        return found


def _with_stand_ins(state: bytes) -> bytes:
    """The state in which each parent that a child needs a variant of has one in any case.

    The engine takes a parent without a variant as being in the right one. Other SDKs and Unleash
    take it as being in none.
    """
    content = json.loads(state)
    features = {feature["name"]: feature for feature in content["features"]}
    for rule in [r for each in features.values() for r in each.get("dependencies") or ()]:
        parent = features.get(rule["feature"])
        if rule.get("variants") and parent is not None and not parent.get("variants"):
            parent["variants"] = [_STAND_IN]
    return json.dumps(content).encode()


def _read_and_free(answer: int) -> bytes:
    """Copy the engine's answer, and free its memory."""
    try:
        return ctypes.string_at(answer)
    finally:
        _quick.free_response(answer)
