"""Pages that change the type and state of many features: choose, review, done, and undo.

The choices are in the address (``type``, ``stale`` and ``selection``).
"""

from typing import Any

from flask import flash, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.features import bulk, changes, schemas, selections, service
from app.catalogue.features.bulk import Edit, Settings
from app.catalogue.features.changes import ChangesByFeature
from app.catalogue.features.forms import STATES, TYPE_NAMES, bulk_requests
from app.catalogue.features.selections import ResolvedSelection
from app.catalogue.projects import service as projects
from app.core.permissions import Permission
from app.web import signing
from app.web.current import current_actor
from app.web.forms import ReasonForm, show_review, submit
from app.web.listing import read_query
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("bulk_pages", __name__, url_prefix="/projects/<key:project_id>/bulk")


@bp.get("", needs=Permission.UPDATE_FEATURE)
def choose(project_id: str) -> str:
    """Choose a type and a state for the selected features."""
    selection = _selection(project_id)
    return render_template(
        "catalogue/features/bulk_choose.html",
        overview=projects.overview(current_actor, project_id),
        selection=selection,
        suggestions=service.similar_names(project_id, selection.unknown),
        to="settings",
        about_archived="Revive archived features before you change them.",
        number=len(selection.active),
        query=read_query(schemas.BulkSettings),
        states=STATES.items(),
        types=list(TYPE_NAMES.items()),
    )


@bp.get("/review", needs=Permission.UPDATE_FEATURE)
def review(project_id: str) -> ResponseReturnValue:
    """Show what would change on each feature."""
    return _review_page(project_id, ReasonForm())


@bp.post("/review", needs=Permission.UPDATE_FEATURE)
def apply(project_id: str) -> ResponseReturnValue:
    """Apply the changes, unless they differ from what the review showed."""
    edits, form = [_edit(_selection(project_id))], ReasonForm()
    return _apply(project_id, edits, form) or _review_page(project_id, form, _shown(project_id))


@bp.get("/done", needs=Permission.UPDATE_FEATURE)
def done(project_id: str) -> str:
    """Show what was changed, and offer to undo it."""
    batch_id = request.args.get("batch", "")
    groups = changes.grouped(bulk.recorded(current_actor, project_id, batch_id))
    return render_template(
        "catalogue/features/bulk_done.html",
        overview=projects.overview(current_actor, project_id),
        batch=batch_id,
        changed=sum(len(group.names) for group in groups),
        groups=groups,
    )


@bp.get("/undo", needs=Permission.UPDATE_FEATURE)
def review_undo(project_id: str) -> ResponseReturnValue:
    """Show what undoing a change would do to each feature."""
    return _undo_page(project_id, ReasonForm())


@bp.post("/undo", needs=Permission.UPDATE_FEATURE)
def undo(project_id: str) -> ResponseReturnValue:
    """Undo exactly what a change did."""
    form = ReasonForm()
    edits = bulk.reversal(current_actor, project_id, request.args.get("batch", ""))
    return _apply(project_id, edits, form) or _undo_page(project_id, form, _shown(project_id))


def _apply(project_id: str, edits: list[Edit], form: ReasonForm) -> Response | None:
    """Apply edits. Return the redirect; None if they were refused."""
    shown = _shown(project_id)
    applied = submit(form, lambda: bulk.apply(current_actor, project_id, edits, shown=shown))
    if applied is None:
        return None
    batch_id, changed = applied
    if not changed:
        flash("Nothing to change. All features already had these settings.", "ok")
        return redirect_to("feature_pages.index", project_id=project_id)
    return redirect_to(".done", project_id=project_id, batch=batch_id)


def _review_page(
    project_id: str, form: ReasonForm, shown: ChangesByFeature | None = None
) -> ResponseReturnValue:
    selection = _selection(project_id)
    edit = _edit(selection)
    asked = {"project_id": project_id, **request.args}
    if not edit.settings:
        flash("Choose a type or a state.", "warn")
        return redirect_to(".choose", **asked)
    return _preview_page(
        "catalogue/features/bulk_review.html",
        project_id,
        form,
        [edit],
        shown,
        number=len(edit.features),
        asked=asked,
        requests=bulk_requests(project_id, selection.active, edit.settings),
    )


def _undo_page(
    project_id: str, form: ReasonForm, shown: ChangesByFeature | None = None
) -> ResponseReturnValue:
    edits = bulk.reversal(current_actor, project_id, request.args.get("batch", ""))
    return _preview_page("catalogue/features/bulk_undo.html", project_id, form, edits, shown)


def _preview_page(
    template: str,
    project_id: str,
    form: ReasonForm,
    edits: list[Edit],
    shown: ChangesByFeature | None,
    **context: Any,
) -> ResponseReturnValue:
    """``shown``: the facts of the page that was confirmed, after a refusal; else None."""
    preview = bulk.preview(current_actor, project_id, edits)
    facts, unchanged = preview.facts, preview.unchanged
    marked = changes.differing(shown, facts) if shown is not None else set()
    return show_review(
        template,
        form,
        facts,
        shown,
        overview=projects.overview(current_actor, project_id),
        changing=len(facts),
        verdict=changes.verdict(len(facts), len(facts) + len(unchanged)),
        groups=changes.grouped(facts, unchanged, marked),
        plan=signing.sign("review", _subject(project_id), facts),
        **context,
    )


def _selection(project_id: str) -> ResolvedSelection:
    return selections.get(current_actor, project_id, request.args.get("selection", ""))


def _edit(selection: ResolvedSelection) -> Edit:
    settings: Settings = read_query(schemas.BulkSettings).values  # type: ignore[assignment] # as the schema loads them
    return Edit(selection.active, settings)


def _shown(project_id: str) -> ChangesByFeature:
    """Facts of the review that the form confirms."""
    facts: ChangesByFeature = signing.read(
        "review", _subject(project_id), request.form.get("plan", "")
    )
    return facts


def _subject(project_id: str) -> str:
    return f"settings in {project_id}"
