from flask import Response

from app.catalogue.archive import deletion, schemas, service
from app.catalogue.archive.service import ArchivePlan
from app.catalogue.features import service as features
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.web.current import current_actor
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "archive",
    __name__,
    url_prefix="/api/admin/projects/<key:project_id>",
    description="Preview archiving, archive features, revive them and delete them.",
)

archived_bp = ApiBlueprint(
    "archived features",
    __name__,
    url_prefix="/api/admin/archive",
    description="Archived features by their names, in whichever project they are.",
)


@bp.post(
    "/archive/validate",
    needs=Permission.DELETE_FEATURE,
    refuses=(404,),
    writes=False,
    snapshot=False,
)
@bp.arguments(schemas.FeatureNames, example={"features": ["checkout.new-flow"]})
@bp.response(200, schemas.ArchiveValidation)
def validate(data: dict[str, list[str]], project_id: str) -> ArchivePlan:
    """Validate archiving of features

    Summarises what archiving would do. Changes nothing. Unknown and archived names are ignored.
    """
    return service.plan(current_actor, project_id, data["features"])


@bp.post("/archive/plan", needs=Permission.DELETE_FEATURE, refuses=(404,), writes=False)
@bp.arguments(schemas.ArchiveRequest, example={"features": ["checkout.new-flow"]})
@bp.response(200, schemas.ArchivePlan)
def plan(data: dict[str, list[str]], project_id: str) -> ArchivePlan:
    """Plan archiving of features

    Which features would be archived, which of them applications still ask for, which are blocked
    and by what, which dependencies would be deleted, and which names have nothing to archive.
    Changes nothing.
    """
    detach = data["remove_dependencies_on"]
    return service.preview(current_actor, project_id, data["features"], detach=detach)


@bp.post("/archive", needs=Permission.DELETE_FEATURE, refuses=(404,))
@bp.arguments(schemas.ArchiveRequest, example={"features": ["checkout.new-flow"]})
@bp.response(202)
def archive(data: dict[str, list[str]], project_id: str) -> Response:
    """Archive features

    All or none: nothing is archived while a feature outside the request depends on one inside it.
    Reviving restores the dependencies that archiving deletes.
    """
    detach = data["remove_dependencies_on"]
    if detach:
        current_actor.require(Permission.UPDATE_FEATURE_DEPENDENCY, project_id)
    service.archive(current_actor, project_id, data["features"], detach=detach)
    return no_body(202)


@bp.delete("/features/<key:name>", needs=Permission.DELETE_FEATURE, refuses=(409,))
@bp.response(202)
def archive_one(project_id: str, name: str) -> Response:
    """Archive a feature

    Refused while another feature depends on it.
    """
    service.archive(current_actor, project_id, [name])
    return no_body(202)


@bp.post("/revive", needs=Permission.DELETE_FEATURE, refuses=(404,))
@bp.arguments(schemas.FeatureNames, example={"features": ["checkout.new-flow"]})
@bp.response(200)
def revive_quietly(data: dict[str, list[str]], project_id: str) -> Response:
    """Revive archived features, as Unleash’s clients do

    Each depends on its former parent again, if that is active and the rules still allow it.
    """
    service.revive(current_actor, project_id, data["features"])
    return no_body()


@bp.post("/revive-features", needs=Permission.DELETE_FEATURE, refuses=(404,))
@bp.arguments(schemas.FeatureNames, example={"features": ["checkout.new-flow"]})
@bp.response(200, schemas.Revived)
def revive(data: dict[str, list[str]], project_id: str) -> dict[str, list[str]]:
    """Revive archived features

    Each depends on its former parent again, if that is active and the rules still allow it.
    """
    return {"revived": service.revive(current_actor, project_id, data["features"]).names}


@archived_bp.post("/revive/<key:name>", needs=Access.SIGNED_IN, keeps=NOTHING, refuses=(403, 404))
@archived_bp.response(200)
def revive_one(name: str) -> Response:
    """Revive an archived feature

    Needs DELETE_FEATURE in its project.
    """
    project_id = features.project_of(current_actor, name)
    current_actor.require(Permission.DELETE_FEATURE, project_id)
    service.revive(current_actor, project_id, [name])
    return no_body()


@bp.post("/delete", needs=Permission.DELETE_FEATURE, refuses=(404,))
@bp.arguments(schemas.FeatureNames, example={"features": ["checkout.old-flow"]})
@bp.response(200)
def delete(data: dict[str, list[str]], project_id: str) -> Response:
    """Delete archived features

    All or none, for good: with their strategies, usage and tags. Their names are free again. 409
    if one is not archived. The event log keeps their events.
    """
    deletion.delete(current_actor, project_id, data["features"])
    return no_body()


@archived_bp.delete("/<key:name>", needs=Access.SIGNED_IN, refuses=(403, 404, 409))
@archived_bp.response(200)
def delete_one(name: str) -> Response:
    """Delete an archived feature

    For good, as `POST /api/admin/projects/{project_id}/delete` does, which takes several.
    """
    project_id = features.project_of(current_actor, name)
    current_actor.require(Permission.DELETE_FEATURE, project_id)
    deletion.delete(current_actor, project_id, [name])
    return no_body()
