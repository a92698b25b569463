from typing import Any

from marshmallow import fields, post_load, validate

from app.catalogue.constraints.schemas import ConstraintRow
from app.catalogue.releases.models import MAX_DESCRIPTION, MAX_NAME, MAX_STEPS, MAX_WAIT
from app.catalogue.strategies.models import MAX_STRATEGIES
from app.catalogue.strategies.schemas import NewStrategy
from app.catalogue.strategies.schemas_variants import VariantRow
from app.web.listing import PageQuery
from app.web.schemas import (
    Ignored,
    Key,
    Schema,
    SingleLine,
    StrictBoolean,
    StrictList,
    Timestamp,
    WholeNumber,
)


class TransitionCondition(Schema):
    """When the next step can start."""

    type = fields.String(
        validate=validate.OneOf(["time"], error="Only “time” is known here."),
        metadata={"description": "“time”, which is also what it is without this."},
    )
    interval_minutes = WholeNumber(
        low=1,
        high=MAX_WAIT,
        required=True,
        metadata={"description": "How long the next step waits at least."},
    )
    manual = StrictBoolean(
        load_default=False,
        metadata={"description": "Someone starts the next step, once it has waited."},
    )


class NewMilestoneStrategy(NewStrategy):
    """A strategy of a step; accepts what a read returns."""

    id = Ignored()
    milestone_id = Ignored()
    strategy_name = Ignored()
    summary = Ignored()


class NewMilestone(Schema):
    """A step; accepts what a read returns."""

    name = SingleLine(high=MAX_NAME, required=True)
    sort_order = WholeNumber(
        low=0, high=1_000, metadata={"description": "Its place. Default: the order of the list."}
    )
    strategies = StrictList(
        fields.Nested(NewMilestoneStrategy),
        required=True,
        validate=validate.Length(
            min=1,
            max=MAX_STRATEGIES,
            error=f"A step needs 1 to {MAX_STRATEGIES} strategies: they say who gets the feature.",
        ),
        metadata={"minItems": 1, "maxItems": MAX_STRATEGIES},
    )
    transition_condition = fields.Nested(
        TransitionCondition,
        allow_none=True,
        metadata={"description": "Without it, someone starts the next step."},
    )
    id = Ignored()
    release_plan_definition_id = Ignored()
    started_at = Ignored()
    started_by = Ignored()
    progression_executed_at = Ignored()
    paused_at = Ignored()

    @post_load
    def _sort(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        ordered = sorted(data["strategies"], key=lambda each: each.get("sort_order", 0))
        return data | {"strategies": ordered}


class Milestones(StrictList):
    """Steps in the order of their ``sortOrder``."""

    def __init__(self, **kwargs: Any) -> None:
        metadata = {"minItems": 1, "maxItems": MAX_STEPS} | kwargs.pop("metadata", {})
        limits = validate.Length(min=1, max=MAX_STEPS, error=f"Send 1 to {MAX_STEPS} steps.")
        super().__init__(fields.Nested(NewMilestone), validate=limits, metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> list[Any]:
        found = super()._deserialize(value, *args, **kwargs)
        return sorted(found, key=lambda step: step.get("sort_order", 0))


class _Fields(Schema):
    description = SingleLine(low=0, high=MAX_DESCRIPTION, allow_none=True)
    id = Ignored()
    discriminator = Ignored()
    project = Ignored()
    created_at = Ignored()
    created_by_user_id = Ignored()
    archived_at = Ignored()
    used_by = Ignored()
    stopped = Ignored()


class NewReleaseTemplate(_Fields):
    """Accepts what a read returns, and what Unleash’s clients send."""

    name = SingleLine(high=MAX_NAME, required=True)
    milestones = Milestones(required=True)


class TemplateInput(NewReleaseTemplate):
    """What the form of a template sends."""

    project = Key(allow_none=True)  # type: ignore[assignment] # ignored where the address has it


class ReleaseTemplateChanges(_Fields):
    """Accepts what a read returns."""

    name = SingleLine(high=MAX_NAME)
    milestones = Milestones()


class TemplateQuery(PageQuery):
    text = SingleLine(high=100, metadata={"description": "Part of the name or description."})
    project = Key(metadata={"description": "Those that this project can use."})


class ProjectTemplateQuery(Schema):
    include = fields.String(
        validate=validate.OneOf(["root"], error="Only “root” is known."),
        metadata={"description": "“root”: also the templates for all projects."},
    )


class MilestoneStrategyRow(Schema):
    id = fields.String()
    milestone_id = fields.String()
    name = fields.String()
    strategy_name = fields.String(metadata={"description": "The same as name."})
    title = fields.String(allow_none=True)
    disabled = fields.Boolean()
    sort_order = fields.Integer()
    parameters = fields.Dict(keys=fields.String(), values=fields.String())
    constraints = fields.List(fields.Nested(ConstraintRow))
    segments = fields.List(fields.Integer())
    variants = fields.List(fields.Nested(VariantRow))


class TransitionRow(Schema):
    extended = frozenset({"manual"})

    interval_minutes = fields.Integer(allow_none=True)
    manual = fields.Boolean()


class MilestoneRow(Schema):
    id = fields.String()
    name = fields.String()
    sort_order = fields.Integer()
    release_plan_definition_id = fields.String()
    strategies = fields.List(fields.Nested(MilestoneStrategyRow))
    transition_condition = fields.Nested(TransitionRow, allow_none=True)
    started_at = Timestamp(allow_none=True)
    progression_executed_at = Timestamp(allow_none=True)
    paused_at = Timestamp(allow_none=True)


class ReleaseTemplateRow(Schema):
    volatile = frozenset({"usedBy", "stopped"})
    extended = frozenset({"usedBy", "stopped"})

    id = fields.String(attribute="template.id")
    discriminator = fields.Constant("template", metadata={"type": "string"})
    name = fields.String(attribute="template.name")
    description = fields.String(allow_none=True, attribute="template.description")
    project = fields.String(
        allow_none=True,
        attribute="template.project_id",
        metadata={"description": "The only project that can use it. Null: all projects can."},
    )
    created_by_user_id = fields.Function(
        lambda view: view.template.created_by_id or 0,
        metadata={"type": "integer", "description": "0: it came with Flagstaff."},
    )
    created_at = Timestamp(attribute="template.created_at")
    milestones = fields.List(fields.Nested(MilestoneRow))
    used_by = fields.Integer(
        attribute="uses.started", metadata={"description": "How many releases started from it."}
    )
    stopped = fields.Integer(attribute="uses.stopped")
