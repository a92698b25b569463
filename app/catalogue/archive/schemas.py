from marshmallow import fields

from app.web.schemas import KeySet, Schema, Timestamp


class FeatureNames(Schema):
    features = KeySet(required=True, metadata={"description": "Feature names."})


class ArchiveRequest(FeatureNames):
    remove_dependencies_on = KeySet(
        load_default=(),
        metadata={
            "description": "Features of the request that others depend on. Features outside the "
            "request stop depending on them, so that they do not block archiving. Other names "
            "have no effect."
        },
    )


class ArchiveValidation(Schema):
    parents_with_child_features = fields.Function(
        lambda plan: list(plan.blocked),
        metadata={
            "type": "array",
            "items": {"type": "string"},
            "description": "Features that features outside the request depend on.",
        },
    )
    has_deleted_dependencies = fields.Function(
        lambda plan: bool(plan.dropped),
        metadata={"type": "boolean", "description": "Whether dependencies would be deleted."},
    )


class ChildAndParent(Schema):
    child = fields.String()
    parent = fields.String()


class AskedFor(Schema):
    feature = fields.String()
    last_seen_at = Timestamp()
    applications = fields.Integer(
        metadata={"description": "How many applications checked it in the last 7 days."}
    )


class ArchivePlan(Schema):
    """What archiving would do, by name; the validation summarises it in two fields."""

    archivable = fields.List(fields.String())
    still_asked_for = fields.List(
        fields.Nested(AskedFor),
        metadata={"description": "Archivable features that were checked in the last 7 days."},
    )
    blocked = fields.Dict(
        keys=fields.String(),
        values=fields.List(fields.String()),
        metadata={"description": "Each blocked parent with its children outside the request."},
    )
    dropped_dependencies = fields.List(fields.Nested(ChildAndParent), attribute="dropped")
    already_archived = fields.List(fields.String(), attribute="archived")
    elsewhere = fields.List(
        fields.String(), metadata={"description": "Features of other projects."}
    )
    not_found = fields.List(fields.String(), attribute="unknown", data_key="unknown")


class Revived(Schema):
    revived = fields.List(fields.String())
