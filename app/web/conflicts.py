"""Two people edit the same thing: the second one sees what the first one changed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from flask import flash, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.web import signing
from app.web.forms import SchemaForm, show_form, submit
from app.web.redirects import flash_with_undo

F = TypeVar("F", bound=SchemaForm)
Values = dict[str, Any]
"""The state of an object in its form: JSON values by field."""


class Difference(NamedTuple):
    """A field that has changed, in words."""

    label: str
    before: str
    after: str


class FieldConflict(NamedTuple):
    """A field that someone else has changed, with its three possible values, in words."""

    part: str
    label: str
    original: str
    theirs: str
    mine: str


@dataclass(frozen=True, slots=True)
class StaleEdit:
    """Detects that something changed while its form was open.

    ``subject`` names it, ``labels`` its fields; ``describe`` turns codes into words.
    """

    subject: str
    labels: Mapping[str, str]
    describe: Callable[[Values], Values] = dict

    def sign(self, settings: Values) -> str:
        """For the hidden field ``seen``."""
        return signing.sign("form", self.subject, settings)

    def seen(self) -> Values:
        """The state when the submitted form was opened."""
        signed = request.form.get("seen", "")
        settings: Values = signing.read("form", self.subject, signed)
        return settings

    def stale(self, present: Values) -> Values | None:
        """The state when the form was opened, if it has changed since; else None."""
        seen = self.seen()
        return None if seen == present else seen

    def differences(self, before: Values, after: Values) -> list[Difference]:
        before, after = self.describe(before), self.describe(after)
        return [
            Difference(label, display_value(before[part]), display_value(after[part]))
            for part, label in self.labels.items()
            if before[part] != after[part]
        ]

    def field_conflicts(self, seen: Values, present: Values, wanted: Values) -> list[FieldConflict]:
        """Fields that someone else changed since ``seen`` to a value other than ``wanted``."""
        return [
            FieldConflict(
                part, label, display_value(seen[part]), display_value(theirs), display_value(mine)
            )
            for part, label in self.labels.items()
            if (theirs := present[part]) not in (seen[part], mine := wanted[part])
        ]

    def taken_from_them(self) -> list[str]:
        """The fields for which the conflict page says to keep the other person's value."""
        if "back" in request.form:
            return []
        return [part for part in self.labels if request.form.get(f"take-{part}") == "theirs"]

    def show(
        self,
        template: str,
        form: SchemaForm,
        present: Values,
        stale: Values | None = None,
        **context: Any,
    ) -> ResponseReturnValue:
        """The page of the form; 409 with what has changed since the form showed ``stale``."""
        page, status = show_form(
            template,
            form,
            stale_edit=self.differences(stale, present) if stale else [],
            seen=self.sign(present),
            **context,
        )
        return page, 409 if stale else status


@dataclass(frozen=True, slots=True)
class EditPage(Generic[F]):
    """A page to edit something, which detects that someone else changed it while it was open.

    ``subject``: its name. ``present``: its state now, as the form shows it. ``context``: reads the
    rest of the page. ``labels``: if not those of the form. ``describe``: turns codes into words.
    """

    subject: str
    template: str
    form: F
    present: Values
    context: Callable[[], Mapping[str, Any]] = dict
    labels: Mapping[str, str] | None = None
    describe: Callable[[Values], Values] = dict

    def show(self, stale: Values | None = None) -> ResponseReturnValue:
        """The page; 409 with what has changed since the form showed ``stale``."""
        return self._edit.show(self.template, self.form, self.present, stale, **self.context())

    def save(
        self,
        command: Callable[[], object],
        saved: Callable[[], str],
        next_page: Response,
        *,
        batch: str | None = None,
    ) -> ResponseReturnValue:
        """Run ``command`` and return ``next_page``, with the message ``saved`` if anything changed.

        Shows the page again if the form is refused, or if someone else changed the thing first.
        ``batch``: of the events of the command, for Undo in the message.
        """
        if stale := self._edit.stale(self.present):
            return self.show(stale)
        changed = submit(self.form, command)
        if changed is None:
            return self.show()
        flash_saved(saved(), changed=changed, batch=batch)
        return next_page

    @property
    def _edit(self) -> StaleEdit:
        labels = self.form.labels if self.labels is None else self.labels
        return StaleEdit(self.subject, labels, self.describe)


def flash_saved(done: str, *, changed: object, batch: str | None = None) -> None:
    """Flash what was saved, if anything changed: with Undo, for what the ``batch`` did."""
    if not changed:
        flash("Nothing changed.", "ok")
    elif batch is None:
        flash(done, "ok")
    else:
        flash_with_undo(done, batch=batch, what="saving it")


def display_value(value: Any) -> str:
    """A value of a form as text for a page."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        value = [f"{name}: {number}" for name, number in sorted(value.items())]
    if isinstance(value, list):
        value = ", ".join(value)
    return str(value) or "nothing"
