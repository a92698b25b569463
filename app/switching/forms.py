import re
from collections.abc import Iterable
from typing import Any, cast

from flask import request
from wtforms import BooleanField, SelectField, StringField

from app.constraints.models import Constraint, values_of
from app.constraints.operators import Operator
from app.constraints.words import VERBS, plain, told_all
from app.context.models import ContextField
from app.strategies import types
from app.strategies.models import Strategy
from app.strategies.schemas import StrategyChanges
from app.web.conflicts import Values
from app.web.forms import ReasonField, SchemaForm

PARTS = ("contextName", "operator", "values")
OPERATORS = [(operator.value, verbs[0]) for operator, verbs in VERBS.items()]
EMPTY = {"contextName": "", "operator": Operator.IN.value, "values": "", "inverted": False}


class StrategyForm(SchemaForm):
    """A rollout with its constraints, each of which has inputs like ``constraint-0-operator``.

    ``constraints``: what these inputs hold. ``faults``: what is wrong with each, by its number.
    """

    schema = StrategyChanges

    title = StringField("Title", description="Shown to people only; SDKs don’t get it.")
    rollout = StringField(
        "Rollout in percent",
        description="Share of the people who match everything below. Raise it, and everyone with "
        "the feature keeps it.",
    )
    stickiness = SelectField(
        "Stickiness", description="What keeps the answer the same for one person."
    )
    disabled = BooleanField("Paused: it never reaches SDKs")
    reason = ReasonField()

    def __init__(self, fields: Iterable[ContextField], data: Values) -> None:
        super().__init__(data=data)
        names = [*types.ALWAYS_STICKY, *(field.name for field in fields if field.stickiness)]
        self.stickiness.choices = list(dict.fromkeys(names))
        self.rollout.flags.required = True
        self.stickiness.validate_choice = False  # what may be chosen, the service says
        self.faults: dict[int, list[str]] = {}
        self.constraints = data["constraints"] if self.sent is None else _sent(self.sent)

    def payload(self) -> dict[str, Any]:
        return super().payload() | {
            "parameters": {"rollout": self.rollout.data, "stickiness": self.stickiness.data},
            "constraints": [_as_json(each) for each in self.constraints],
        }

    def show(self, problems: Iterable[tuple[str, str]]) -> None:
        rest = []
        for path, message in problems:
            if found := re.match(r"/constraints/(\d+)/", path):
                self.faults.setdefault(int(found[1]), []).append(message)
            else:
                rest.append((path.replace("/parameters", ""), message))
        super().show(rest)

    def field_at(self, path: str) -> Any:
        name = path.lstrip("/")
        return self[name] if name in {"rollout", "stickiness"} else super().field_at(path)

    @property
    def problems(self) -> list[tuple[str, str]]:
        return super().problems + [
            (f"constraint-{place}-values", f"Constraint {place + 1}: {message}")
            for place, messages in sorted(self.faults.items())
            for message in messages
        ]

    def take_step(self) -> bool:
        """Add or remove a constraint, if one of these buttons was pressed; whether it was."""
        step = request.form.get("step", "")
        if step == "add":
            self.constraints.append(dict(EMPTY))
        elif found := re.fullmatch(r"remove-(\d{1,2})", step):
            del self.constraints[int(found[1]) : int(found[1]) + 1]
        return bool(step)


def settings_of(strategy: Strategy) -> Values:
    """The strategy as the form's values."""
    return {
        "title": strategy.title or "",
        "rollout": strategy.parameters.get("rollout", ""),
        "stickiness": strategy.parameters.get("stickiness", ""),
        "disabled": strategy.disabled,
        "constraints": [_as_inputs(each) for each in strategy.constraints],
    }


def in_words(settings: Values) -> Values:
    """The settings with the constraints as a sentence."""
    constraints = [cast(Constraint, _as_json(each)) for each in settings["constraints"]]
    return settings | {"constraints": plain(told_all(constraints))}


def _sent(form: Any) -> list[dict[str, Any]]:
    numbers = {int(found[1]) for key in form if (found := re.match(r"constraint-(\d{1,2})-", key))}
    return [
        {part: form.get(f"constraint-{number}-{part}", "") for part in PARTS}
        | {"inverted": f"constraint-{number}-inverted" in form}
        for number in sorted(numbers)
    ]


def _as_inputs(constraint: Constraint) -> dict[str, Any]:
    return {
        "contextName": constraint["contextName"],
        "operator": constraint["operator"],
        "values": "\n".join(values_of(constraint)),
        "inverted": constraint["inverted"],
    }


def _as_json(inputs: dict[str, Any]) -> dict[str, Any]:
    """A constraint as clients send it. Values stand on lines or between commas."""
    known = inputs["operator"] in set(Operator)
    takes_list = known and Operator(inputs["operator"]).takes_list
    text = inputs["values"].strip()
    lines = [part.strip() for part in re.split(r"[\r\n,]+", text) if part.strip()]
    return {
        "contextName": inputs["contextName"],
        "operator": inputs["operator"],
        "inverted": inputs["inverted"],
        "caseInsensitive": False,
        **({"values": lines} if takes_list else {"value": text}),
    }
