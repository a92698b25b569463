"""Pages that change the tags of many features: choose, review, done, and take back.

What was chosen stands in the address (``add`` and ``remove`` name tags, ``selection`` the
features), so that it can be shared, and going back keeps it.
"""

from difflib import get_close_matches
from typing import Any

from flask import flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from app.core import plans
from app.core.actor import current_actor
from app.core.forms import ReasonForm, attempt, show_form
from app.core.pages import PageBlueprint, is_number, see
from app.core.permissions import Permission
from app.features import queries, selections, tagging
from app.features.forms import NewTagForm, tagging_body
from app.features.pages import hues
from app.features.selections import Chosen
from app.features.tagging import Change, Edit, Facts
from app.projects import service as projects
from app.tags import service as tags
from app.tags.models import SIMPLE, TagName
from app.tags.schemas import TagRef

bp = PageBlueprint("picker", __name__, url_prefix="/projects/<key:project_id>/tags")

SHOWN = 500
ALIKE_AMONG = 5_000
LIKENESS = 0.8
ADD, REMOVE = "add", "remove"
WAY = "way-"
"""Begins the name of the three radios of a tag."""

Ways = dict[TagName, str]
"""ADD or REMOVE by tag; what is to stay as it is, is left out."""


@bp.get("", needs=Permission.UPDATE_FEATURE)
def choose(project_id: str) -> ResponseReturnValue:
    """All tags, each to keep as it is, to add to all or to remove from all."""
    return _picker_page(project_id, request.args, NewTagForm(empty=True))


@bp.post("", needs=Permission.UPDATE_FEATURE)
def go_on(project_id: str) -> ResponseReturnValue:
    """Note what was chosen in the address; then filter, add a new tag, or review."""
    sent, ways = request.form, _ways(request.form)
    asked = {name: sent[name] for name in ("text", "type") if sent.get(name)}
    for tag in _named(sent.getlist("use")):  # instead of the new one that is like it
        ways[tag] = ADD
    if sent.get("step") == "new":
        form = NewTagForm()
        if not form.validate_on_submit():
            return _picker_page(project_id, _state(sent["selection"], ways, asked), form)
        tag = TagName(form.values["type"], form.values["value"])
        if tags.ids_of([tag]) or not _alike(tag):
            ways[tag] = ADD
        else:
            asked["near"] = str(tag)
    page = ".review" if sent.get("step") == "review" else ".choose"
    return see(page, project_id=project_id, **_values(_state(sent["selection"], ways, asked)))


@bp.get("/review", needs=Permission.UPDATE_FEATURE)
def review(project_id: str) -> ResponseReturnValue:
    """What would happen to each feature."""
    return _review_page(project_id, ReasonForm())


@bp.post("/review", needs=Permission.UPDATE_FEATURE)
def commit(project_id: str) -> ResponseReturnValue:
    """Do it all, if it is still what was shown."""
    chosen, form = _chosen(project_id), ReasonForm()
    edits = [_edit(chosen, _ways(request.args))]
    shown = plans.opened(current_actor, _subject(project_id), request.form.get("plan", ""))
    applied = attempt(form, lambda: tagging.apply(current_actor, project_id, edits, shown=shown))
    if applied is None:
        return _review_page(project_id, form, shown)
    return _result(project_id, *applied, of=len(chosen.found))


@bp.get("/done", needs=Permission.UPDATE_FEATURE)
def done(project_id: str) -> str:
    """What was changed, and the way back."""
    batch_id = request.args.get("batch", "")
    edits = tagging.reversal(current_actor, project_id, batch_id)
    changed = sorted(name for edit in edits for name in edit.features)
    asked = request.args.get("of", "")
    return render_template(
        "features/tags_done.html",
        overview=projects.overview(current_actor, project_id),
        batch=batch_id,
        changed=changed,
        already=max(int(asked) - len(changed), 0) if is_number(asked) else 0,
        edits=edits,
    )


@bp.get("/take-back", needs=Permission.UPDATE_FEATURE)
def look_back(project_id: str) -> ResponseReturnValue:
    """What taking a change of tags back would do to each of its features."""
    return _take_back_page(project_id, ReasonForm())


@bp.post("/take-back", needs=Permission.UPDATE_FEATURE)
def take_back(project_id: str) -> ResponseReturnValue:
    """Take a change of tags back, exactly: nothing that was so before it is touched."""
    form = ReasonForm()
    edits = tagging.reversal(current_actor, project_id, request.args.get("batch", ""))
    shown = plans.opened(current_actor, _subject(project_id), request.form.get("plan", ""))
    applied = attempt(form, lambda: tagging.apply(current_actor, project_id, edits, shown=shown))
    if applied is None:
        return _take_back_page(project_id, form, shown)
    return _result(project_id, *applied, of=sum(len(edit.features) for edit in edits))


def _picker_page(
    project_id: str, state: MultiDict[str, str], form: NewTagForm
) -> ResponseReturnValue:
    chosen, ways = _chosen(project_id, state.get("selection")), _ways(state)
    text, type = state.get("text") or None, state.get("type") or None
    rows, total = queries.palette(text=text, type=type, limit=SHOWN)
    on = queries.tag_counts([feature.id for feature in chosen.found.values()])
    shown = {TagName(row.type, row.value): (on.get(row.id, 0), row.used) for row in rows}
    known = tags.ids_of(ways)
    shown |= {tag: (0, 0) for tag, way in ways.items() if way == ADD and tag not in known}
    near = next(iter(_named(state.getlist("near"))), None)
    return show_form(
        "features/tags.html",
        form,
        overview=projects.overview(current_actor, project_id),
        chosen=chosen,
        types=tags.types(),
        shown=sorted(shown.items()),
        known=known.keys() | {TagName(row.type, row.value) for row in rows},
        total=total,
        ways=ways,
        unseen={tag: way for tag, way in ways.items() if tag not in shown},
        text=text or "",
        type=type or "",
        near=near,
        alike=_alike(near) if near else [],
        edit=_edit(chosen, ways),
        tagging_body=tagging_body,
        new_type=form.type.data or type or SIMPLE,
    )


def _review_page(
    project_id: str, form: ReasonForm, known: Facts | None = None
) -> ResponseReturnValue:
    chosen = _chosen(project_id)
    edit = _edit(chosen, _ways(request.args))
    if not edit.added and not edit.removed:
        flash("Choose what is to happen to at least one tag.", "warn")
        return see(".choose", project_id=project_id, selection=chosen.id)
    back = _values(_state(chosen.id, _ways(request.args), {}))
    return _outlook_page(
        "features/tags_review.html",
        project_id,
        form,
        [edit],
        known,
        chosen=chosen,
        tagging_body=tagging_body,
        back=url_for(".choose", project_id=project_id, **back),
    )


def _take_back_page(
    project_id: str, form: ReasonForm, known: Facts | None = None
) -> ResponseReturnValue:
    batch_id = request.args.get("batch", "")
    edits = tagging.reversal(current_actor, project_id, batch_id)
    return _outlook_page(
        "features/tags_take_back.html", project_id, form, edits, known, batch=batch_id
    )


def _outlook_page(
    template: str,
    project_id: str,
    form: ReasonForm,
    edits: list[Edit],
    known: Facts | None,
    **context: Any,
) -> ResponseReturnValue:
    """``known``: what was shown before, when it was not done because it does not hold any more."""
    outlook = tagging.outlook(current_actor, project_id, edits)
    changed_since = _changed_since(known, outlook.facts)
    listed = [*outlook.changes][:SHOWN]
    listed += sorted(changed_since & outlook.changes.keys() - set(listed))
    page = render_template(
        template,
        form=form,
        overview=projects.overview(current_actor, project_id),
        outlook=outlook,
        edits=edits,
        asked=sum(len(e.features) * (len(e.added) + len(e.removed)) for e in edits),
        changed_since=changed_since,
        listed=listed,
        rest=sorted(outlook.changes.keys() - set(listed)),
        plan=plans.seal(current_actor, _subject(project_id), outlook.facts),
        hues=hues(),
        **context,
    )
    outdated = known is not None and known != outlook.facts
    return page, 409 if outdated else 400 if form.problems else 200


def _result(project_id: str, batch_id: str, changes: dict[str, Change], *, of: int) -> Response:
    if not changes:
        flash("Nothing had to be changed: every feature was so already.", "ok")
        return see("feature_pages.index", project_id=project_id)
    return see(".done", project_id=project_id, batch=batch_id, of=of)


def _chosen(project_id: str, selection: str | None = None) -> Chosen:
    id = selection or request.args.get("selection", "")
    return selections.get(current_actor, project_id, id)


def _edit(chosen: Chosen, ways: Ways) -> Edit:
    return Edit(
        chosen.names,
        sorted(tag for tag, way in ways.items() if way == ADD),
        sorted(tag for tag, way in ways.items() if way == REMOVE),
    )


def _ways(source: MultiDict[str, str]) -> Ways:
    """What is to happen to which tag: from the lists in an address, and the radios of the form."""
    ways = dict.fromkeys(_named(source.getlist(ADD)), ADD)
    ways |= dict.fromkeys(_named(source.getlist(REMOVE)), REMOVE)
    for name, way in source.items():
        for tag in _named([name.removeprefix(WAY)] if name.startswith(WAY) else []):
            ways[tag] = way
    return {tag: way for tag, way in ways.items() if way in {ADD, REMOVE}}


def _state(selection: str, ways: Ways, asked: dict[str, str]) -> MultiDict[str, str]:
    """The address of the picker in this state."""
    pairs = [("selection", selection), *asked.items()]
    return MultiDict(pairs + [(way, str(tag)) for tag, way in sorted(ways.items())])


def _values(state: MultiDict[str, str]) -> dict[str, Any]:
    """For ``url_for``."""
    return state.to_dict(flat=False)


def _named(names: list[str]) -> list[TagName]:
    """The tags that texts like ``team:payments`` name; what can't be a tag is left out."""
    found = []
    for name in names:
        type, colon, value = name.partition(":")
        if colon and not TagRef().validate({"type": type, "value": value}):
            found.append(TagName(type, value))
    return found


def _alike(tag: TagName) -> list[tuple[TagName, int]]:
    """Known tags of the type that read almost like it, most used first, with their use."""
    rows, _ = queries.palette(text=None, type=tag.type, limit=ALIKE_AMONG)
    used = {row.value: row.used for row in rows}
    folded = {value.casefold(): value for value in used}
    close = get_close_matches(tag.value.casefold(), folded, n=3, cutoff=LIKENESS)
    found = [(TagName(tag.type, folded[value]), used[folded[value]]) for value in close]
    return sorted(found, key=lambda pair: -pair[1])


def _changed_since(known: Facts | None, facts: Facts) -> set[str]:
    """The features of which something else was shown before."""
    if known is None:
        return set()
    before = {name: how for name, *how in known}
    now = {name: how for name, *how in facts}
    return {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}


def _subject(project_id: str) -> str:
    return f"tags in {project_id}"
