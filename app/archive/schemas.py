from marshmallow import fields

from app.core.schemas import KeySet, Schema


class FeatureNames(Schema):
    features = KeySet(required=True, metadata={"description": "Feature names."})


class ArchiveValidation(Schema):
    parents_with_child_features = fields.Function(
        lambda plan: list(plan.blocked),
        metadata={
            "type": "array",
            "items": {"type": "string"},
            "description": "Features that others, which would stay, depend on.",
        },
    )
    has_deleted_dependencies = fields.Function(
        lambda plan: bool(plan.dropped),
        metadata={"type": "boolean", "description": "Whether dependencies would be deleted."},
    )
