from typing import Any

from marshmallow import fields, post_load, validate

from app.catalogue.tags.duplicates import NameDifference
from app.catalogue.tags.models import HUES, SIMPLE
from app.web.listing import PageQuery, Sort
from app.web.schemas import Ignored, OrEmpty, QueryBoolean, Schema, SingleLine, WholeNumber


class TagRef(Schema):
    color = Ignored()
    value = SingleLine(high=50, required=True)
    type = SingleLine(high=50, load_default=SIMPLE, metadata={"default": SIMPLE})


class TagQuery(PageQuery):
    sort = Sort("type", "value", "used")
    text = SingleLine(high=100, metadata={"description": "Part of the value."})
    type = SingleLine(high=50, metadata={"description": "Only tags of this type."})
    unused = QueryBoolean(
        metadata={
            "description": "true: only tags without features. false: only tags with features."
        }
    )


class TagNameRow(Schema):
    value = fields.String()
    type = fields.String()


class TagRow(TagNameRow):
    extended = frozenset({"used"})

    used = fields.Integer(
        metadata={"description": "Features with this tag that the caller can see, also archived."}
    )


class TagDetail(Schema):
    version = fields.Constant(1)
    tag = fields.Nested(TagNameRow)


class TagList(Schema):
    extended = frozenset({"total"})

    version = fields.Constant(1)
    tags = fields.List(fields.Nested(TagRow), attribute="items")
    total = fields.Integer()


class UsedTag(Schema):
    type = fields.String(attribute="tag.type")
    value = fields.String(attribute="tag.value")
    used = fields.Integer()


class PairRow(Schema):
    tag = fields.Nested(
        UsedTag, attribute="less", metadata={"description": "The one that is used less."}
    )
    into = fields.Nested(
        UsedTag, attribute="more", metadata={"description": "The one to merge it into."}
    )
    difference = fields.Enum(NameDifference, by_value=True)


class PairList(Schema):
    version = fields.Constant(1)
    pairs = fields.List(fields.Nested(PairRow))


class TagTypeChanges(Schema):
    icon = Ignored()
    color = Ignored()
    description = SingleLine(low=0, high=255, allow_none=True)
    hue = WholeNumber(low=1, high=HUES, metadata={"description": "The number of the colour."})

    @post_load
    def _forget_empty(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return (
            data | {"description": data["description"] or None} if "description" in data else data
        )


class TypeName(fields.String):
    """The name of a tag type."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            validate=validate.Regexp(
                r"[a-z0-9][a-z0-9_-]{0,49}\Z",
                error="Use 1 to 50 of a-z 0-9 _ - and start with a letter or digit.",
            ),
            metadata={"pattern": "^[a-z0-9][a-z0-9_-]{0,49}$"},
            **kwargs,
        )


class NewTagType(TagTypeChanges):
    name = TypeName(required=True)


class TagTypeUpdate(TagTypeChanges):
    """Accepts what a read returns. Renaming is a request of its own."""

    name = Ignored()


class TagTypeRow(Schema):
    extended = frozenset({"hue"})

    name = fields.String()
    description = OrEmpty()
    hue = fields.Integer(metadata={"description": "The number of the colour, 1 to 8."})


class ValidTagType(Schema):
    valid = fields.Constant(constant=True)
    tag_type = fields.Nested(TagTypeRow)


class TagTypeList(Schema):
    extended = frozenset({"total"})

    version = fields.Constant(1)
    tag_types = fields.List(fields.Nested(TagTypeRow), attribute="items")
    total = fields.Integer()
