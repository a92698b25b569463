from functools import partial

from flask import render_template
from flask.typing import ResponseReturnValue

from app.catalogue.features import everywhere, schemas
from app.catalogue.features.forms import filter_choices, proposals
from app.catalogue.tags import service as tags
from app.core.permissions import Access
from app.web import exports
from app.web.caller import current_actor
from app.web.listing import read_query
from app.web.routes import PageBlueprint
from app.web.settings import current_settings

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
    search = partial(everywhere.search, current_actor, stale_after=settings.stale_after)
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
