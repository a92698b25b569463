from flask import render_template

from app.catalogue.features import health
from app.catalogue.features.forms import STAGES, proposals
from app.catalogue.projects import service as projects
from app.catalogue.strategies import words
from app.catalogue.strategies.words import WHOLE
from app.core.permissions import Access
from app.web.current import current_actor, current_settings
from app.web.routes import PageBlueprint

bp = PageBlueprint("health_pages", __name__, url_prefix="/projects/<key:project_id>")

AGES = ("Up to 30 days", "30 to 90 days", "90 days to a year", "More than a year")


@bp.get("/health", needs=Access.SIGNED_IN)
def show(project_id: str) -> str:
    """Show the stages and ages of a project's features, and those that could be removed."""
    settings = current_settings()
    after = settings.stale_after
    found = health.for_project(current_actor, project_id, stale_after=after)
    return render_template(
        "catalogue/features/health.html",
        overview=projects.overview(current_actor, project_id),
        health=found,
        bar=words.bar(
            [(stage.value, n * WHOLE // (found.total or 1)) for stage, n in found.stages.items()]
        ),
        stages=STAGES,
        ages=AGES,
        leftovers=health.leftovers(current_actor, project_id, stale_after=after),
        listed=health.LISTED,
        proposals=proposals(settings.stale_after_days),
        most_active=health.most_active(current_actor, project_id),
        lately=health.LATELY.days,
    )
