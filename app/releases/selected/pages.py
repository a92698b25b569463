"""The page that acts on selected features of several projects: choose, review and confirm.

The address says what to do: ``to`` with its values, and ``selection``.
"""

from flask import flash, request
from flask.typing import ResponseReturnValue

from app.catalogue.features import changes, selections
from app.catalogue.features import service as features
from app.catalogue.features.forms import STATES, TYPE_NAMES
from app.catalogue.features.requests import SWITCHES
from app.catalogue.projects.queries import visible_projects
from app.core.events import service as events
from app.core.events.undoing import MOST
from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.core.words import counted
from app.releases.selected import acts, schemas
from app.releases.selected.acts import Act, Archive, Set, Shown, Switch, Tag
from app.web import signing
from app.web.current import current_actor
from app.web.forms import ReasonForm, show_review, submit
from app.web.listing import Query, read_query
from app.web.redirects import flash_with_undo, redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("selected_pages", __name__, url_prefix="/features/selected")

SUBJECT = "features of several projects"
TITLES = {
    "on": "Switch {} on in {}",
    "off": "Switch {} off in {}",
    "tags": "Edit the tags of {}",
    "settings": "Edit type and state of {}",
    "stale": "Mark {} as stale",
    "archive": "Archive {}",
}
DONE = {
    "on": "{} switched on in {}.",
    "off": "{} switched off in {}.",
    "tags": "The tags of {} changed.",
    "archive": "{} archived. You can revive archived features in their project.",
}
CHANGED = "{} changed."


@bp.get("", needs=Access.SIGNED_IN)
def review() -> ResponseReturnValue:
    """Show what would change in each project."""
    return _review_page(ReasonForm())


@bp.post("", needs=Access.SIGNED_IN, keeps=NOTHING)
def apply() -> ResponseReturnValue:
    """Make the changes that the review showed."""
    form, query, batch = ReasonForm(), read_query(schemas.SelectedQuery), events.new_batch()
    shown: Shown = signing.read("review", SUBJECT, request.form.get("plan", ""))
    act = _act(query)
    if act is None:
        return _review_page(form)

    def save() -> bool:
        acts.apply(current_actor.for_act(batch), act, shown)
        return True

    if not submit(form, save):
        return _review_page(form, shown)
    what = counted(sum(map(len, shown.values())), "feature")
    words = DONE.get(query.values["to"], CHANGED).format(what, query.values.get("environment"))
    if isinstance(act, Archive) or acts.number_of_events(shown) > MOST:
        flash(words, "ok")
    else:
        flash_with_undo(words, batch=batch, what=f"changing {what}")
    return redirect_to("all_feature_pages.index")


def _review_page(form: ReasonForm, shown: Shown | None = None) -> ResponseReturnValue:
    """``shown``: the changes of the page that was confirmed, after a refusal; else None."""
    query = read_query(schemas.SelectedQuery)
    selection = selections.get(current_actor, None, request.args.get("selection", ""))
    act, to = _act(query), query.values["to"]
    if act is None and to in SWITCHES:
        flash("Choose an environment first.", "warn")
        return redirect_to("all_feature_pages.index")
    found = acts.preview(current_actor, act, selection.found.values()) if act else []
    facts = {project.id: one.facts for project, one in found if one.facts}
    changing = sum(map(len, facts.values()))
    what = counted(len(selection.found), "feature")
    return show_review(
        "releases/selected/review.html",
        form,
        facts,
        shown,
        title=TITLES[to].format(what, query.values.get("environment")),
        query=query,
        to=to,
        selection=selection,
        suggestions=features.similar_names(visible_projects(current_actor), selection.unknown),
        act=act,
        types=TYPE_NAMES.items(),
        states=STATES.items(),
        changing=changing,
        verdict=changes.verdict(changing, sum(one.size for _, one in found)),
        groups={
            project.id: changes.grouped(
                one.facts,
                one.unchanged,
                changes.differing(shown.get(project.id, []), one.facts) if shown else (),
            )
            for project, one in found
        },
        found=found,
        plan=signing.sign("review", SUBJECT, facts),
    )


def _act(query: Query) -> Act | None:
    """What the address asks for; None if it lacks the values for that."""
    values, to = query.values, query.values["to"]
    if to == "archive":
        return Archive()
    if to in SWITCHES:
        environment = values.get("environment")
        return Switch(environment, to == "on") if environment else None
    if to == "tags":
        added, removed = values["add"], values["remove"]
        return Tag(added, removed) if added or removed else None
    settings = {key: values[key] for key in ("type", "stale") if key in values}
    return Set(settings) if settings else None  # type: ignore[arg-type] # as the schema loads them
