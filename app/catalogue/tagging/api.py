from typing import Any

from flask import Response

from app.catalogue.tagging import schemas, service
from app.core.permissions import Permission
from app.web.caller import current_actor
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "tagging",
    __name__,
    url_prefix="/api/admin/projects/<key:project_id>",
    description="Change the tags of many features at once.",
)

TAGGING_EXAMPLE = {
    "features": ["checkout.new-flow", "checkout.base"],
    "tags": {"addedTags": [{"type": "simple", "value": "beta"}], "removedTags": []},
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
