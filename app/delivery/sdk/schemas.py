"""What SDKs send and get, for the OpenAPI document alone: the answers are made without them."""

from marshmallow import fields

from app.catalogue.constraints.schemas import ConstraintRow
from app.catalogue.features.schemas import ParentRow
from app.catalogue.strategies.schemas_variants import FeatureVariantRow, PayloadRow, VariantRow
from app.delivery.sdk.client import MOST_VALIDATED
from app.web.schemas import Schema


class SdkStrategy(Schema):
    name = fields.String()
    parameters = fields.Dict(fields.String(), fields.String())
    constraints = fields.List(fields.Nested(ConstraintRow))
    segments = fields.List(fields.Integer())
    variants = fields.List(fields.Nested(VariantRow))


class SdkFeature(Schema):
    name = fields.String()
    type = fields.String()
    description = fields.String(allow_none=True)
    enabled = fields.Boolean()
    project = fields.String()
    stale = fields.Boolean()
    impression_data = fields.Boolean()
    strategies = fields.List(fields.Nested(SdkStrategy))
    variants = fields.List(fields.Nested(FeatureVariantRow))
    dependencies = fields.List(fields.Nested(ParentRow))


class SdkSegment(Schema):
    id = fields.Integer()
    name = fields.String()
    constraints = fields.List(fields.Nested(ConstraintRow))


class SdkFeatures(Schema):
    version = fields.Constant(2)
    features = fields.List(fields.Nested(SdkFeature))
    segments = fields.List(
        fields.Nested(SdkSegment),
        metadata={"description": "Absent for SDKs that can’t read them: then strategies have all."},
    )
    query = fields.Dict(metadata={"description": "What the token and the request chose."})
    meta = fields.Dict()


class SdkChange(Schema):
    event_id = fields.Integer()
    type = fields.String(
        metadata={
            "enum": [
                "hydration",
                "feature-updated",
                "feature-removed",
                "segment-updated",
                "segment-removed",
            ],
            "description": "After a hydration, nothing counts that came before it.",
        }
    )
    features = fields.List(fields.Nested(SdkFeature))
    segments = fields.List(fields.Nested(SdkSegment))
    feature = fields.Nested(SdkFeature)
    feature_name = fields.String()
    project = fields.String()
    segment = fields.Nested(SdkSegment)
    segment_id = fields.Integer()


class SdkDelta(Schema):
    events = fields.List(
        fields.Nested(SdkChange), metadata={"description": "To apply in this order."}
    )


class SdkBucket(Schema):
    start = fields.AwareDateTime(required=True)
    stop = fields.AwareDateTime(required=True)
    toggles = fields.Dict(
        fields.String(),
        fields.Dict(),
        required=True,
        metadata={"description": "By the name of the feature: yes, no, and counts of variants."},
    )


class SdkMetrics(Schema):
    app_name = fields.String(required=True)
    instance_id = fields.String()
    environment = fields.String(
        metadata={"description": "Ignored. The token’s environment counts."}
    )
    bucket = fields.Nested(SdkBucket)


class SdkBulkMetrics(Schema):
    applications = fields.List(fields.Dict(), required=True)
    metrics = fields.List(fields.Dict(), required=True)


class SdkRegistration(Schema):
    app_name = fields.String(required=True)
    instance_id = fields.String()
    sdk_version = fields.String()
    strategies = fields.List(fields.String(), required=True)
    started = fields.Raw(required=True)
    interval = fields.Float(required=True)


class FrontendVariant(Schema):
    name = fields.String()
    enabled = fields.Boolean()
    feature_enabled = fields.Boolean(data_key="feature_enabled")
    payload = fields.Nested(PayloadRow)


class FrontendFeature(Schema):
    name = fields.String()
    enabled = fields.Boolean()
    variant = fields.Nested(FrontendVariant)
    impression_data = fields.Boolean()


class FrontendFeatures(Schema):
    toggles = fields.List(fields.Nested(FrontendFeature))


class FrontendContext(Schema):
    context = fields.Dict(
        metadata={"description": "Such as userId, sessionId and remoteAddress, and properties."}
    )


class OfrepContext(Schema):
    context = fields.Dict(metadata={"description": "Fields by their names, and targetingKey."})


class OfrepFlag(Schema):
    key = fields.String()
    value = fields.Raw(metadata={"description": "Absent: the default in the code applies."})
    reason = fields.String()
    variant = fields.String()
    metadata = fields.Dict()


class OfrepEndpoint(Schema):
    request_uri = fields.String()


class OfrepStream(Schema):
    type = fields.Constant("sse")
    endpoint = fields.Nested(OfrepEndpoint)
    inactivity_delay_sec = fields.Integer()


class OfrepFlags(Schema):
    flags = fields.List(fields.Nested(OfrepFlag))
    metadata = fields.Dict()
    event_streams = fields.List(
        fields.Nested(OfrepStream), metadata={"description": "Where to learn of changes."}
    )


class OfrepChange(Schema):
    type = fields.Constant("refetchEvaluation")
    etag = fields.String(metadata={"description": "To send as `flagConfigEtag`."})
    last_modified = fields.Integer(metadata={"description": "Seconds since 1970."})


class SentTokens(Schema):
    tokens = fields.List(fields.Raw(), required=True, metadata={"maxItems": MOST_VALIDATED})


class ValidToken(Schema):
    token = fields.String()
    type = fields.String()
    projects = fields.List(fields.String())
    environment = fields.String()


class ValidTokens(Schema):
    tokens = fields.List(fields.Nested(ValidToken))


class OfrepError(Schema):
    key = fields.String()
    error_code = fields.String()
    error_details = fields.String()
