"""HTML forms whose rules are a marshmallow schema: the one that the JSON API uses."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any, ClassVar, TypeVar

from flask import flash, g, render_template, request, session
from flask_wtf import FlaskForm
from markupsafe import Markup
from marshmallow import ValidationError, fields, validate
from werkzeug.wrappers import Response
from wtforms import Field, SelectField, StringField

from app.core.db import check_changes, db
from app.core.errors import DomainError, problems
from app.web.requests import REASON
from app.web.schemas import Schema, StrictBoolean, WholeNumber

T = TypeVar("T")
FLASHES = "_flashes"
"""Where Flask keeps them in the session."""

_is_number = re.compile(r"\s*-?[0-9]{1,16}\s*").fullmatch


class SchemaForm(FlaskForm):
    """WTForms draws and parses, ``schema`` decides; the blueprint has checked the CSRF token.

    After a successful ``validate()`` the loaded data is in ``values``. A field named ``reason``
    goes to the actor, for the events.
    """

    schema: ClassVar[type[Schema]]

    class Meta(FlaskForm.Meta):
        csrf = False

        def render_field(self, field: Field, render_kw: dict[str, Any]) -> Markup:
            """Link every input to its help and its errors, for screen readers."""
            notes = [f"{field.id}-help"] if field.description else []
            if field.errors:
                notes.append(f"{field.id}-error")
                render_kw["aria-invalid"] = "true"
            if notes:
                render_kw["aria-describedby"] = " ".join(notes)
            html: Markup = super().render_field(field, render_kw)
            return html

    def __init__(self, *, data: Mapping[str, Any] | None = None, empty: bool = False) -> None:
        """``data``: the initial values. ``empty``: ignore what was sent, for another form."""
        sent = request.form if request.method == "POST" else g.get("kept_form")
        self.sent = None if empty else sent
        super().__init__(formdata=self.sent, data=data)
        self.values: dict[str, Any] = {}
        self.rules = {n: f for n, f in self.schema().load_fields.items() if n in self}
        for name, rule in self.rules.items():
            _set_html_limits(self[name], rule)
            if isinstance(self[name], SelectField):
                self[name].validate_choice = False  # the schema checks it
        if "reason" in self:
            _set_html_limits(self.reason, REASON)

    def validate(self, extra_validators: Any = None) -> bool:
        if not super().validate(extra_validators):
            return False
        try:
            self.values = self.schema().load(self.payload())
        except ValidationError as error:
            self.show(problems(error.messages_dict))
        if "reason" in self:
            self._take_reason()
        return not self.problems

    def payload(self) -> dict[str, Any]:
        """The JSON that a client would send. A blank field is null, if null is allowed."""
        return {
            rule.data_key or name: value
            for name, rule in self.rules.items()
            if (value := _as_json(self[name], rule)) is not None or rule.allow_none
        }

    @classmethod
    def inputs_of(cls, thing: object) -> dict[str, Any]:
        """Initial values of the form's fields, from the attributes of ``thing``."""
        names = (name for name in cls.schema().load_fields if hasattr(cls, name))
        return as_inputs({name: getattr(thing, name) for name in names})

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the fields, without an explanation after a colon or a full stop."""
        return {
            field.short_name: re.split("[:.]", field.label.text)[0]
            for field in self
            if field.short_name in self.rules
        }

    def refuse(self, error: DomainError) -> None:
        """Show a refusal of a service at the fields that it is about."""
        if error.details:
            self.show((d["path"], d["message"]) for d in error.details)
        else:
            self.show([(error.field or "", error.on_page)])

    def show(self, problems: Iterable[tuple[str, str]]) -> None:
        """Put each message at the field that its path begins with, the rest on top of the page.

        A path is a JSON pointer into what a client would send, or the name of a field.
        """
        for path, message in problems:
            field = self.field_at(path)
            errors = self.form_errors if field is None else field.errors
            if message not in errors:
                # WTForms gives a field without errors a tuple instead of a list.
                if field is not None:
                    field.errors = [*errors, message]
                else:
                    self.form_errors.append(message)

    def field_at(self, path: str) -> Field | None:
        """The field that a path points into."""
        key = path.lstrip("/").partition("/")[0]
        names = {rule.data_key: name for name, rule in self.rules.items()}
        name = names.get(key, key)
        return self[name] if name in self else None  # noqa: SIM401 - a form is no dict

    @property
    def problems(self) -> list[tuple[str, str]]:
        """All problems, as (id of the input or "", message) for the summary."""
        problems = [("", message) for message in self.form_errors]
        for field in self:
            problems += [(field.id, f"{field.label.text}: {error}") for error in field.errors]
        return problems

    @property
    def carried(self) -> list[tuple[str, str]]:
        """The values as (name, value), for hidden fields of the page that comes next."""
        return [
            (field.name, str(value))
            for field in self
            for value in (field.data if isinstance(field.data, list) else [field.data])
            if value not in {None, False}
        ]

    def _take_reason(self) -> None:
        try:
            reason = REASON.deserialize(self.reason.data or "")
        except ValidationError as error:
            self.show([("reason", str(message)) for message in error.messages])
        else:
            g.actor = replace(g.actor, reason=reason or None)


class ReasonField(StringField):
    """Why something is done; recorded in the event log."""

    def __init__(self, label: str = "Reason", **kwargs: Any) -> None:
        super().__init__(label, description="Recorded in the event log.", **kwargs)


class ButtonForm(SchemaForm):
    """A form without fields: only a button."""

    schema = Schema


class ReasonForm(SchemaForm):
    """The last step of a review: asks for a reason only."""

    schema = Schema

    reason = ReasonField()


def as_inputs(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a schema as the fields of a form hold them."""
    return {name: _as_input(value) for name, value in values.items()}


def _as_input(value: Any) -> Any:
    if value is None:
        return ""
    return value if isinstance(value, bool | list | dict) else str(value)


def submit(form: SchemaForm, command: Callable[[], T]) -> T | None:
    """Run ``command`` if ``form`` was sent and is valid. Else return None; ``form`` says why.

    If the command is refused, its changes are rolled back.
    """
    if not form.validate_on_submit():
        return None
    flashed = len(session.get(FLASHES, ()))
    try:
        result = command()
        check_changes()
    except DomainError as error:
        is_gone = error.status == HTTPStatus.NOT_FOUND and error.field is None
        if is_gone or error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise  # nothing that the form can correct
        if not error.commits:
            db.session.rollback()
            if FLASHES in session:
                session[FLASHES] = session[FLASHES][:flashed]  # the command’s say what is undone
        form.refuse(error)
        return None
    return result


def submitted(form: SchemaForm, command: Callable[[], object]) -> bool:
    """Run a ``command`` without a result. Return whether it succeeded; see ``submit``."""
    return submit(form, lambda: [command()]) is not None


def flash_errors(form: SchemaForm, next_page: Response) -> Response:
    """Flash the form's problems for the page of ``next_page``, which doesn't show this form."""
    for _, message in form.problems:
        flash(message, "warn")
    return next_page


def show_form(template: str, form: SchemaForm, **context: Any) -> tuple[str, int]:
    """The page of a form: 400 if it was sent and refused."""
    return render_template(template, form=form, **context), 400 if form.problems else 200


def show_review(
    template: str, form: SchemaForm, facts: Any, shown: Any = None, **context: Any
) -> tuple[str, int]:
    """The page of a form that confirms ``facts``; 409 if they have changed since the last page.

    ``shown``: the facts of the last page, if it was confirmed and refused; else None.
    """
    page, status = show_form(template, form, **context)
    return page, status if shown is None or shown == facts else HTTPStatus.CONFLICT


def _as_json(field: Field, rule: fields.Field[Any]) -> Any:
    value = field.data
    if isinstance(value, str):
        blank = not value.strip()
        if blank and rule.allow_none:
            return None
        if isinstance(rule, WholeNumber):
            return int(value) if _is_number(value) else None if blank else value
        if blank and isinstance(rule, fields.Enum | StrictBoolean):
            return None
    return value


def _set_html_limits(field: Field, rule: fields.Field[Any]) -> None:
    """Let the browser check what the schema will check: ``required`` and ``maxlength``."""
    # HTML allows a required select only with an empty first option. Without one it has a value.
    has_value = isinstance(field, SelectField) and not _is_empty_first(field)
    field.flags.required = rule.required and not has_value
    for validator in rule.validators:
        if isinstance(validator, validate.Length) and validator.max:
            field.flags.maxlength = validator.max


def _is_empty_first(field: SelectField) -> bool:
    first = next(iter(field.iter_choices()), None)
    return first is not None and first.value == ""
