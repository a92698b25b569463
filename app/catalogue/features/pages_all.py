from collections.abc import Collection, Iterable, Sequence
from functools import partial
from math import ceil
from typing import Any

from flask import flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.environments import service as environments
from app.catalogue.environments.models import Environment, EnvironmentType
from app.catalogue.features import requests, schemas, service
from app.catalogue.features.credits import with_credits
from app.catalogue.features.forms import TYPE_NAMES, PasteForm, filter_choices, proposals
from app.catalogue.features.queries import FeatureView
from app.catalogue.projects import service as projects
from app.catalogue.projects.queries import for_ids
from app.catalogue.strategies import words
from app.catalogue.strategies.queries import ProjectUse
from app.catalogue.tags import service as tags
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.core.words import is_key
from app.web import exports
from app.web.current import current_actor, current_settings
from app.web.forms import show_form
from app.web.listing import read_query
from app.web.navigation import needs_somewhere
from app.web.redirects import redirect_to, this_address
from app.web.routes import PageBlueprint

bp = PageBlueprint("all_feature_pages", __name__)

_may_select = needs_somewhere(Permission.UPDATE_FEATURE)
_may_switch = needs_somewhere(Permission.UPDATE_FEATURE_ENVIRONMENT)
_may_create = needs_somewhere(Permission.CREATE_FEATURE)

FILTERS = {
    "text": "Text",
    "project": "Project",
    "tag": "Tag",
    "withoutTag": "Without tag",
    "type": "Type",
    "state": "State",
    "stale": "Stale",
    "stage": "Stage",
    "usage": "Checked",
    "staleProposal": "Proposed as stale",
}


MAX_COLUMNS = 3
PROJECTS_OFFERED = 100


NAME, PROJECT, PICK, STATE, GUARDED_STATE = 18, 7, 2.75, 7.5, 12.25
OPTIONAL = {"lastSeen": 7.75, "type": 6, "age": 6, "tags": 12}
"""Columns that people can hide, the first to show first, with their widths in rem."""


def list_columns(
    used: Sequence[Environment | ProjectUse], views: Iterable[FeatureView], room: float = NAME
) -> dict[str, Any]:
    """Template values for the columns of lists of features; see ``_rows.html``.

    Up to ``MAX_COLUMNS`` environments have one, production before all others; the rest share one.
    ``guarded``: those with a state in the list that needs approvals to change. ``room``: what the
    columns before them take, in rem.
    """
    by_rank = sorted(used, key=lambda one: (one.type is EnvironmentType.PRODUCTION, one.sort_order))
    shown = {one.name for one in by_rank[-MAX_COLUMNS:]}
    guarded = {
        state.name
        for view in views
        for state in view.environments
        if state.environment.required_approvals
    }
    return {
        "columns": [one.name for one in used if one.name in shown],
        "number_of_others": len(used) - len(shown),
        "guarded": guarded,
        "optional_columns": partial(
            optional_columns,
            room + sum(GUARDED_STATE if name in guarded else STATE for name in shown),
        ),
        "short": words.short,
        "back": this_address(),
    }


def optional_columns(room: float, hidden: Collection[str]) -> dict[str, str]:
    """The class with which each column shows where the list is wide enough for it.

    ``room``: the rem that other columns take. Only the first column may cut into descriptions.
    ``hidden``: the columns that the reader doesn't want.
    """
    classes: dict[str, str] = {}
    for name, width in OPTIONAL.items():
        if name not in hidden:
            room += width + (8 if len(classes) == 1 else 0)
            classes[name] = f"from-{min(max(ceil(room / 6) * 6, 54), 96)}"
    return classes


@bp.get("/features", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """List the features of all projects that the reader can see, or export those that match."""
    query = read_query(schemas.AllFeaturesQuery)
    settings = current_settings()
    search = partial(service.search_everywhere, current_actor, stale_after=settings.stale_after)
    if exports.wanted():
        credited = with_credits(current_actor, search)
        return exports.table("features", schemas.FeatureRow(), credited, query.values)
    other = {**query.values, "archived": not query.values["archived"], "limit": 0, "offset": 0}
    names = projects.names(current_actor, PROJECTS_OFFERED + 1)
    offered = dict(names) if len(names) <= PROJECTS_OFFERED else {}
    known = environments.list_all()
    choices = filter_choices(settings.stale_after_days, [one.name for one in known])
    choices["project"] = offered
    page = search(**query.values)
    selected, shown = requests.selected(None), {view.feature.name for view in page.items}
    listed = {state.name for view in page.items for state in view.environments}
    used = [one for one in known if one.name in listed]
    ids = {view.feature.project_id for view in page.items}
    return render_template(
        "catalogue/features/all.html",
        **list_columns(used, page.items, NAME + PROJECT + PICK),
        page=page,
        environments=known,
        selected=selected & shown,
        selected_elsewhere=len(selected - shown),
        everything="all" in request.args,
        may_select=_may_select(current_actor),
        may_switch=_may_switch(current_actor),
        may_create=_may_create(current_actor),
        projects=for_ids(ids),
        project_pages={id: url_for("feature_pages.index", project_id=id) for id in ids},
        elsewhere=search(**other).total,
        query=query,
        filters=query.in_use(FILTERS, choices),
        choices=choices,
        proposals=proposals(settings.stale_after_days),
        hues=tags.hues(),
        type_names=TYPE_NAMES,
    )


@bp.form("/features/paste", needs=Access.SIGNED_IN, keeps=NOTHING)
def paste() -> ResponseReturnValue:
    """Paste a list of names from any project to work with."""
    if not _may_select(current_actor):
        return _refuse()
    form = PasteForm()
    if form.validate_on_submit():
        return requests.open_selection(None, form.values["names"])
    return show_form("catalogue/features/paste_any.html", form)


@bp.post("/features/selection", needs=Access.SIGNED_IN, keeps=NOTHING)
def select() -> ResponseReturnValue:
    """Store a selection over projects and go to the page that acts on it."""
    if not _may_select(current_actor):
        return _refuse()
    after = current_settings().stale_after
    search = partial(service.names_everywhere, current_actor, stale_after=after)
    return requests.select(None, lambda: search(**requests.list_filters(schemas.AllFeaturesQuery)))


def _refuse() -> Response:
    flash("You can’t change features in any project. Ask an Owner to make you a member.", "warn")
    return redirect_to(".index")


new_bp = PageBlueprint("new_feature_pages", __name__)


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
