from collections.abc import Callable
from functools import partial

from flask import flash, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.constraints.forms import offered
from app.catalogue.constraints.words import describe_all
from app.catalogue.context import service as context
from app.catalogue.projects import service as projects
from app.catalogue.segments import schemas, service
from app.catalogue.segments.forms import (
    EMPTY,
    NewSegmentForm,
    SegmentForm,
    display_values,
    form_data,
)
from app.catalogue.segments.models import Segment
from app.core.events import service as events
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.web import exports, signing
from app.web.conflicts import StaleEdit, Values, flash_saved
from app.web.current import current_actor
from app.web.forms import show_form, submit
from app.web.listing import MAX_LIMIT, read_query
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("segment_pages", __name__)

LABELS = {
    "name": "Name",
    "description": "Description",
    "project": "Available in",
    "constraints": "Constraints",
}
FILTERS = {"text": "Text", "project": "Project"}
USES_SHOWN = 20


@bp.get("/segments", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """List the segments that the reader can see, or export those that match."""
    query = read_query(schemas.SegmentQuery)
    search = partial(service.search, current_actor)
    if exports.wanted():
        return exports.table("segments", schemas.SegmentRow(), search, query.values)
    return render_template(
        "catalogue/segments/index.html",
        page=search(**query.values),
        query=query,
        filters=query.in_use(FILTERS),
        projects=_projects(),
        describe_all=describe_all,
        may_create=_may_create(),
    )


@bp.form("/new-segment", needs=Access.SIGNED_IN, keeps=NOTHING)
def new() -> ResponseReturnValue:
    """Create a segment."""
    form = NewSegmentForm(_projects(Permission.UPDATE_PROJECT_SEGMENT), EMPTY)
    if not form.take_step():
        created = submit(form, lambda: _create(form))
        if created is not None:
            flash(f"Segment {created.name} created.", "ok")
            return redirect_to(".index")
    return show_form("catalogue/segments/new.html", form, may_create=_may_create(), **_choices())


@bp.get("/segments/<id:id>", needs=Access.SIGNED_IN)
def show(id: int) -> ResponseReturnValue:
    """Show a segment, as a form to those who can change it."""
    segment = service.get(current_actor, id)
    return _page(segment, _form(segment))


@bp.post("/segments/<id:id>", needs=Access.SIGNED_IN, keeps=NOTHING)
def update(id: int) -> ResponseReturnValue:
    """Save, after a review if strategies use it and would reach other people."""

    def save(segment: Segment, form: SegmentForm) -> Response:
        project = form.values.get("project")
        if project != segment.project_id:
            current_actor.require(*service.permission(Permission.UPDATE_SEGMENT, project))
        actor = current_actor.for_act(events.new_batch())
        changed = service.update(actor, segment, **form.values)
        flash_saved(f"Segment {segment.name} saved.", changed=changed, batch=actor.batch_id)
        return redirect_to(".show", id=id)

    return change(id, save, review=_review)


def change(
    id: int,
    save: Callable[[Segment, SegmentForm], Response],
    *,
    review: Callable[[Segment, SegmentForm], str | None] = lambda *_: None,
) -> ResponseReturnValue:
    """Handle the form of a segment. If someone else changed it first, show what they changed.

    ``save``: saves the form and returns the redirect. ``review``: returns a page to confirm before
    saving, or None.
    """
    segment = service.get(current_actor, id, for_change=True)
    _require(Permission.UPDATE_SEGMENT, segment)
    current, form = form_data(segment), _form(segment)
    if form.take_step() or "back" in request.form:
        return _page(segment, form)
    if before := _stale_edit(id).stale(current):
        return _page(segment, form, before)
    if form.validate_on_submit() and (page := review(segment, form)):
        return page
    done = submit(form, lambda: save(segment, form))
    return done or _page(service.get(current_actor, id), form)


@bp.post("/segments/<id:id>/delete", needs=Access.SIGNED_IN, keeps=NOTHING)
def remove(id: int) -> Response:
    """Delete a segment that nothing uses."""
    segment = service.get(current_actor, id, for_change=True)
    _require(Permission.DELETE_SEGMENT, segment)
    service.remove(current_actor, segment)
    flash(f"Segment {segment.name} deleted.", "ok")
    return redirect_to(".index")


def _create(form: NewSegmentForm) -> Segment:
    project = form.values.get("project")
    current_actor.require(*service.permission(Permission.CREATE_SEGMENT, project))
    return service.create(current_actor, **form.values)


def _review(segment: Segment, form: SegmentForm) -> str | None:
    """Page that reviews which strategies change; None if none do, or if it was confirmed."""
    current, uses = form_data(segment), service.view(segment).used
    wanted = {name: form.values.get(name) for name in ("name", "project", "constraints")}
    if not uses.strategies or wanted["constraints"] == segment.constraints:
        return None
    guarded = service.guarded_uses(current_actor, segment)
    facts = {
        "present": current,
        "wanted": wanted,
        "strategies": service.used_by(segment),
        "guarded": {project or "": environments for project, environments in guarded.items()},
    }
    stale_edit, confirmed = _stale_edit(segment.id), request.form.get("plan", "")
    if confirmed and signing.matches("review", stale_edit.subject, confirmed, facts):
        return None
    after = {"description": form.description.data, "name": form.name.data} | {
        "project": form.project.data,
        "constraints": form.parts["constraint"],
    }
    return render_template(
        "catalogue/segments/review.html",
        segment=segment,
        used=uses,
        uses=service.uses(current_actor, segment),
        guarded=guarded,
        place=service.only_place(guarded),
        has_changed=bool(confirmed),
        changes=stale_edit.differences(current, after),
        plan=signing.sign("review", stale_edit.subject, facts),
        seen=stale_edit.sign(current),
        form=form,
        carried=[pair for pair in form.carried if pair[0] != "reason" or not guarded],
    )


def _form(segment: Segment) -> SegmentForm:
    choices = _projects(Permission.UPDATE_PROJECT_SEGMENT)
    own = segment.project_id
    if own and own not in dict(choices):
        choices.append((own, own))
    return SegmentForm(choices, form_data(segment))


def _page(segment: Segment, form: SegmentForm, before: Values | None = None) -> ResponseReturnValue:
    """``before``: the settings this form was opened with, if someone changed them since."""
    found = service.uses(current_actor, segment)
    return _stale_edit(segment.id).show(
        "catalogue/segments/edit.html",
        form,
        form_data(segment),
        before,
        segment=segment,
        used=service.view(segment).used,
        uses=found[:USES_SHOWN],
        more=len(found) - USES_SHOWN,
        describe_all=describe_all,
        obstacle=service.obstacle_to_removal(segment, found),
        can_change=_may(Permission.UPDATE_SEGMENT, segment),
        can_delete=_may(Permission.DELETE_SEGMENT, segment),
        **_choices(),
    )


def _stale_edit(id: int) -> StaleEdit:
    return StaleEdit(f"segment {id}", LABELS, display_values)


def _require(general: Permission, segment: Segment) -> None:
    current_actor.require(*service.permission(general, segment.project_id))


def _may(general: Permission, segment: Segment) -> bool:
    return current_actor.may(*service.permission(general, segment.project_id))


def _may_create() -> bool:
    """Whether the reader can create a segment anywhere."""
    return current_actor.may(Permission.CREATE_SEGMENT) or bool(
        _projects(Permission.UPDATE_PROJECT_SEGMENT)
    )


def _projects(permission: Permission | None = None) -> list[tuple[str, str]]:
    """Active projects to choose from; with ``permission`` those in which the reader has it."""
    return [
        (id, name)
        for id, name in projects.names(current_actor, MAX_LIMIT)
        if permission is None or current_actor.may(permission, id)
    ]


def _choices() -> dict[str, object]:
    fields = context.list_all()
    return {
        "fields": [field.name for field in fields],
        "offered": partial(offered, legal={field.name: field.values for field in fields}),
    }
