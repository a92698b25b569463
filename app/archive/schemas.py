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


class ChildAndParent(Schema):
    child = fields.String()
    parent = fields.String()


class ArchivePlan(Schema):
    """What the validation sums up in two fields, by name."""

    archivable = fields.List(fields.String())
    blocked = fields.Dict(
        keys=fields.String(),
        values=fields.List(fields.String()),
        metadata={"description": "Parents, and of each the children that would stay."},
    )
    dropped_dependencies = fields.List(fields.Nested(ChildAndParent), attribute="dropped")
    already_archived = fields.List(fields.String(), attribute="archived")
    elsewhere = fields.List(
        fields.String(), metadata={"description": "Features of other projects."}
    )
    not_found = fields.List(fields.String(), attribute="unknown", data_key="unknown")


class Revived(Schema):
    revived = fields.List(fields.String())
