from typing import Any
from uuid import UUID

from flask import Response, url_for

from app.catalogue.releases.models import OPEN, ReleaseState
from app.catalogue.releases.queries import Located
from app.core.paging import Page
from app.core.permissions import Access, Permission
from app.releases.plans import acts, review, schemas, service, views
from app.releases.plans.review import ReviewedRelease
from app.releases.plans.views import ReleaseView
from app.releases.templates.api import EVERYONE, STEP
from app.web.current import current_actor
from app.web.routes import ApiBlueprint, no_body

SWITCH = Permission.UPDATE_FEATURE_ENVIRONMENT
PLACE = "/projects/<key:project_id>/features/<key:name>/environments/<key:environment>"
PLANS = f"{PLACE}/release-plans"
REASON = {"reason": "Support is short today"}

bp = ApiBlueprint(
    "releases",
    __name__,
    url_prefix="/api/admin",
    description="Releases: a feature goes through steps in an environment.",
)


@bp.get("/releases", needs=Access.SIGNED_IN)
@bp.arguments(schemas.ReleaseQuery, location="query")
@bp.response(200, schemas.ReleaseList, whole=True)
def index(query: dict[str, Any]) -> Page[ReleaseView]:
    """List releases

    In the projects that you can see. Those that need someone come first.
    """
    page = service.search(current_actor, **{"is_open": True, **query})
    return page.of(views.of(page.items))


@bp.get(PLANS, needs=Access.SIGNED_IN)
@bp.response(200, schemas.ReleaseRow(many=True))
def index_of_feature(project_id: str, name: str, environment: str) -> list[ReleaseView]:
    """List the release of a feature in an environment

    The one that is under way, or that was done last. /api/admin/releases has the former ones.
    """
    found = service.latest(current_actor, project_id, name, environment)
    is_shown = found is not None and found.release.state in {*OPEN, ReleaseState.DONE}
    return [views.one(found)] if found and is_shown else []


@bp.post(PLANS, needs=SWITCH, refuses=(404,))
@bp.arguments(schemas.NewRelease, example={"milestones": [STEP, EVERYONE], "start": True})
@bp.response(201, schemas.ReviewedRelease)
def create(
    data: dict[str, Any], project_id: str, name: str, environment: str
) -> tuple[ReviewedRelease, dict[str, str]]:
    """Create a release of a feature

    It starts at once with “start”, by itself with “startAt”, or else when you start its first step.
    With ?dryRun=true&extended=true you see what each step will mean, and nothing is changed.
    """
    found = service.create(current_actor, project_id, name, environment, **data)
    address = url_for(
        ".show", project_id=project_id, name=name, environment=environment, release=found.release.id
    )
    return review.of_release(found), {"Location": address}


@bp.get(f"{PLANS}/<uuid:release>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.ReleaseRow)
def show(project_id: str, name: str, environment: str, release: UUID) -> ReleaseView:
    """Read a release"""
    return views.one(service.get(current_actor, project_id, name, environment, release))


@bp.delete(f"{PLANS}/<uuid:release>", needs=SWITCH, refuses=(404, 409))
@bp.response(204)
def remove(project_id: str, name: str, environment: str, release: UUID) -> Response:
    """Leave a release

    Who gets the feature stays as it is. The strategies belong to the feature again.
    """
    acts.leave(current_actor, _for_change(project_id, name, environment, release))
    return no_body(204)


@bp.post(f"{PLANS}/<uuid:release>/milestones/<uuid:step>/start", needs=SWITCH, refuses=(404,))
@bp.response(200, schemas.ReleaseRow)
def start(project_id: str, name: str, environment: str, release: UUID, step: UUID) -> ReleaseView:
    """Start a step of a release

    Where the environment needs approvals, an early start needs them too.
    """
    found = _for_change(project_id, name, environment, release)
    acts.start(current_actor, found, str(step))
    return views.one(found)


@bp.post(f"{PLANS}/<uuid:release>/hold", needs=SWITCH, refuses=(404,))
@bp.arguments(schemas.ReleaseReason, example=REASON)
@bp.response(200, schemas.ReleaseRow, whole=True)
def hold(
    data: dict[str, Any], project_id: str, name: str, environment: str, release: UUID
) -> ReleaseView:
    """Put a release on hold

    No step starts until someone resumes it. It needs no approval.
    """
    found = _for_change(project_id, name, environment, release)
    acts.hold(current_actor, found, data["reason"])
    return views.one(found)


@bp.post(f"{PLANS}/<uuid:release>/resume", needs=SWITCH, refuses=(404,))
@bp.response(200, schemas.ReleaseRow, whole=True)
def resume(project_id: str, name: str, environment: str, release: UUID) -> ReleaseView:
    """Resume a release that is on hold

    The waiting time of its step starts again.
    """
    return _resume(project_id, name, environment, release)


@bp.post(f"{PLANS}/<uuid:release>/stop", needs=SWITCH, refuses=(404,))
@bp.arguments(schemas.ReleaseReason, example=REASON)
@bp.response(200, schemas.ReleaseRow, whole=True)
def stop(
    data: dict[str, Any], project_id: str, name: str, environment: str, release: UUID
) -> ReleaseView:
    """Stop a release

    The feature goes off, or gets its former strategies back. It needs no approval.
    """
    found = _for_change(project_id, name, environment, release)
    acts.stop(current_actor, found, data["reason"])
    return views.one(found)


@bp.put(f"{PLACE}/progressions/<uuid:step>", needs=SWITCH, refuses=(404, 409))
@bp.arguments(schemas.Progression, example={"transitionCondition": {"intervalMinutes": 60}})
@bp.response(200, schemas.ReleaseRow)
def set_progression(
    data: dict[str, Any], project_id: str, name: str, environment: str, step: UUID
) -> ReleaseView:
    """Choose when the step after this one starts"""
    found = service.with_step(current_actor, project_id, name, environment, str(step))
    transition = data["transition_condition"]
    acts.set_transition(current_actor, found, str(step), transition, data.get("target_milestone"))
    return views.one(found)


@bp.delete(f"{PLACE}/progressions/<uuid:step>", needs=SWITCH, refuses=(404, 409))
@bp.response(204)
def remove_progression(project_id: str, name: str, environment: str, step: UUID) -> Response:
    """Let someone start the step after this one"""
    found = service.with_step(current_actor, project_id, name, environment, str(step))
    acts.set_transition(current_actor, found, str(step), None)
    return no_body(204)


@bp.post(f"{PLACE}/progressions/<uuid:release>/resume", needs=SWITCH, refuses=(404,))
@bp.response(200, schemas.ReleaseRow)
def resume_progressions(project_id: str, name: str, environment: str, release: UUID) -> ReleaseView:
    """Resume a release that is on hold, as Unleash’s clients do

    The waiting time of its step starts again.
    """
    return _resume(project_id, name, environment, release)


def _resume(project_id: str, name: str, environment: str, release: UUID) -> ReleaseView:
    found = _for_change(project_id, name, environment, release)
    acts.resume(current_actor, found)
    return views.one(found)


def _for_change(project_id: str, name: str, environment: str, release: UUID) -> Located:
    return service.get(current_actor, project_id, name, environment, release, for_change=True)
