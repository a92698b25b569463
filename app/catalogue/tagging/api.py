from typing import Any

from flask import Response

from app.catalogue.features import service as features
from app.catalogue.tagging import renaming, renaming_types, schemas, service
from app.catalogue.tags.models import TagName, TagType
from app.catalogue.tags.schemas import TagList, TagRef, TagTypeRow
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.web.current import current_actor
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "tagging",
    __name__,
    url_prefix="/api/admin/projects/<key:project_id>",
    description="Change the tags of many features at once.",
)

CHANGES_EXAMPLE = {"addedTags": [{"type": "simple", "value": "beta"}], "removedTags": []}
TAGGING_EXAMPLE = {
    "features": ["checkout.new-flow", "checkout.base"],
    "tags": CHANGES_EXAMPLE,
}


@bp.put("/tags", needs=Permission.UPDATE_FEATURE, refuses=(404, 409))
@bp.arguments(schemas.Tagging, example=TAGGING_EXAMPLE)
@bp.response(200)
def change_tags(data: dict[str, Any], project_id: str) -> Response:
    """Add and remove tags on several features

    Features and tags are sets. Adding a tag that a feature has, or removing one that it does not
    have, changes nothing. New tags are created. If one feature is unknown, nothing is changed.
    """
    service.change(
        current_actor,
        project_id,
        features=data["features"],
        added=data["tags"]["added_tags"],
        removed=data["tags"]["removed_tags"],
    )
    return no_body()


of_feature_bp = ApiBlueprint(
    "tags of a feature",
    __name__,
    url_prefix="/api/admin/features/<key:name>/tags",
    description="The tags of one feature, in whichever project it is.",
)


@of_feature_bp.get("", needs=Access.SIGNED_IN)
@of_feature_bp.response(200, TagList)
def index(name: str) -> dict[str, list[TagName]]:
    """List the tags of a feature"""
    project_id = features.project_of(current_actor, name)
    return {"items": features.get(current_actor, project_id, name).tags}


@of_feature_bp.post("", needs=Access.SIGNED_IN, keeps=NOTHING, refuses=(403,))
@of_feature_bp.arguments(TagRef, example={"type": "simple", "value": "payments"})
@of_feature_bp.response(201, TagRef)
def add(data: dict[str, str], name: str) -> dict[str, str]:
    """Add a tag to a feature

    Needs UPDATE_FEATURE in its project.
    """
    tag = TagName(data["type"], data["value"])
    service.change(current_actor, _project(name), features=[name], added=[tag], removed=[])
    return data


@of_feature_bp.put("", needs=Access.SIGNED_IN, keeps=NOTHING, refuses=(403, 409))
@of_feature_bp.arguments(schemas.TagChanges, example=CHANGES_EXAMPLE)
@of_feature_bp.response(200, TagList)
def update(data: dict[str, list[TagName]], name: str) -> dict[str, list[TagName]]:
    """Add and remove tags of a feature

    Needs UPDATE_FEATURE in its project.
    """
    project_id, added, removed = _project(name), data["added_tags"], data["removed_tags"]
    service.change(current_actor, project_id, features=[name], added=added, removed=removed)
    return {"items": features.get(current_actor, project_id, name).tags}


@of_feature_bp.delete("/<key:type>/<path:value>", needs=Access.SIGNED_IN, refuses=(403, 409))
@of_feature_bp.response(200)
def remove(name: str, type: str, value: str) -> Response:
    """Remove a tag from a feature

    Needs UPDATE_FEATURE in its project.
    """
    project_id, tag = _project(name), TagName(type, value)
    if tag in features.get(current_actor, project_id, name).tags:
        service.change(current_actor, project_id, features=[name], added=[], removed=[tag])
    return no_body()


def _project(name: str) -> str:
    """The project of the feature, in which the caller may change features."""
    project_id = features.project_of(current_actor, name)
    current_actor.require(Permission.UPDATE_FEATURE, project_id)
    return project_id


tags_bp = ApiBlueprint(
    "changing tags",
    __name__,
    url_prefix="/api/admin/tags",
    description="Renaming, merging and deleting tags, with all features that have them.",
)

RENAME_EXAMPLE = {
    "tag": {"type": "simple", "value": "payment"},
    "to": {"type": "simple", "value": "payments"},
}


@tags_bp.post("/rename", needs=Permission.UPDATE_TAG_TYPE, refuses=(404,))
@tags_bp.arguments(schemas.TagReplacement, example=RENAME_EXAMPLE)
@tags_bp.response(200, schemas.TagReplacementDone)
def rename(data: dict[str, Any]) -> renaming.Done:
    """Rename a tag on all its features

    Needs UPDATE_FEATURE in every project that uses the tag. Refused if the new name is taken. The
    answer has the id of the batch, to undo it by.
    """
    return renaming.rename(current_actor, data["tag"], data["to"])


@tags_bp.post("/merge", needs=Permission.UPDATE_TAG_TYPE, refuses=(404,))
@tags_bp.arguments(schemas.TagReplacement, example=RENAME_EXAMPLE)
@tags_bp.response(200, schemas.TagReplacementDone)
def merge(data: dict[str, Any]) -> renaming.Done:
    """Replace a tag by another on all its features, and delete it

    Needs UPDATE_FEATURE in every project that uses the tag. The answer has the id of the batch, to
    undo it by.
    """
    return renaming.merge(current_actor, data["tag"], data["to"])


@tags_bp.post("/undo", needs=Permission.UPDATE_TAG_TYPE, refuses=(404,))
@tags_bp.arguments(schemas.TagBatch, example={"batch": "587c0e40-b0b3-4626-a58d-c3d5f098e73a"})
@tags_bp.response(200, schemas.TagReplacementDone)
def undo(data: dict[str, Any]) -> renaming.Done:
    """Undo a rename or a merge"""
    return renaming.undo(current_actor, data["batch"])


@tags_bp.post("/rename-type", needs=Permission.UPDATE_TAG_TYPE, refuses=(404, 409))
@tags_bp.arguments(schemas.TypeRenaming, example={"type": "team", "to": "squad"})
@tags_bp.response(200, TagTypeRow)
def rename_type(data: dict[str, str]) -> TagType:
    """Rename a tag type, and its tags on all features

    Needs UPDATE_FEATURE in every project that uses its tags.
    """
    return renaming_types.rename(current_actor, data["type"], data["to"])


@tags_bp.delete("/<key:type>/<path:value>", needs=Permission.DELETE_TAG_TYPE, refuses=(409,))
@tags_bp.response(200)
def delete_one(type: str, value: str) -> Response:
    """Delete a tag that no feature has, active or archived"""
    renaming.delete(current_actor, TagName(type, value))
    return no_body()


@tags_bp.post("/delete", needs=Permission.DELETE_TAG_TYPE, refuses=(404,))
@tags_bp.arguments(TagRef, example={"type": "simple", "value": "payment"})
@tags_bp.response(200)
def delete(data: dict[str, str]) -> Response:
    """Delete a tag that no feature has, active or archived"""
    renaming.delete(current_actor, TagName(data["type"], data["value"]))
    return no_body()
