"""Unleash's format of exported features."""

from typing import Any

from marshmallow import fields

from app.catalogue.context.schemas import ContextFieldRow
from app.catalogue.features.models import FeatureType
from app.catalogue.features.schemas import LinkRow
from app.catalogue.strategies.schemas import StrategyRow
from app.catalogue.strategies.schemas_variants import FeatureVariantRow
from app.exchange.unleash.service import FeatureStrategy
from app.web.schemas import Key, KeySet, Schema, SingleLine, StrictBoolean

LISTS = (
    *("features", "featureStrategies", "featureEnvironments", "contextFields", "featureTags"),
    *("segments", "tagTypes", "dependencies", "links"),
)


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


class ExportData(fields.Dict):
    """What an export answered with."""

    default_error_messages = {  # noqa: RUF012 - marshmallow's own way to set it
        "features": "Must be what an export answered with: an object with a list of features."
    }

    def deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        found = super().deserialize(value, *args, **kwargs)
        for name in LISTS:
            rows = found.get(name, [])
            if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
                raise self.make_error("features")
        if "features" not in found:
            raise self.make_error("features")
        return found


class FeatureImport(Schema):
    project = Key(required=True, metadata={"description": "Where the features go."})
    environment = Key(required=True, metadata={"description": "Where their states go."})
    data = ExportData(
        required=True, keys=fields.String(), metadata={"description": "What an export answered."}
    )


class FindingRow(Schema):
    message = fields.String()
    affected_items = fields.List(fields.String())


class ImportFindings(Schema):
    """What importing would meet with. Without errors and permissions it can be done."""

    errors = fields.List(fields.Nested(FindingRow))
    warnings = fields.List(fields.Nested(FindingRow))
    permissions = fields.List(fields.Nested(FindingRow))


class FeatureImportResult(Schema):
    batch_id = fields.String(metadata={"description": "Of its events."})
    change_requests = fields.List(
        fields.Integer(), metadata={"description": "Where changes need approvals."}
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


class ExportedLinks(Schema):
    feature = fields.String()
    links = fields.List(fields.Nested(LinkRow))


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
    links = fields.List(fields.Nested(ExportedLinks))
