"""Unleash's format of exported features."""

from typing import Any

from marshmallow import fields

from app.context.schemas import ContextFieldRow
from app.features.models import FeatureType
from app.strategies.schemas import StrategyRow
from app.strategies.schemas_variants import FeatureVariantRow
from app.transfer.service import FeatureStrategy
from app.web.schemas import Key, KeySet, Schema, SingleLine, StrictBoolean


class ExportQuery(Schema):
    environment = Key(required=True)
    names = KeySet(
        data_key="features", metadata={"description": "Only these. Empty: all that fit the rest."}
    )
    tag = SingleLine(
        high=101, metadata={"description": "Only features with this tag: type:value, or a value."}
    )
    project = Key(metadata={"description": "Only features of this project."})
    download_file = StrictBoolean(
        metadata={"description": "Whether browsers are to save the answer as a file."}
    )


class ExportedFeature(Schema):
    name = fields.String()
    description = fields.String(allow_none=True)
    type = fields.Enum(FeatureType, by_value=True)
    project = fields.String(attribute="project_id")
    stale = fields.Boolean()
    impression_data = fields.Boolean()
    archived = fields.Constant(constant=False)


class ExportedStrategy(StrategyRow):
    class Meta:
        exclude = ("summary",)

    feature_name = fields.String()

    def get_attribute(self, obj: FeatureStrategy, attr: str, default: Any) -> Any:
        if attr == "feature_name":
            return obj.feature
        return super().get_attribute(obj.strategy, attr, default)


class ExportedState(Schema):
    name = fields.Function(lambda state: state.feature, metadata={"type": "string"})
    feature_name = fields.String(attribute="feature")
    environment = fields.String()
    enabled = fields.Boolean()
    variants = fields.List(fields.Nested(FeatureVariantRow))


class ExportedTag(Schema):
    feature_name = fields.String(attribute="feature")
    tag_type = fields.String(attribute="tag.type")
    tag_value = fields.String(attribute="tag.value")


class ExportedTagType(Schema):
    name = fields.String()
    description = fields.String(allow_none=True)


class ExportedSegment(Schema):
    id = fields.Integer()
    name = fields.String()


class ExportedContextField(ContextFieldRow):
    class Meta:
        exclude = ("created_at",)


class ExportedParent(Schema):
    feature = fields.String()
    enabled = fields.Boolean()
    variants = fields.List(fields.String())


class ExportedDependencies(Schema):
    feature = fields.String()
    dependencies = fields.List(fields.Nested(ExportedParent), attribute="parents")


class ExportDocument(Schema):
    features = fields.List(fields.Nested(ExportedFeature))
    feature_strategies = fields.List(fields.Nested(ExportedStrategy), attribute="strategies")
    feature_environments = fields.List(fields.Nested(ExportedState), attribute="states")
    context_fields = fields.List(fields.Nested(ExportedContextField))
    feature_tags = fields.List(fields.Nested(ExportedTag))
    segments = fields.List(
        fields.Nested(ExportedSegment),
        metadata={"description": "By name only. Create them where you import this."},
    )
    tag_types = fields.List(fields.Nested(ExportedTagType))
    dependencies = fields.List(fields.Nested(ExportedDependencies))
    links: fields.Constant[list[Any]] = fields.Constant(
        [], metadata={"description": "Always empty."}
    )
