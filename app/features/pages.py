from functools import partial
from typing import Any

from flask import flash, g, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.core import exports
from app.core.actor import current_actor
from app.core.conflicts import Values, Watch
from app.core.forms import attempt, carry_out, show_form
from app.core.pages import PageBlueprint, read_query, see
from app.core.permissions import Access, Permission
from app.features import schemas, selections, service
from app.features.forms import TYPES, FeatureForm, NewFeatureForm, settings_of
from app.features.queries import FeatureView
from app.projects import service as projects
from app.tags import service as tags

bp = PageBlueprint("feature_pages", __name__, url_prefix="/projects/<key:project_id>")

SUGGESTIONS = 300
WORDS = {
    "type": "Type",
    "description": "Description",
    "stale": "Stale",
    "impression_data": "Impression data",
    "parent": "Depends on",
}
DESTINATIONS = {"tags": "picker.choose", "archive": "archive_pages.preview"}


@bp.get("", needs=Access.SIGNED_IN)
def index(project_id: str) -> ResponseReturnValue:
    """The features of a project, to filter, and to choose several of; or all as a file."""
    query = read_query(schemas.FeatureQuery)
    if exports.wanted():
        projects.require(current_actor, project_id)
        search = partial(service.search, current_actor, project_id)
        name = f"features-of-{project_id}"
        return exports.table(name, schemas.FeatureRow(), search, query.values)
    page = service.search(current_actor, project_id, **query.values)
    kept = g.get("kept_form")
    return render_template(
        "features/index.html",
        overview=projects.overview(current_actor, project_id),
        page=page,
        query=query,
        chosen=set(kept.getlist("feature")) if kept else set(),
        everything="all" in request.args,
        archived_count=service.archived_count(current_actor, project_id),
        suggestions=service.used_tags(project_id, SUGGESTIONS),
        hues=hues(),
        types=TYPES,
    )


@bp.route("/features/new", methods=["GET", "POST"], needs=Permission.CREATE_FEATURE)
def new(project_id: str) -> ResponseReturnValue:
    """Create a feature, and another one if there are more."""
    form = NewFeatureForm(data={"type": "release"})
    if view := attempt(form, lambda: service.create(current_actor, project_id, **form.values)):
        flash(f"Feature {view.feature.name} created.", "ok")
        if "another" in request.form:
            return see(".new", project_id=project_id)
        return see(".show", project_id=project_id, name=view.feature.name)
    overview = projects.overview(current_actor, project_id)
    return show_form("features/new.html", form, overview=overview)


@bp.get("/features/<key:name>", needs=Access.SIGNED_IN)
def show(project_id: str, name: str) -> ResponseReturnValue:
    """A feature, with a form for those who may change it."""
    view = service.get(current_actor, project_id, name)
    return _feature_page(project_id, view, FeatureForm(data=settings_of(view)))


@bp.post("/features/<key:name>", needs=Permission.UPDATE_FEATURE)
def update(project_id: str, name: str) -> ResponseReturnValue:
    """Save; whoever was overtaken by somebody else chooses part by part, and loses nothing."""
    view = service.get_for_change(current_actor, project_id, name)
    form, present = FeatureForm(data=settings_of(view)), settings_of(view)
    watch = _watch(name)
    seen = watch.seen()
    for part in watch.taken_from_them():
        form[part].data = present[part]
    if "back" in request.form or not form.validate_on_submit():
        return _feature_page(project_id, view, form, seen)
    if present not in (seen, form.settings):
        return _conflict_page(project_id, view, form, seen)
    if carry_out(form, lambda: _save(project_id, view, form)):
        flash(f"Feature {name} saved.", "ok")
        return see(".show", project_id=project_id, name=name)
    return _feature_page(project_id, view, form, seen)


@bp.get("/paste", needs=Permission.UPDATE_FEATURE)
def paste(project_id: str) -> str:
    """A list of names from somewhere else, to do something with."""
    overview = projects.overview(current_actor, project_id)
    kept = g.get("kept_form")
    return render_template(
        "features/paste.html", overview=overview, names=kept.get("names", "") if kept else ""
    )


@bp.post("/selection", needs=Permission.UPDATE_FEATURE)
def select(project_id: str) -> Response:
    """Give what was chosen an address, and lead to what is to be done with it.

    Chosen are rows of the list, names in a pasted text, all that match a filter, or an earlier
    selection with some more and without some others.
    """
    sent = request.form
    if earlier := sent.get("selection"):
        plus, minus = sent.getlist("plus"), sent.getlist("minus")
        id = selections.change(current_actor, project_id, earlier, plus=plus, minus=minus)
    else:
        names = sent.getlist("feature") + selections.pasted(sent.get("names", ""))
        if "all" in sent:
            names += service.names(current_actor, project_id, **filters_of_list())
        if not names:
            flash("Choose at least one feature first; nothing was changed.", "warn")
            return see(".index", project_id=project_id)
        id = selections.keep(current_actor, project_id, names)
    endpoint = DESTINATIONS.get(sent.get("to", ""), DESTINATIONS["tags"])
    return see(endpoint, project_id=project_id, selection=id)


def hues() -> dict[str, int]:
    """The colour's number of each tag type."""
    return {type.name: type.hue for type in tags.types()}


def filters_of_list() -> dict[str, Any]:
    """What the list was narrowed to, which stands in the address that its form is sent to."""
    values = read_query(schemas.FeatureQuery).values
    return {k: v for k, v in values.items() if k not in {"limit", "offset", "sort"}}


def _watch(name: str) -> Watch:
    return Watch(f"feature {name}", WORDS)


def _save(project_id: str, view: FeatureView, form: FeatureForm) -> None:
    values = dict(form.values)
    parent, name = values.pop("parent"), view.feature.name
    service.update(current_actor, view.feature, **values)
    if parent is None:
        service.remove_dependencies(current_actor, project_id, name)
    else:
        service.add_dependency(current_actor, project_id, name, parent)


def _feature_page(
    project_id: str, view: FeatureView, form: FeatureForm, seen: Values | None = None
) -> ResponseReturnValue:
    name = view.feature.name
    return show_form(
        "features/show.html",
        form,
        overview=projects.overview(current_actor, project_id),
        view=view,
        hues=hues(),
        seen=_watch(name).seal(seen or settings_of(view)),
        parents=service.possible_parents(project_id, SUGGESTIONS),
    )


def _conflict_page(
    project_id: str, view: FeatureView, form: FeatureForm, seen: Values
) -> ResponseReturnValue:
    """Original, theirs and mine side by side; where only one side changed it, that is chosen."""
    watch, present = _watch(view.feature.name), settings_of(view)
    page = render_template(
        "features/conflict.html",
        overview=projects.overview(current_actor, project_id),
        view=view,
        rows=watch.sides(seen, present, form.settings),
        seen=watch.seal(present),
        carried=form.carried,
    )
    return page, 409
