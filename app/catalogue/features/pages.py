from functools import partial
from typing import Any

from flask import flash, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.feature_types import service as feature_types
from app.catalogue.features import history, lifecycle, requests, schemas, service
from app.catalogue.features.credits import with_credits
from app.catalogue.features.forms import (
    STAGES,
    TYPE_NAMES,
    NewFeatureForm,
    PasteForm,
    filter_choices,
    proposals,
)
from app.catalogue.features.history import ChangeHistory
from app.catalogue.features.models import StaleReason
from app.catalogue.features.pages_all import asked_name, list_columns
from app.catalogue.features.queries import FeatureView
from app.catalogue.projects import service as projects
from app.catalogue.strategies import queries as strategies
from app.catalogue.strategies import words
from app.catalogue.strategies.models import Strategy
from app.catalogue.strategies.words import RolloutState
from app.catalogue.tags import service as tags
from app.catalogue.usage.moments import Spark, last_hours, spark
from app.core.permissions import Access, Permission
from app.web import exports
from app.web.current import current_actor, current_settings
from app.web.forms import show_form, submit
from app.web.listing import read_query
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("feature_pages", __name__, url_prefix="/projects/<key:project_id>")

SUGGESTIONS = 300
FILTERS = {
    "text": "Text",
    "type": "Type",
    "tag": "Tag",
    "withoutTag": "Without tag",
    "state": "State",
    "stale": "Stale",
    "stage": "Stage",
    "usage": "Checked",
    "staleProposal": "Proposed as stale",
}


@bp.get("", needs=Access.SIGNED_IN)
def index(project_id: str) -> ResponseReturnValue:
    """List the features of a project to filter and select, or export those that match."""
    query = read_query(schemas.FeatureQuery)
    settings = current_settings()
    search = partial(service.search, current_actor, project_id, stale_after=settings.stale_after)
    if exports.wanted():
        projects.require(current_actor, project_id)
        name = f"features-of-{project_id}"
        credited = with_credits(current_actor, search)
        return exports.table(name, schemas.FeatureRow(), credited, query.values)
    page = search(**query.values)
    environments = strategies.environments_of([project_id]).get(project_id, [])
    choices = filter_choices(settings.stale_after_days, [one.name for one in environments])
    selected, shown = requests.selected(project_id), {view.feature.name for view in page.items}
    return render_template(
        "catalogue/features/index.html",
        overview=projects.overview(current_actor, project_id),
        page=page,
        query=query,
        filters=query.in_use(FILTERS, choices),
        choices=choices,
        proposals=proposals(settings.stale_after_days),
        selected=selected & shown,
        selected_elsewhere=len(selected - shown),
        everything="all" in request.args,
        archived_count=service.archived_count(current_actor, project_id),
        suggestions=service.used_tags(project_id, SUGGESTIONS),
        hues=tags.hues(),
        type_names=TYPE_NAMES,
        environments=environments,
        **list_columns(environments, page.items),
    )


@bp.form("/new-feature", needs=Permission.CREATE_FEATURE)
def new(project_id: str) -> ResponseReturnValue:
    """Create a feature, and optionally the next one after it."""
    form = NewFeatureForm(data={"type": "release", "name": asked_name()})
    if view := submit(form, lambda: service.create(current_actor, project_id, **form.values)):
        flash(f"Feature {view.feature.name} created.", "ok")
        if "another" in request.form:
            return redirect_to(".new", project_id=project_id)
        return redirect_to(".show", project_id=project_id, name=view.feature.name)
    overview = projects.overview(current_actor, project_id)
    return show_form("catalogue/features/new.html", form, overview=overview)


@bp.get("/features/<key:name>", needs=Access.SIGNED_IN)
def show(project_id: str, name: str) -> str:
    """Show where a feature is on, and who gets it."""
    view = service.get(current_actor, project_id, name)
    page = about(project_id, view)
    is_old = page["life"].proposal is StaleReason.LIFETIME
    return render_template(
        "catalogue/features/show.html",
        **page,
        sparks=_sparks(view, page["history"]),
        lifetime=is_old and feature_types.lifetimes()[view.feature.type],
        describe=words.describe,
        reach=words.reach,
        shares=words.shares,
        defaults=_defaults(project_id, view),
        parent_off=_where_parent_is_off(project_id, view),
    )


@bp.form("/paste", needs=Permission.UPDATE_FEATURE)
def paste(project_id: str) -> ResponseReturnValue:
    """Paste a list of names to work with."""
    form = PasteForm()
    if form.validate_on_submit():
        return requests.open_selection(project_id, form.values["names"])
    overview = projects.overview(current_actor, project_id)
    return show_form("catalogue/features/paste.html", form, overview=overview)


@bp.post("/selection", needs=Permission.UPDATE_FEATURE)
def select(project_id: str) -> Response:
    """Store a selection and go to the page that acts on it."""
    after = current_settings().stale_after
    search = partial(service.names, current_actor, project_id, stale_after=after)
    return requests.select(project_id, lambda: search(**requests.list_filters()))


def about(project_id: str, view: FeatureView) -> dict[str, Any]:
    """Template values for the top of all pages of a feature; see ``layouts/feature.html``."""
    settings, feature = current_settings(), view.feature
    lives = lifecycle.lives([feature], stale_after=settings.stale_after)
    return {
        "overview": projects.overview(current_actor, project_id),
        "view": view,
        "hues": tags.hues(),
        "type_names": TYPE_NAMES,
        "history": history.of(current_actor, feature),
        "life": lives[feature.id],
        "stages": STAGES,
        "stale_days": settings.stale_after_days,
    }


def _sparks(view: FeatureView, history: ChangeHistory) -> dict[str, Spark]:
    """The last 48 hours by environment, where the feature was checked."""
    return {
        name: spark(
            hours,
            [(entry.at, entry.verb) for entry in history.in_environment(name, hours[0].start)],
        )
        for name, hours in last_hours(view.feature.id).items()
    }


def _defaults(project_id: str, view: FeatureView) -> dict[str, Strategy | None]:
    """Strategy that switching on adds, by environment without one; None: rollout to everyone."""
    return {
        state.name: strategies.default_in(project_id, state.name)
        for state in view.environments
        if not state.strategies
    }


def _where_parent_is_off(project_id: str, view: FeatureView) -> set[str]:
    """The environments in which the feature reaches no one because of its parent’s state there."""
    if not view.dependencies:
        return set()
    parent = service.get(current_actor, project_id, view.dependencies[0].feature)
    hinders = RolloutState.OFF if view.dependencies[0].enabled else RolloutState.EVERYONE
    return {
        state.name
        for state in parent.environments
        if words.reach(state.strategies, enabled=state.enabled) is hinders
    }
