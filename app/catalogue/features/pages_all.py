from functools import partial

from flask import render_template, request
from flask.typing import ResponseReturnValue

from app.catalogue.features import schemas, service
from app.catalogue.features.forms import filter_choices, proposals
from app.catalogue.projects import service as projects
from app.catalogue.tags import service as tags
from app.core.permissions import Access, Permission
from app.core.words import is_key
from app.web import exports
from app.web.current import current_actor, current_settings
from app.web.listing import read_query
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("all_feature_pages", __name__)

FILTERS = {
    "text": "Text",
    "project": "Project",
    "tag": "Tag",
    "withoutTag": "Without tag",
    "type": "Type",
    "stale": "State",
    "stage": "Stage",
    "usage": "Usage",
    "staleProposal": "Proposed as stale",
}


@bp.get("/features", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """List the features of all projects that the reader can see, or export those that match."""
    query = read_query(schemas.AllFeaturesQuery)
    settings = current_settings()
    search = partial(service.search_everywhere, current_actor, stale_after=settings.stale_after)
    if exports.wanted():
        return exports.table("features", schemas.FeatureRow(), search, query.values)
    other = {**query.values, "archived": not query.values["archived"], "limit": 1, "offset": 0}
    choices = filter_choices(settings.stale_after_days)
    return render_template(
        "catalogue/features/all.html",
        page=search(**query.values),
        elsewhere=search(**other).total,
        query=query,
        filters=query.in_use(FILTERS, choices),
        choices=choices,
        proposals=proposals(settings.stale_after_days),
        hues=tags.hues(),
    )


new_bp = PageBlueprint("new_feature_pages", __name__)

PROJECTS_OFFERED = 100


def asked_name() -> str | None:
    """Name for a new feature from the address; None if it isn't valid."""
    name = request.args.get("name", "")
    return name if is_key(name) else None


@new_bp.get("/new-feature", needs=Access.SIGNED_IN)
def choose() -> ResponseReturnValue:
    """Choose the project of a new feature. If only one is possible, redirect to its form."""
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
