from typing import Any

from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from app.core.paging import PageQuery, Sort
from app.core.schemas import (
    Ignored,
    Key,
    KeySet,
    Line,
    Many,
    Prose,
    QueryTruth,
    Schema,
    Timestamp,
    Truth,
)
from app.features.models import FeatureType
from app.tags.models import TagName
from app.tags.schemas import TagRef


class _FeatureFields(Schema):
    type = fields.Enum(FeatureType, by_value=True)
    description = Prose(low=0, high=5_000, allow_none=True)
    stale = Truth()
    impression_data = Truth()


class NewFeature(_FeatureFields):
    name = Key(required=True)


class FeatureSettings(_FeatureFields):
    """All that the page of a feature sends at once."""

    parent = Key(allow_none=True)


class FeatureChanges(_FeatureFields):
    """Takes all that reading a feature gives; what has an endpoint of its own is ignored."""

    name = fields.String()
    project = Ignored()
    created_at = Ignored()
    archived_at = Ignored()
    tags = Ignored()
    dependencies = Ignored()
    children = Ignored()


class FeatureTagRow(Schema):
    value = fields.String()
    type = fields.String()


class FeatureRow(Schema):
    name = fields.String(attribute="feature.name")
    type = fields.Enum(FeatureType, by_value=True, attribute="feature.type")
    description = fields.String(allow_none=True, attribute="feature.description")
    project = fields.String(attribute="feature.project_id")
    stale = fields.Boolean(attribute="feature.stale")
    impression_data = fields.Boolean(attribute="feature.impression_data")
    created_at = Timestamp(attribute="feature.created_at")
    archived_at = Timestamp(allow_none=True, attribute="feature.archived_at")
    tags = fields.List(fields.Nested(FeatureTagRow))
    dependencies = fields.List(
        fields.String(), metadata={"description": "The parents of this feature."}
    )
    children = fields.List(
        fields.String(), metadata={"description": "The features that depend on it."}
    )


class FeatureList(Schema):
    version = fields.Constant(1)
    features = fields.List(fields.Nested(FeatureRow), attribute="items")
    total = fields.Integer()


class TagFilter(Line):
    """A tag in an address: ``type:value``, or the value alone for a simple one."""

    def deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        text = super().deserialize(value, *args, **kwargs)
        if not isinstance(text, str):
            return text  # absent
        return TagName.read(text)


class FeatureQuery(PageQuery):
    sort = Sort("name", "type", "createdAt")
    text = Line(high=100, metadata={"description": "Part of the name or the description."})
    tag = TagFilter(high=101, metadata={"description": "Carries this tag (type:value)."})
    without_tag = TagFilter(high=101, metadata={"description": "Does not carry this tag."})
    type = fields.Enum(FeatureType, by_value=True)
    stale = QueryTruth()
    archived = QueryTruth(
        load_default=False, metadata={"description": "The archived ones instead."}
    )


class Parent(Schema):
    feature = Key(required=True, metadata={"description": "The name of the parent."})


class _TagChanges(Schema):
    added_tags = Many(fields.Nested(TagRef), required=True)
    removed_tags = Many(fields.Nested(TagRef), required=True)

    @post_load
    def _name(self, data: dict[str, Any], **_: Any) -> dict[str, list[TagName]]:
        return {
            part: [TagName(tag["type"], tag["value"]) for tag in tags]
            for part, tags in data.items()
        }


class Tagging(Schema):
    """Tags to put on and to take off several features."""

    features = KeySet(
        required=True, validate=validate.Length(min=1, error="Name at least one feature.")
    )
    tags = fields.Nested(_TagChanges, required=True)

    @validates_schema(skip_on_field_errors=True)
    def _refuse_both(self, data: dict[str, Any], **_: Any) -> None:
        removed = set(data["tags"]["removed_tags"])
        both = removed.intersection(data["tags"]["added_tags"])
        if both:
            words = ", ".join(str(tag) for tag in sorted(both))
            raise ValidationError({"tags": [f"Added and removed at once: {words}."]})
