from flask import render_template, request
from flask.typing import ResponseReturnValue

from app.catalogue.projects import service as projects
from app.core.permissions import Access, Permission
from app.core.spelling import is_key
from app.web.caller import current_actor
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("new_feature_pages", __name__)

PROJECTS_OFFERED = 100


def asked_name() -> str | None:
    """The name for a new feature that the address brings, if a feature can have it."""
    name = request.args.get("name", "")
    return name if is_key(name) else None


@bp.get("/new-feature", needs=Access.SIGNED_IN)
def choose() -> ResponseReturnValue:
    """Choose the project of a new feature; where there is no choice, go on to its form."""
    found = projects.names(current_actor, PROJECTS_OFFERED + 1, Permission.CREATE_FEATURE)
    name = asked_name()
    if len(found) == 1:
        return redirect_to("feature_pages.new", project_id=found[0][0], name=name)
    return render_template(
        "catalogue/features/choose_project.html",
        name=name,
        projects=found[:PROJECTS_OFFERED],
        are_all=len(found) <= PROJECTS_OFFERED,
    )
