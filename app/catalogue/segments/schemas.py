from marshmallow import fields

from app.catalogue.constraints.schemas import ConstraintRow, Constraints
from app.web.listing import PageQuery, Sort
from app.web.schemas import Key, Schema, SingleLine, Timestamp, accepts


class _Fields(Schema):
    description = SingleLine(low=0, high=255, allow_none=True)
    project = Key(
        allow_none=True,
        metadata={"description": "The only project that can use it. Null: all projects can."},
    )


class NewSegment(_Fields):
    name = SingleLine(high=100, required=True)
    constraints = Constraints(required=True)


class SegmentName(Schema):
    name = SingleLine(high=100, required=True)


class SegmentQuery(PageQuery):
    sort = Sort("name", "createdAt")
    text = SingleLine(
        high=100,
        metadata={"description": "Part of the name or description, or a context field."},
    )
    project = Key(metadata={"description": "Those that this project can use."})


class SegmentRow(Schema):
    volatile = frozenset({"usedInStrategies", "usedInFeatures", "usedInProjects"})
    extended = frozenset({"usedInStrategies"})

    id = fields.Integer(attribute="segment.id")
    name = fields.String(attribute="segment.name")
    description = fields.String(allow_none=True, attribute="segment.description")
    project = fields.String(allow_none=True, attribute="segment.project_id")
    constraints = fields.List(fields.Nested(ConstraintRow), attribute="segment.constraints")
    created_at = Timestamp(attribute="segment.created_at")
    used_in_strategies = fields.Integer(attribute="used.strategies")
    used_in_features = fields.Integer(attribute="used.features")
    used_in_projects = fields.Integer(attribute="used.projects")


@accepts(SegmentRow)
class SegmentChanges(_Fields):
    """Accepts what a read returns."""

    name = SingleLine(high=100)
    constraints = Constraints()


class SegmentList(Schema):
    extended = frozenset({"total"})

    segments = fields.List(fields.Nested(SegmentRow), attribute="items")
    total = fields.Integer()


class UseRow(Schema):
    id = fields.String()
    project_id = fields.String()
    feature_name = fields.Function(
        lambda use: use.feature or "",
        metadata={"type": "string", "description": "Empty: the project’s default strategy."},
    )
    environment = fields.String()
    strategy_name = fields.String(attribute="strategy")


class UseList(Schema):
    strategies = fields.List(fields.Nested(UseRow))
