import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

from flask import request
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
from app.catalogue.strategies.schemas_variants import PAYLOAD_TYPES, WEIGHTS, thousandths
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
        "rest": "",
        "stickiness": "",
        "payloadType": "",
        "payload": "",
    },
    main="name",
)
_is_rollout_step = re.compile(r"rollout-([0-9]{1,3})").fullmatch
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

    title = StringField("Title", description="Only shown in Flagstaff.")
    rollout = StringField(
        "Rollout in percent",
        description="The share of the people who match everything below. If you raise it later, "
        "no one loses the feature.",
    )
    stickiness = SelectField(
        "Stickiness",
        description="The field that decides who is in the share, so that people always get the "
        "same answer.",
    )
    segments = SelectMultipleField("Segments")
    shares = SelectField("Shares")
    disabled = BooleanField("Pause this strategy: applications don’t get it")
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
        self.shares.choices = [("equal", "Equal shares"), ("own", "Your own shares")]
        self.segments.choices = [(str(segment.id), segment.name) for segment in segments]
        for field in (self.stickiness, self.segments, self.shares):
            field.validate_choice = False  # the service checks it, with better messages
        self.wrong: dict[str, str] = {}
        self.others: dict[str, str] = data["parameters"]
        if self.sent is not None:
            self.others = {key: self.sent.get(f"parameter-{key}", "") for key in self.others}
        self.is_rollout = self.type == types.ROLLOUT
        self.rollout.flags.required = self.is_rollout
        if not self.is_rollout:
            del self.rollout, self.stickiness

    def take_step(self) -> bool:
        """Also set the rollout, and show which shares are equal ones."""
        found = _is_rollout_step(request.form.get("step", ""))
        if found and self.is_rollout:
            self.rollout.data = found[1]
        is_step = super().take_step()
        if is_step and self.shares.data == "equal":
            show_equal_shares(self.parts["variant"])
        return is_step

    def payload(self) -> dict[str, Any]:
        found = super().payload() | {
            "name": self.type,
            "parameters": self._parameters(),
            "constraints": [constraints.as_json(each) for each in self.parts["constraint"]],
            "variants": self._variants(),
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

    def _variants(self) -> list[dict[str, Any]]:
        """The variants as clients send them.

        One without a share of its own takes what is left. If all have one, that is the one that
        took it before, or the last.
        """
        found = [self._variant(each) for each in self.parts["variant"]]
        if found and all(each["weightType"] == "fix" for each in found):
            before = [inputs["rest"] for inputs in self.parts["variant"]]
            place = before.index("y") if "y" in before else -1
            if sum(each["weight"] for each in found if isinstance(each["weight"], int)) == WEIGHTS:
                found[place]["weightType"] = "variable"
        return found

    def _variant(self, inputs: Inputs) -> dict[str, Any]:
        """Without stickiness it gets that of the strategy."""
        own = self.stickiness.data if self.is_rollout else "default"
        takes_rest = self.shares.data == "equal" or not inputs["weight"].strip()
        found = {
            "name": inputs["name"],
            "weight": 0 if takes_rest else thousandths(inputs["weight"]),
            "weightType": "variable" if takes_rest else "fix",
            "stickiness": inputs["stickiness"] or own,
        }
        if type := inputs["payloadType"] or ("string" if inputs["payload"] else ""):
            found["payload"] = {"type": type, "value": inputs["payload"]}
        return found


def show_equal_shares(variants: list[Inputs]) -> None:
    """Let the inputs of variants show equal shares."""
    for inputs in variants:
        inputs["weight"] = f"{100 / len(variants):.1f}".removesuffix(".0")


def form_data(strategy: Strategy, known: Sequence[str] = ()) -> Values:
    """The strategy as the form's values; ``known``: the parameters of a type that is no rollout."""
    variants, stickiness = strategy.variants, strategy.parameters.get("stickiness")
    sharing = [each["weightType"] == "variable" for each in variants]
    return {
        "type": strategy.name,
        "title": strategy.title or "",
        "rollout": strategy.parameters.get("rollout", ""),
        "stickiness": strategy.parameters.get("stickiness", ""),
        "parameters": {key: strategy.parameters.get(key, "") for key in known},
        "disabled": strategy.disabled,
        "segments": [str(segment.id) for segment in strategy.segments],
        "constraints": [constraints.as_inputs(each) for each in strategy.constraints],
        "shares": "equal" if all(sharing) else "own",
        "variants": [
            _as_inputs(each, stickiness, shows_weight=all(sharing) or sharing.count(True) == 1)
            for each in variants
        ],
    }


def display_values(settings: Values) -> Values:
    """The settings with lists as sentences."""
    found = [cast(Constraint, constraints.as_json(each)) for each in settings["constraints"]]
    return settings | {
        "constraints": plain(describe_all(found)),
        "variants": [
            f"{each['name']} {each['weight'] + '%' if each['weight'] else 'the rest'}"
            for each in settings["variants"]
        ],
    }


def _as_inputs(variant: Variant, stickiness: str | None, *, shows_weight: bool) -> Inputs:
    """``stickiness``: of the strategy. A variant with an equal one keeps following it.

    ``shows_weight``: also of a variant that shares what the others leave.
    """
    payload = variant.get("payload", {"type": "", "value": ""})
    is_variable = variant["weightType"] == "variable"
    return {
        "name": variant["name"],
        "weight": "" if is_variable and not shows_weight else f"{variant['weight'] / 10:g}",
        "rest": "y" if is_variable else "",
        "stickiness": "" if variant["stickiness"] == stickiness else variant["stickiness"],
        "payloadType": payload["type"],
        "payload": payload["value"],
    }
