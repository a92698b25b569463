import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

from marshmallow import ValidationError
from wtforms import BooleanField, SelectField, SelectMultipleField, StringField

from app.catalogue.constraints import forms as constraints
from app.catalogue.constraints.models import Constraint
from app.catalogue.constraints.words import describe_all, plain
from app.catalogue.context.models import ContextField
from app.catalogue.segments.models import Segment
from app.catalogue.strategies import types
from app.catalogue.strategies.models import Strategy, Variant
from app.catalogue.strategies.schemas import StrategyChanges
from app.catalogue.strategies.schemas_variants import PAYLOAD_TYPES, thousandths
from app.releases.switching.schemas import CopyTargets
from app.web.conflicts import Values
from app.web.forms import ReasonField, SchemaForm
from app.web.listing import is_number
from app.web.parts import Inputs, PartKind, PartsForm

VARIANT = PartKind(
    path="variants",
    title="Variant",
    empty={
        "name": "",
        "weight": "",
        "rest": False,
        "stickiness": "",
        "payloadType": "",
        "payload": "",
    },
    main="name",
)
PAYLOADS = [("", "none"), *((type, type) for type in PAYLOAD_TYPES)]
STICKINESS_WORDS = {
    "default": "userId, then sessionId, then random",
    "random": "random: a new answer each time",
}


class CopyForm(SchemaForm):
    """``others``: the environments to choose from."""

    schema = CopyTargets

    targets = SelectMultipleField("Copy to", validate_choice=False)
    reason = ReasonField()

    def __init__(self, others: Iterable[str], chosen: Iterable[str]) -> None:
        super().__init__(data={"targets": list(chosen)})
        self.targets.choices = list(others)


class StrategyForm(PartsForm):
    """A strategy of any type, with its constraints, segments and variants.

    ``type``: its type. ``others``: the parameters of a type other than a rollout, as inputs like
    ``parameter-userIds``; ``wrong``: what is wrong with each.
    """

    schema = StrategyChanges
    kinds = {"constraint": constraints.KIND, "variant": VARIANT}  # noqa: RUF012 - read from the class

    title = StringField("Title", description="Shown to people only; SDKs don’t get it.")
    rollout = StringField(
        "Rollout in percent",
        description="Share of the people who match everything below. Raise it, and everyone with "
        "the feature keeps it.",
    )
    stickiness = SelectField(
        "Stickiness", description="What keeps the answer the same for one person."
    )
    segments = SelectMultipleField("Segments")
    disabled = BooleanField("Paused: it never reaches SDKs")
    reason = ReasonField()

    def __init__(
        self, fields: Sequence[ContextField], segments: Sequence[Segment], data: Values
    ) -> None:
        super().__init__(data)
        self.type: str = data["type"]
        self.known_fields = fields
        self.known_segments = segments
        names = [*types.ALWAYS_STICKY, *(field.name for field in fields if field.stickiness)]
        self.stickiness.choices = [
            (name, STICKINESS_WORDS.get(name, name)) for name in dict.fromkeys(names)
        ]
        self.segments.choices = [(str(segment.id), segment.name) for segment in segments]
        for field in (self.stickiness, self.segments):
            field.validate_choice = False  # the service checks it, with better messages
        self.wrong: dict[str, str] = {}
        self.others: dict[str, str] = data["parameters"]
        if self.sent is not None:
            self.others = {key: self.sent.get(f"parameter-{key}", "") for key in self.others}
        self.is_rollout = self.type == types.ROLLOUT
        self.rollout.flags.required = self.is_rollout
        if not self.is_rollout:
            del self.rollout, self.stickiness

    def payload(self) -> dict[str, Any]:
        found = super().payload() | {
            "name": self.type,
            "parameters": self._parameters(),
            "constraints": [constraints.as_json(each) for each in self.parts["constraint"]],
            "variants": [self._variant(each) for each in self.parts["variant"]],
        }
        if self.segments.choices or self.segments.data:
            found["segments"] = [int(id) for id in self.segments.data or () if is_number(id)]
        return found

    def draft(self) -> Strategy | None:
        """The strategy as it would be saved, for its sentence; None if something is wrong."""
        try:
            values = self.schema().load(self.payload())
        except ValidationError:
            return None
        chosen = set(values.get("segments", ()))
        known = types.TYPES.get(self.type, {})
        return Strategy(
            name=self.type,
            disabled=False,
            parameters=types.in_full(known, values["parameters"], {}),
            constraints=values["constraints"],
            segments=[each for each in self.known_segments if each.id in chosen],
            variants=values["variants"],
        )

    def show(self, problems: Iterable[tuple[str, str]]) -> None:
        rest = []
        for path, message in problems:
            key = path.removeprefix("/parameters/")
            if key in self.others:
                self.wrong[key] = message
            elif re.fullmatch(r"/variants/\d+/weight", path):
                rest.append((path, "Enter a weight from 0 to 100, with at most 1 decimal."))
            else:
                rest.append((f"/{key}" if path != key else path, message))
        super().show(rest)

    def field_at(self, path: str) -> Any:
        name = path.lstrip("/")
        return self[name] if name in self else super().field_at(path)

    @property
    def problems(self) -> list[tuple[str, str]]:
        wrong = [(f"parameter-{key}", f"{key}: {text}") for key, text in self.wrong.items()]
        return wrong + super().problems

    def _parameters(self) -> dict[str, Any]:
        if self.is_rollout:
            return {"rollout": self.rollout.data, "stickiness": self.stickiness.data}
        return {key: value for key, value in self.others.items() if value.strip()}

    def _variant(self, inputs: Inputs) -> dict[str, Any]:
        """A variant as clients send it. Without stickiness it gets that of the strategy."""
        own = self.stickiness.data if self.is_rollout else "default"
        found = {
            "name": inputs["name"],
            "weight": 0 if inputs["rest"] else thousandths(inputs["weight"]),
            "weightType": "variable" if inputs["rest"] else "fix",
            "stickiness": inputs["stickiness"] or own,
        }
        if inputs["payloadType"]:
            found["payload"] = {"type": inputs["payloadType"], "value": inputs["payload"]}
        return found


def form_data(strategy: Strategy, known: Sequence[str] = ()) -> Values:
    """The strategy as the form's values; ``known``: the parameters of a type that is no rollout."""
    return {
        "type": strategy.name,
        "title": strategy.title or "",
        "rollout": strategy.parameters.get("rollout", ""),
        "stickiness": strategy.parameters.get("stickiness", ""),
        "parameters": {key: strategy.parameters.get(key, "") for key in known},
        "disabled": strategy.disabled,
        "segments": [str(segment.id) for segment in strategy.segments],
        "constraints": [constraints.as_inputs(each) for each in strategy.constraints],
        "variants": [
            _as_inputs(each, strategy.parameters.get("stickiness")) for each in strategy.variants
        ],
    }


def display_values(settings: Values) -> Values:
    """The settings with lists as sentences."""
    found = [cast(Constraint, constraints.as_json(each)) for each in settings["constraints"]]
    return settings | {
        "constraints": plain(describe_all(found)),
        "variants": [
            f"{each['name']} {'the rest' if each['rest'] else each['weight'] + '%'}"
            for each in settings["variants"]
        ],
    }


def _as_inputs(variant: Variant, stickiness: str | None) -> Inputs:
    """``stickiness``: of the strategy. A variant with an equal one keeps following it."""
    payload = variant.get("payload", {"type": "", "value": ""})
    return {
        "name": variant["name"],
        "weight": f"{variant['weight'] / 10:g}",
        "rest": variant["weightType"] == "variable",
        "stickiness": "" if variant["stickiness"] == stickiness else variant["stickiness"],
        "payloadType": payload["type"],
        "payload": payload["value"],
    }
