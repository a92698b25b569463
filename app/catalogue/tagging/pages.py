"""Pages that change the tags of many features: choose, review, done, and undo.

The choices are in the address (``add`` and ``remove`` name tags, ``selection`` the features), so
that it can be shared, and going back keeps them.
"""

from collections.abc import Collection
from typing import Any

from flask import flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from app.catalogue.features import changes, selections
from app.catalogue.features import service as features
from app.catalogue.features.changes import ChangesByFeature
from app.catalogue.features.selections import ResolvedSelection
from app.catalogue.projects import service as projects
from app.catalogue.tagging import picker, service
from app.catalogue.tagging.forms import NewTagForm, tagging_body
from app.catalogue.tagging.service import AppliedTags, Edit
from app.catalogue.tags import service as tags
from app.catalogue.tags.models import SIMPLE, TagName
from app.catalogue.tags.schemas import TagRef
from app.core.permissions import Permission
from app.web import signing
from app.web.current import current_actor
from app.web.forms import ReasonForm, show_form, show_review, submit
from app.web.listing import is_number
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("tagging_pages", __name__, url_prefix="/projects/<key:project_id>/tags")

ADD, REMOVE = "add", "remove"
CHOICE = "choice-"
"""The prefix of the name of a tag's three radios."""

Choices = dict[TagName, str]
"""ADD or REMOVE by tag; tags to keep are left out."""


@bp.get("", needs=Permission.UPDATE_FEATURE)
def choose(project_id: str) -> ResponseReturnValue:
    """Show all tags: each is to keep, to add to all features, or to remove from all."""
    return _picker_page(project_id, request.args, NewTagForm(empty=True))


@bp.post("", needs=Permission.UPDATE_FEATURE)
def update_choice(project_id: str) -> ResponseReturnValue:
    """Put the choices into the address; then filter, or review.

    A new tag that was typed is added to the choices, whichever button was pressed.
    """
    sent, choices = request.form, _choices(request.form)
    asked = {name: sent[name] for name in ("text", "type") if sent.get(name)}
    page = ".review" if sent.get("step") == "review" else ".choose"
    form = NewTagForm()
    if "use" in sent or "create" in sent:
        asked.pop("text", None)
        new = _parse_tags(sent.getlist("create"))
        choices |= dict.fromkeys(_parse_tags(sent.getlist("use")), ADD)
    elif not sent.get("value", "").strip() and sent.get("step") != "new":
        new = []
    elif form.validate_on_submit():
        new = [TagName(form.values["type"], form.values["value"])]
    else:
        return _picker_page(project_id, _address(sent["selection"], choices, asked), form)
    for tag in new:
        if tags.ids_of([tag]) or not picker.similar(current_actor, tag):
            choices[tag] = ADD
        else:
            page, asked["near"] = ".choose", str(tag)
    address = _address(sent["selection"], choices, asked)
    return redirect_to(page, project_id=project_id, **_values(address))


@bp.get("/review", needs=Permission.UPDATE_FEATURE)
def review(project_id: str) -> ResponseReturnValue:
    """Show what would change on each feature."""
    return _review_page(project_id, ReasonForm())


@bp.post("/review", needs=Permission.UPDATE_FEATURE)
def apply(project_id: str) -> ResponseReturnValue:
    """Apply the changes, unless they differ from what the review showed."""
    selection, form = _selection(project_id), ReasonForm()
    edits = [_edit(selection, _choices(request.args))]
    shown = signing.read("review", _subject(project_id), request.form.get("plan", ""))
    applied = submit(form, lambda: service.apply(current_actor, project_id, edits, shown=shown))
    if applied is None:
        return _review_page(project_id, form, shown)
    return _result(project_id, *applied, of=len(selection.found))


@bp.get("/done", needs=Permission.UPDATE_FEATURE)
def done(project_id: str) -> str:
    """Show what was changed, and offer to undo it."""
    batch_id = request.args.get("batch", "")
    edits = service.reversal(current_actor, project_id, batch_id)
    changed = sum(len(edit.features) for edit in edits)
    asked = request.args.get("of", "")
    return render_template(
        "catalogue/tagging/done.html",
        overview=projects.overview(current_actor, project_id),
        batch=batch_id,
        changed=changed,
        already=max(int(asked) - changed, 0) if is_number(asked) else 0,
        groups=changes.grouped(_changes_undone_by(edits)),
    )


@bp.get("/undo", needs=Permission.UPDATE_FEATURE)
def review_undo(project_id: str) -> ResponseReturnValue:
    """Show what undoing a change of tags would do to each feature."""
    return _undo_page(project_id, ReasonForm())


@bp.post("/undo", needs=Permission.UPDATE_FEATURE)
def undo(project_id: str) -> ResponseReturnValue:
    """Undo exactly what a change of tags did."""
    form = ReasonForm()
    edits = service.reversal(current_actor, project_id, request.args.get("batch", ""))
    shown = signing.read("review", _subject(project_id), request.form.get("plan", ""))
    applied = submit(form, lambda: service.apply(current_actor, project_id, edits, shown=shown))
    if applied is None:
        return _undo_page(project_id, form, shown)
    return _result(project_id, *applied, of=sum(len(edit.features) for edit in edits))


# Addresses of earlier versions redirect.
bp.add_url_rule("/take-back", "review_undo", methods=["GET"], alias=True)
bp.add_url_rule("/take-back", "undo", methods=["POST"], alias=True)


def _picker_page(
    project_id: str, state: MultiDict[str, str], form: NewTagForm
) -> ResponseReturnValue:
    selection, choices = _selection(project_id, state.get("selection")), _choices(state)
    text, type = state.get("text") or None, state.get("type") or None
    types, known = tags.types(), tags.ids_of(choices)
    new = [tag for tag, choice in choices.items() if choice == ADD and tag not in known]
    ids = [feature.id for feature in selection.found.values()]
    palette = picker.palette(current_actor, ids, new, types, text=text, type=type)
    near = next(iter(_parse_tags(state.getlist("near"))), None)
    similar = picker.similar(current_actor, near) if near else []
    edit = _edit(selection, choices)
    return show_form(
        "catalogue/tagging/choose.html",
        form,
        overview=projects.overview(current_actor, project_id),
        selection=selection,
        suggestions=features.similar_names(project_id, selection.unknown),
        to="tags",
        action=url_for(".update_choice", project_id=project_id),
        types=types,
        type_choices=[(tag_type.name, tag_type.name) for tag_type in types],
        hues={tag_type.name: tag_type.hue for tag_type in types},
        palette=palette,
        offered=len(palette.tags),
        choices=choices,
        hidden={tag: choice for tag, choice in choices.items() if tag not in palette.tags},
        number_of_changes=len(choices),
        text=text or "",
        type=type or "",
        creatable=_creatable(text, type, {tag_type.name for tag_type in types}),
        near=near if similar else None,
        similar=similar,
        api_body=tagging_body(selection.names, edit),
        new_type=near.type if near else form.type.data or type or SIMPLE,
        new_value=near.value if near else form.value.data or "",
    )


def _creatable(text: str | None, type: str | None, types: Collection[str]) -> TagName | None:
    """The tag that the text of the filter names, if it doesn't exist yet."""
    if not text:
        return None
    named = text if text.partition(":")[0] in types else f"{type or SIMPLE}:{text}"
    new = (tag for tag in _parse_tags([named]) if tag.type in types and not tags.ids_of([tag]))
    return next(new, None)


def _review_page(
    project_id: str, form: ReasonForm, shown: ChangesByFeature | None = None
) -> ResponseReturnValue:
    selection = _selection(project_id)
    edit = _edit(selection, _choices(request.args))
    if not edit.added and not edit.removed:
        flash("Choose at least one tag to add or remove.", "warn")
        return redirect_to(".choose", project_id=project_id, selection=selection.id)
    back = _values(_address(selection.id, _choices(request.args), {}))
    return _preview_page(
        "catalogue/tagging/review.html",
        project_id,
        form,
        [edit],
        shown,
        selection=selection,
        api_body=tagging_body(selection.names, edit),
        back=url_for(".choose", project_id=project_id, **back),
    )


def _undo_page(
    project_id: str, form: ReasonForm, shown: ChangesByFeature | None = None
) -> ResponseReturnValue:
    batch_id = request.args.get("batch", "")
    edits = service.reversal(current_actor, project_id, batch_id)
    return _preview_page("catalogue/tagging/undo.html", project_id, form, edits, shown)


def _preview_page(
    template: str,
    project_id: str,
    form: ReasonForm,
    edits: list[Edit],
    shown: ChangesByFeature | None,
    **context: Any,
) -> ResponseReturnValue:
    """``shown``: the facts of the page that was confirmed, after a refusal; else None."""
    preview = service.preview(current_actor, project_id, edits)
    facts, unchanged = preview.facts, preview.unchanged
    marked = changes.differing(shown, facts) if shown is not None else set()
    return show_review(
        template,
        form,
        facts,
        shown,
        overview=projects.overview(current_actor, project_id),
        preview=preview,
        changing=len(facts),
        verdict=changes.verdict(len(facts), len(facts) + len(unchanged)),
        groups=changes.grouped(facts, unchanged, marked),
        real=sum(len(added) + len(removed) for _, added, removed in facts),
        asked=sum(len(e.features) * (len(e.added) + len(e.removed)) for e in edits),
        plan=signing.sign("review", _subject(project_id), facts),
        **context,
    )


def _result(
    project_id: str, batch_id: str, applied: dict[str, AppliedTags], *, of: int
) -> Response:
    if not applied:
        flash("Nothing to change. All features already had these tags.", "ok")
        return redirect_to("feature_pages.index", project_id=project_id)
    return redirect_to(".done", project_id=project_id, batch=batch_id, of=of)


def _selection(project_id: str, selection: str | None = None) -> ResolvedSelection:
    id = selection or request.args.get("selection", "")
    return selections.get(current_actor, project_id, id)


def _edit(selection: ResolvedSelection, choices: Choices) -> Edit:
    return Edit(
        selection.names,
        sorted(tag for tag, choice in choices.items() if choice == ADD),
        sorted(tag for tag, choice in choices.items() if choice == REMOVE),
    )


def _changes_undone_by(edits: list[Edit]) -> ChangesByFeature:
    """Changes that a batch made, derived from the edits that undo it."""
    return [
        [name, [str(tag) for tag in edit.removed], [str(tag) for tag in edit.added]]
        for edit in edits
        for name in edit.features
    ]


def _choices(source: MultiDict[str, str]) -> Choices:
    """Choices from the lists of an address or the radios of a form."""
    choices = dict.fromkeys(_parse_tags(source.getlist(ADD)), ADD)
    choices |= dict.fromkeys(_parse_tags(source.getlist(REMOVE)), REMOVE)
    for name, choice in source.items():
        for tag in _parse_tags([name.removeprefix(CHOICE)] if name.startswith(CHOICE) else []):
            choices[tag] = choice
    return {tag: choice for tag, choice in choices.items() if choice in {ADD, REMOVE}}


def _address(selection: str, choices: Choices, asked: dict[str, str]) -> MultiDict[str, str]:
    """The address of the picker in this state."""
    pairs = [("selection", selection), *asked.items()]
    return MultiDict(pairs + [(choice, str(tag)) for tag, choice in sorted(choices.items())])


def _values(state: MultiDict[str, str]) -> dict[str, Any]:
    """The values for ``url_for``."""
    return state.to_dict(flat=False)


def _parse_tags(names: list[str]) -> list[TagName]:
    """The tags that texts like ``team:payments`` name; texts that can't be a tag are left out."""
    found = []
    for name in names:
        type, colon, value = name.partition(":")
        if colon and not TagRef().validate({"type": type, "value": value}):
            found.append(TagName(type, value))
    return found


def _subject(project_id: str) -> str:
    return f"tags in {project_id}"
