"""Two people changed the same thing: the later one is told, and loses nothing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from flask import request
from flask.typing import ResponseReturnValue

from app.core import plans
from app.core.actor import current_actor
from app.core.forms import SchemaForm, show_form

Values = dict[str, Any]
"""Something in the words of its form: what JSON can hold, by the name of the part."""


class Difference(NamedTuple):
    """One part that has changed, in words."""

    label: str
    before: str
    after: str


class Side(NamedTuple):
    """One part that differs, in words; ``is_mine`` says whether the later one has changed it."""

    part: str
    label: str
    original: str
    theirs: str
    mine: str
    is_mine: bool


@dataclass(frozen=True, slots=True)
class Watch:
    """What a form keeps an eye on while it is open.

    ``subject`` names it, ``labels`` its parts; ``say`` makes words of settings that are codes.
    """

    subject: str
    labels: Mapping[str, str]
    say: Callable[[Values], Values] = dict

    def seal(self, settings: Values) -> str:
        """For the hidden field ``seen``."""
        return plans.seal(current_actor, self.subject, settings)

    def seen(self) -> Values:
        """What was there when the form was opened that is sent now."""
        settings: Values = plans.opened(current_actor, self.subject, request.form.get("seen", ""))
        return settings

    def overtaken(self, present: Values) -> Values | None:
        """What was there when the form was opened, if somebody else has changed it since."""
        seen = self.seen()
        return None if seen == present else seen

    def differences(self, before: Values, after: Values) -> list[Difference]:
        before, after = self.say(before), self.say(after)
        return [
            Difference(label, in_words(before[part]), in_words(after[part]))
            for part, label in self.labels.items()
            if before[part] != after[part]
        ]

    def sides(self, seen: Values, present: Values, wanted: Values) -> list[Side]:
        """The parts in which ``present`` and ``wanted`` differ, both having begun as ``seen``."""
        return [
            Side(
                part,
                label,
                in_words(seen[part]),
                in_words(theirs),
                in_words(mine),
                mine != seen[part],
            )
            for part, label in self.labels.items()
            if (theirs := present[part]) != (mine := wanted[part])
        ]

    def taken_from_them(self) -> list[str]:
        """The parts for which theirs was chosen on the page that shows both sides."""
        return [part for part in self.labels if request.form.get(f"take-{part}") == "theirs"]

    def show(
        self,
        template: str,
        form: SchemaForm,
        present: Values,
        overtaken: Values | None = None,
        **context: Any,
    ) -> ResponseReturnValue:
        """The page of the form, which says what has changed if somebody was ``overtaken``: 409."""
        page, status = show_form(
            template,
            form,
            changed=self.differences(overtaken, present) if overtaken else [],
            seen=self.seal(present),
            **context,
        )
        return page, 409 if overtaken else status


def in_words(value: Any) -> str:
    """A value of a form for people's eyes."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        value = [f"{name}: {number}" for name, number in sorted(value.items())]
    if isinstance(value, list):
        value = ", ".join(value)
    return str(value) or "nothing"
