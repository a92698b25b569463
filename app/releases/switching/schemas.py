from marshmallow import fields, validate

from app.catalogue.features.schemas import FeatureNames
from app.catalogue.strategies.schemas import Segments
from app.catalogue.strategies.schemas_variants import FeatureVariant, Variants
from app.web.schemas import Key, KeySet, Schema


class SwitchedFeatures(FeatureNames):
    """Features to switch on or off."""


class SwitchPlan(Schema):
    features = fields.List(
        fields.String(), attribute="changing", metadata={"description": "They would change."}
    )
    given_strategy = fields.List(
        fields.String(),
        metadata={"description": "They would get the default strategy of the environment."},
    )
    unchanged = fields.List(
        fields.String(), metadata={"description": "They are on or off already, as asked."}
    )
    archived = fields.List(fields.String())
    not_found = fields.List(fields.String(), attribute="unknown", data_key="unknown")


class SharedVariants(Schema):
    """The same variants for a feature in several environments."""

    environments = KeySet(
        required=True, validate=validate.Length(min=1, error="Name at least one environment.")
    )
    variants = Variants(FeatureVariant, load_default=())


class SegmentsOfStrategy(Schema):
    project_id = Key(required=True)
    environment_id = Key(required=True)
    strategy_id = fields.UUID(required=True)
    segment_ids = Segments(required=True)


class CopyTargets(Schema):
    targets = KeySet(
        required=True,
        validate=validate.Length(min=1, error="Choose at least one environment"),
    )
