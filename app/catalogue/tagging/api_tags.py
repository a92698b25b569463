from typing import Any

from flask import Response

from app.catalogue.tagging import schemas, type_names, vocabulary
from app.catalogue.tags.models import TagName, TagType
from app.catalogue.tags.schemas import TagRef, TagTypeRow
from app.core.permissions import Permission
from app.web.caller import current_actor
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "changing tags",
    __name__,
    url_prefix="/api/admin/tags",
    description="Renaming, merging and deleting tags, with all features that have them.",
)

RENAME_EXAMPLE = {
    "tag": {"type": "simple", "value": "payment"},
    "to": {"type": "simple", "value": "payments"},
}


@bp.post("/rename", needs=Permission.UPDATE_TAG_TYPE, refuses=(404,))
@bp.arguments(schemas.TagReplacement, example=RENAME_EXAMPLE)
@bp.response(200, schemas.TagReplacementDone)
def rename(data: dict[str, Any]) -> vocabulary.Done:
    """Rename a tag on all its features

    Needs UPDATE_FEATURE in every project that uses the tag. Refused if the new name is taken. The
    answer has the id of the batch, to undo it by.
    """
    return vocabulary.rename(current_actor, data["tag"], data["to"])


@bp.post("/merge", needs=Permission.UPDATE_TAG_TYPE, refuses=(404,))
@bp.arguments(schemas.TagReplacement, example=RENAME_EXAMPLE)
@bp.response(200, schemas.TagReplacementDone)
def merge(data: dict[str, Any]) -> vocabulary.Done:
    """Replace a tag by another on all its features, and delete it

    Needs UPDATE_FEATURE in every project that uses the tag. The answer has the id of the batch, to
    undo it by.
    """
    return vocabulary.merge(current_actor, data["tag"], data["to"])


@bp.post("/undo", needs=Permission.UPDATE_TAG_TYPE, refuses=(404,))
@bp.arguments(schemas.TagBatch, example={"batch": "587c0e40-b0b3-4626-a58d-c3d5f098e73a"})
@bp.response(200, schemas.TagReplacementDone)
def undo(data: dict[str, Any]) -> vocabulary.Done:
    """Undo a rename or a merge"""
    return vocabulary.undo(current_actor, data["batch"])


@bp.post("/rename-type", needs=Permission.UPDATE_TAG_TYPE, refuses=(404, 409))
@bp.arguments(schemas.TypeRenaming, example={"type": "team", "to": "squad"})
@bp.response(200, TagTypeRow)
def rename_type(data: dict[str, str]) -> TagType:
    """Rename a tag type, and its tags on all features

    Needs UPDATE_FEATURE in every project that uses its tags.
    """
    return type_names.rename(current_actor, data["type"], data["to"])


@bp.post("/delete", needs=Permission.DELETE_TAG_TYPE, refuses=(404,))
@bp.arguments(TagRef, example={"type": "simple", "value": "payment"})
@bp.response(200)
def delete(data: dict[str, str]) -> Response:
    """Delete a tag that no feature has, active or archived"""
    vocabulary.delete(current_actor, TagName(data["type"], data["value"]))
    return no_body()
