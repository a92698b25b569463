"""Numbers about projects, at the addresses that Unleash has."""

from typing import Any

from app.catalogue.features import insights
from app.catalogue.features import schemas_insights as schemas
from app.catalogue.features.models import Stage
from app.core.permissions import Access
from app.web.current import current_actor, current_settings
from app.web.routes import ApiBlueprint

bp = ApiBlueprint(
    "insights",
    __name__,
    url_prefix="/api/admin/projects/<key:project_id>",
    description="Numbers about projects.",
)


@bp.get("/overview", needs=Access.SIGNED_IN)
@bp.response(200, schemas.ProjectOverview)
def show_overview(project_id: str) -> dict[str, Any]:
    """Read the overview of a project"""
    return _overview(project_id)


@bp.get("/health-report", needs=Access.SIGNED_IN)
@bp.response(200, schemas.HealthReport)
def show_health_report(project_id: str) -> dict[str, Any]:
    """Read the overview of a project with its features"""
    after = current_settings().stale_after
    features = insights.features_of(current_actor, project_id, stale_after=after)
    return _overview(project_id) | {"features": features}


@bp.get("/insights", needs=Access.SIGNED_IN)
@bp.response(200, schemas.ProjectInsights)
def show_insights(project_id: str) -> dict[str, Any]:
    """Read how a project develops"""
    found = _overview(project_id)
    changed = found["stats"]["project_members_added_current_window"]
    return found | {
        "health": {"rating": found["health"], "counts": found["counts"]},
        "technical_debt": {"rating": found["technical_debt"], "counts": found["counts"]},
        "members": {"current_members": found["members"], "change": changed},
    }


@bp.get("/dora", needs=Access.SIGNED_IN)
@bp.response(200, schemas.LeadTimes)
def show_lead_times(project_id: str) -> dict[str, Any]:
    """Read how long features took until they were on in production

    From their creation until an application first got “on” there, in days.
    """
    return insights.lead_times(current_actor, project_id)


@bp.get("/status", needs=Access.SIGNED_IN)
@bp.response(200, schemas.ProjectStatus)
def show_status(project_id: str) -> dict[str, Any]:
    """Read what happens in a project, and how far its features are"""
    after = current_settings().stale_after
    found = insights.status(current_actor, project_id, stale_after=after)
    summary: dict[str, dict[str, Any]] = {
        stage.name.lower(): {"current_flags": number, "average_days": found["days"].get(stage)}
        for stage, number in found["stages"].items()
    }
    summary[Stage.ARCHIVED.value]["last_30_days"] = found["archived_lately"]
    return found | {"resources": found, "lifecycle_summary": summary}


def _overview(project_id: str) -> dict[str, Any]:
    after = current_settings().stale_after
    return insights.overview(current_actor, project_id, stale_after=after)


everywhere_bp = ApiBlueprint(
    "stages",
    __name__,
    url_prefix="/api/admin/lifecycle",
    description="How far features are, over all projects that the caller can see.",
)


@everywhere_bp.get("/count", needs=Access.SIGNED_IN)
@everywhere_bp.response(200, schemas.StageCounts)
def count_stages() -> dict[str, int]:
    """Count features by stage"""
    return insights.stages(current_actor)
