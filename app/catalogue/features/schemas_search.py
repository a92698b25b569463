from typing import Any

from marshmallow import fields, post_load, validate

from app.catalogue.features.models import FeatureType, Stage
from app.catalogue.features.queries import FeatureView
from app.catalogue.features.schemas import FeatureRow, TagFilter
from app.catalogue.features.searching import SORTS, State
from app.catalogue.strategies.schemas import StateRow
from app.web.listing import IS, IS_OR_NOT, Compared, PageQuery
from app.web.schemas import QueryBoolean, QueryNumber, Schema, SingleLine

INCLUDE = (
    *("INCLUDE", "INCLUDE_ANY_OF", "INCLUDE_ALL_OF"),
    *("DO_NOT_INCLUDE", "EXCLUDE_IF_ANY_OF", "EXCLUDE_ALL"),
)


class _Status(SingleLine):
    """``production:enabled``: an environment and whether the feature is on there."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        environment, _, state = super()._deserialize(value, *args, **kwargs).rpartition(":")
        if state not in {"enabled", "disabled"} or not environment:
            raise self.make_error("status")
        return environment, state == "enabled"

    default_error_messages = {  # noqa: RUF012 - marshmallow's own way to set it
        "status": "Write environment:enabled or environment:disabled."
    }


class FeatureSearch(PageQuery):
    query = SingleLine(high=100, metadata={"description": "Part of the name or description."})
    project = Compared(*IS_OR_NOT)
    state = Compared(*IS_OR_NOT, kind=fields.Enum(State, by_value=True))
    lifecycle = Compared(*IS_OR_NOT, kind=fields.Enum(Stage, by_value=True))
    type = Compared(*IS_OR_NOT, kind=fields.Enum(FeatureType, by_value=True))
    created_by = Compared(*IS_OR_NOT, kind=QueryNumber(), description="Ids of accounts.")
    tag = Compared(*INCLUDE, kind=TagFilter(high=101))
    segment = Compared(*INCLUDE, description="Names of segments.")
    status = fields.List(_Status(high=110))
    favorite = Compared(*IS, kind=QueryBoolean())
    archived = Compared("IS", kind=QueryBoolean())
    created_at = Compared("IS_BEFORE", "IS_ON_OR_AFTER", kind=fields.Date())
    last_seen_at = Compared("IS_BEFORE", "IS_ON_OR_AFTER", kind=fields.Date())
    sort_by = fields.String(load_default="createdAt", validate=validate.OneOf(SORTS))
    sort_order = fields.String(load_default="asc", validate=validate.OneOf(["asc", "desc"]))
    favorites_first = QueryBoolean(load_default=False)

    @post_load
    def _join_sort(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        sign = "-" if data.pop("sort_order") == "desc" else ""
        return data | {"sort": sign + data.pop("sort_by")}


def _dependency_type(view: FeatureView) -> str | None:
    if view.dependencies:
        return "child"
    return "parent" if view.children else None


class FoundState(StateRow):
    """A state with the present step of the release under way, if there is one."""

    milestone_name = fields.String(attribute="step.name")
    milestone_order = fields.Integer(
        attribute="step.place", metadata={"description": "Which step it is, from 0."}
    )
    total_milestones = fields.Integer(attribute="step.of")


class FoundFeature(FeatureRow):
    extended = FeatureRow.extended | {"archived", "dependencies", "children", "links"}

    dependency_type = fields.Function(
        _dependency_type, metadata={"type": ["string", "null"], "enum": ["parent", "child", None]}
    )
    segments = fields.List(fields.String(), attribute="credits.segments")
    environments = fields.List(fields.Nested(FoundState))


class FoundFeatures(Schema):
    features = fields.List(fields.Nested(FoundFeature), attribute="items")
    total = fields.Integer()
