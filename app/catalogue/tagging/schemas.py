from typing import Any

from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from app.catalogue.tags.models import TagName
from app.catalogue.tags.schemas import TagRef, TypeName
from app.web.schemas import KeySet, Schema, SingleLine, StrictList


class TagChanges(Schema):
    added_tags = StrictList(fields.Nested(TagRef), required=True)
    removed_tags = StrictList(fields.Nested(TagRef), required=True)

    @post_load
    def _name(self, data: dict[str, Any], **_: Any) -> dict[str, list[TagName]]:
        return {
            part: [TagName(tag["type"], tag["value"]) for tag in tags]
            for part, tags in data.items()
        }


class Tagging(Schema):
    """Tags to add to and remove from several features."""

    features = KeySet(
        required=True, validate=validate.Length(min=1, error="Name at least one feature.")
    )
    tags = fields.Nested(TagChanges, required=True)

    @validates_schema(skip_on_field_errors=True)
    def _refuse_both(self, data: dict[str, Any], **_: Any) -> None:
        removed = set(data["tags"]["removed_tags"])
        both = removed.intersection(data["tags"]["added_tags"])
        if both:
            words = ", ".join(str(tag) for tag in sorted(both))
            raise ValidationError({"tags": [f"A tag cannot be both added and removed: {words}."]})


class TagReplacement(Schema):
    """A tag, and the one to replace it."""

    tag = fields.Nested(TagRef, required=True)
    to = fields.Nested(TagRef, required=True)

    @post_load
    def _name(self, data: dict[str, Any], **_: Any) -> dict[str, TagName]:
        return {part: TagName(tag["type"], tag["value"]) for part, tag in data.items()}


class TagReplacementDone(Schema):
    batch = fields.String(metadata={"description": "The id to undo it by."})
    tag = fields.Nested(TagRef)
    to = fields.Nested(TagRef)
    features = fields.Integer(metadata={"description": "How many features changed."})


class TagBatch(Schema):
    batch = SingleLine(high=36, required=True, metadata={"description": "The id of the change."})


class NewTypeName(Schema):
    to = TypeName(required=True)


class TypeRenaming(NewTypeName):
    type = SingleLine(high=50, required=True)
