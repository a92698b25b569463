"""Questions and answers in the shape that Unleash's playground has."""

from dataclasses import dataclass, field
from typing import Any

from marshmallow import ValidationError, fields, validate

from app.catalogue.constraints.schemas import ConstraintRow
from app.catalogue.strategies.schemas_variants import FeatureVariantRow, PayloadRow
from app.delivery.playground.matrix import Only
from app.web.schemas import Key, Multiline, QueryNumber, Schema, StrictList, Timestamp

ALL = "*"
MOST_FIELDS, LONGEST_VALUE = 500, 10_000
MOST_ENVIRONMENTS, MOST_PROJECTS = 50, 1_000

_name = Multiline(high=100)
_value = Multiline(low=0, high=LONGEST_VALUE)


@dataclass(frozen=True, slots=True)
class GivenContext:
    """``sent``: the whole context. ``values``: by field. ``invalid``: fields with nested values."""

    sent: dict[str, Any]
    values: dict[str, str] = field(default_factory=dict)
    invalid: list[str] = field(default_factory=list)


class ContextValues(fields.Field[GivenContext]):
    """The context of a person: fields of any name, directly or among ``properties``.

    Numbers and booleans are taken as their text, as SDKs send them.
    """

    default_error_messages = {  # noqa: RUF012 - marshmallow's own way to set it
        "invalid": "Must be an object.",
        "many": f"Must have at most {MOST_FIELDS} fields.",
    }

    def __init__(self, **kwargs: Any) -> None:
        metadata = {
            "type": "object",
            "additionalProperties": True,
            "description": "What an application says about the one who asks: userId, sessionId, "
            "remoteAddress, appName, environment, currentTime (without it, now), and properties.",
        }
        super().__init__(metadata=metadata | kwargs.pop("metadata", {}), **kwargs)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> GivenContext:
        if not isinstance(value, dict):
            raise self.make_error("invalid")
        found, faults = GivenContext(value), dict[str, Any]()
        inner = value.get("properties") or {}
        if not isinstance(inner, dict):
            raise ValidationError({"properties": [self.error_messages["invalid"]]})
        if len(value) + len(inner) > MOST_FIELDS:
            raise self.make_error("many")
        faults |= _take({name: each for name, each in value.items() if name != "properties"}, found)
        if problems := _take(inner, found):
            faults["properties"] = problems
        if faults:
            raise ValidationError(faults)
        return found


def _take(given: dict[str, Any], found: GivenContext) -> dict[str, list[str]]:
    """Add the valid values to ``found``. Return error messages for the others, by field."""
    faults: dict[str, list[str]] = {}
    for name, value in given.items():
        if isinstance(value, dict | list):
            found.invalid.append(name)
        elif value is not None:
            try:
                found.values.setdefault(_name.deserialize(name), _text(name, value))
            except ValidationError as error:
                faults[name] = [str(message) for message in error.messages]
    return faults


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text: str = _value.deserialize(str(value))
    if name == "currentTime" and text:
        at = Timestamp().deserialize(text)
        return str(Timestamp().serialize("at", {"at": at}))
    return text


class Projects(fields.Field[list[str] | None]):
    """``"*"``, which is None here, or a list of ids."""

    def __init__(self, **kwargs: Any) -> None:
        ids = {"type": "array", "items": {"type": "string"}, "maxItems": MOST_PROJECTS}
        metadata = {
            "oneOf": [{"type": "string", "enum": [ALL]}, ids],
            "description": "Ids, or * for all projects that you can see.",
        }
        super().__init__(metadata=metadata, **kwargs)
        self.ids = StrictList(Key())

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> list[str] | None:
        if value == ALL:
            return None
        if not isinstance(value, list):
            raise ValidationError("Must be * or a list of project ids.")
        if len(value) > MOST_PROJECTS:
            raise ValidationError(f"Must have at most {MOST_PROJECTS:,} projects.")
        return [str(id) for id in dict.fromkeys(self.ids.deserialize(value))]


class _Question(Schema):
    projects = Projects()
    context = ContextValues(required=True)


class Question(_Question):
    environment = Key(required=True)


class AdvancedQuestion(_Question):
    environments = StrictList(
        Key(),
        required=True,
        validate=validate.Length(
            min=1, max=MOST_ENVIRONMENTS, error="Name {min} to {max} environments."
        ),
        metadata={"maxItems": MOST_ENVIRONMENTS},
    )


class PageQuestion(Schema):
    """What the page asks besides who is asked about."""

    project = Key()
    feature = Key()
    shown = fields.Enum(Only, by_value=True, data_key="only")
    offset = QueryNumber(load_default=0)


_RESULT = {
    "anyOf": [{"type": "boolean"}, {"type": "string", "enum": ["unknown"]}],
    "description": "unknown: only applications know what a strategy of their own type does.",
}


class ConstraintResult(ConstraintRow):
    result = fields.Boolean()
    context_value = fields.String(
        allow_none=True, metadata={"description": "What it was compared with; null for nothing."}
    )


class SegmentResult(Schema):
    id = fields.Integer()
    name = fields.String()
    result = fields.Boolean()
    constraints = fields.List(fields.Nested(ConstraintResult))


class AnswerVariant(Schema):
    name = fields.String()
    enabled = fields.Boolean()
    payload = fields.Nested(PayloadRow)


class Outcome(Schema):
    enabled = fields.Raw(metadata=_RESULT)
    evaluation_status = fields.String(metadata={"enum": ["complete", "incomplete", "unevaluated"]})
    variant = fields.Nested(AnswerVariant, allow_none=True)
    falls_at = fields.Integer(
        allow_none=True,
        metadata={"description": "The least rollout, in percent, that reaches this context."},
    )
    random = fields.Boolean(
        metadata={"description": "Whether the next check may have another answer."}
    )


class Links(Schema):
    edit = fields.String(metadata={"description": "The page that edits the strategy."})


class StrategyResult(Schema):
    name = fields.String()
    id = fields.String()
    title = fields.String(allow_none=True)
    disabled = fields.Boolean()
    parameters = fields.Dict(keys=fields.String(), values=fields.String())
    result = fields.Nested(Outcome)
    constraints = fields.List(fields.Nested(ConstraintResult))
    segments = fields.List(fields.Nested(SegmentResult))
    links = fields.Nested(Links)


class StrategyResults(Schema):
    result = fields.Raw(metadata=_RESULT)
    data = fields.List(fields.Nested(StrategyResult))


class FeatureAnswer(Schema):
    name = fields.String()
    project_id = fields.String()
    is_enabled = fields.Boolean(metadata={"description": "Whether this context gets it."})
    is_enabled_in_current_environment = fields.Boolean()
    has_unsatisfied_dependency = fields.Boolean()
    variant = fields.Nested(AnswerVariant)
    variants = fields.List(fields.Nested(FeatureVariantRow))
    strategies = fields.Nested(StrategyResults)


class PlaceAnswer(FeatureAnswer):
    environment = fields.String()
    context = fields.Dict(keys=fields.String(), values=fields.Raw())


class AdvancedFeature(Schema):
    name = fields.String()
    project_id = fields.String()
    environments = fields.Dict(
        keys=fields.String(),
        values=fields.List(fields.Nested(PlaceAnswer)),
        metadata={"description": "By the environment: one answer for each combination of values."},
    )


class Warnings(Schema):
    invalid_context_properties = fields.List(
        fields.String(),
        metadata={"description": "Fields that were left out: their values are not plain ones."},
    )


class PlaygroundAnswer(Schema):
    input = fields.Dict(metadata={"description": "The question."})
    features = fields.List(fields.Nested(FeatureAnswer))
    warnings = fields.Nested(Warnings)


class AdvancedAnswer(PlaygroundAnswer):
    features = fields.List(fields.Nested(AdvancedFeature))
