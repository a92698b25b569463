"""Forms with lists: each entry has inputs like ``constraint-0-operator``."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NamedTuple

from flask import request

from app.web.conflicts import Values
from app.web.forms import SchemaForm

Inputs = dict[str, Any]
MAX_PARTS = 100


class PartKind(NamedTuple):
    """A kind of list in a form.

    ``path``: of the list in the JSON that a client would send. ``empty``: the inputs of a new
    entry; those that are False are check boxes. Several values of one input are lines of it.
    ``main``: the input that a problem links to.
    """

    path: str
    title: str
    empty: Mapping[str, str | bool]
    main: str


class PartsForm(SchemaForm):
    """A form with lists, and with buttons to add and remove their entries.

    ``parts``: the inputs of all entries, by kind. ``faults``: messages, by kind and number of the
    entry. ``focus``: the kind and number of the entry that was just added, or the kind of one that
    was removed and None.
    """

    kinds: ClassVar[Mapping[str, PartKind]]

    def __init__(self, data: Values) -> None:
        super().__init__(data=data)
        self.focus: tuple[str, int | None] | None = None
        self.faults: dict[str, dict[int, list[str]]] = {name: {} for name in self.kinds}
        self.parts: dict[str, list[Inputs]] = {
            name: list(data[kind.path]) if self.sent is None else _sent(self.sent, name, kind)
            for name, kind in self.kinds.items()
        }

    def show(self, problems: Iterable[tuple[str, str]]) -> None:
        super().show(
            (path, message) for path, message in problems if not self._show_at_entry(path, message)
        )

    @property
    def problems(self) -> list[tuple[str, str]]:
        return super().problems + [
            (f"{name}-{number}-{kind.main}", f"{kind.title} {number + 1}: {message}")
            for name, kind in self.kinds.items()
            for number, messages in sorted(self.faults[name].items())
            for message in messages
        ]

    def take_step(self) -> bool:
        """Add, remove or check, if such a button was pressed. Return whether any button was.

        The page is shown again then, with what fits what was chosen.
        """
        step = request.form.get("step", "")
        act, _, rest = step.partition("-")
        name, _, number = rest.partition("-")
        if name in self.kinds and act == "add" and len(self.parts[name]) < MAX_PARTS:
            self.focus = name, len(self.parts[name])
            self.parts[name].append(dict(self.kinds[name].empty))
        elif name in self.kinds and act == "remove" and re.fullmatch(r"\d{1,2}", number):
            self.focus = name, None
            del self.parts[name][int(number) : int(number) + 1]
        elif step == "check":
            self.validate()
        return bool(step)

    @property
    def carried(self) -> list[tuple[str, str]]:
        return super().carried + [
            (f"{name}-{number}-{key}", "y" if value is True else str(value))
            for name, entries in self.parts.items()
            for number, inputs in enumerate(entries)
            for key, value in inputs.items()
            if value
        ]

    def _show_at_entry(self, path: str, message: str) -> bool:
        """Show a problem at the entry that it is about. Return whether there is one."""
        for name, kind in self.kinds.items():
            if found := re.match(rf"/{kind.path}/(\d+)(/|$)", path):
                messages = self.faults[name].setdefault(int(found[1]), [])
                if message not in messages:
                    messages.append(message)
                return True
        return False


def _sent(form: Any, name: str, kind: PartKind) -> list[Inputs]:
    known = {int(found[1]) for key in form if (found := re.match(rf"{name}-(\d{{1,2}})-", key))}
    return [
        {
            key: f"{name}-{number}-{key}" in form
            if empty is False
            else "\n".join(form.getlist(f"{name}-{number}-{key}")).replace("\r\n", "\n")
            for key, empty in kind.empty.items()
        }
        for number in sorted(known)
    ]
