"""The pages of templates: the list, the editor, and deleting one."""

from uuid import UUID

from flask import flash, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.projects import service as projects
from app.catalogue.releases.models import ReleaseTemplate
from app.catalogue.segments import service as segments
from app.catalogue.segments.models import Segment
from app.core.paging import Page
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.releases.templates import schemas, service
from app.releases.templates.forms import (
    BY_HAND,
    LABELS,
    TemplateForm,
    display_values,
    form_data,
    step_data,
)
from app.releases.templates.service import TemplateView
from app.web.conflicts import StaleEdit, flash_saved
from app.web.current import current_actor
from app.web.forms import show_form, submit
from app.web.listing import MAX_LIMIT, read_query
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("release_template_pages", __name__, url_prefix="/releases/templates")

FILTERS = {"text": "Text", "project": "Project"}
EDITOR = "releases/templates/edit.html"


@bp.get("", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """List the templates that the reader can see."""
    query = read_query(schemas.TemplateQuery)
    page: Page[TemplateView] = service.search(current_actor, **query.values)
    return render_template(
        "releases/templates/index.html",
        page=page,
        query=query,
        filters=query.in_use(FILTERS),
        may_create=bool(_choices()),
        next_steps=next_steps,
    )


@bp.form("/new", needs=Access.SIGNED_IN, keeps=NOTHING)
def new() -> ResponseReturnValue:
    """Create a template."""
    choices = _choices()
    form = TemplateForm(_segments(None), choices, form_data(None))
    if not form.take_step() and (created := submit(form, lambda: _create(form))):
        flash(f"Template {created.name} created.", "ok")
        return redirect_to(".index")
    return show_form(EDITOR, form, view=None, can_change=bool(choices))


@bp.form("/<uuid:template>", needs=Access.SIGNED_IN, keeps=NOTHING)
def show(template: UUID) -> ResponseReturnValue:
    """Show a template, as a form to those who can change it."""
    is_sent = request.method == "POST"
    found = service.get(current_actor, template, for_change=is_sent)
    permission, present = service.permission(found.project_id), form_data(found)
    edit = StaleEdit(f"release template {template}", LABELS, display_values)
    form = TemplateForm(_segments(found.project_id), [], present)
    stale, saved = None, None
    if is_sent:
        current_actor.require(*permission)
        stale = edit.stale(present)
        if not form.take_step() and not stale:
            saved = submit(form, lambda: _save(form, found))
    if saved is not None:
        flash_saved(f"Template {found.name} saved.", changed=saved)
        return redirect_to(".index")
    [view], can_change = service.views([found]), current_actor.may(*permission)
    return edit.show(EDITOR, form, present, stale, view=view, can_change=can_change)


@bp.post("/<uuid:template>/delete", needs=Access.SIGNED_IN, keeps=NOTHING)
def remove(template: UUID) -> Response:
    """Delete a template. Releases that started from it go on."""
    found = service.get(current_actor, template, for_change=True)
    current_actor.require(*service.permission(found.project_id))
    service.remove(current_actor, found)
    flash(f"Template {found.name} deleted.", "ok")
    return redirect_to(".index")


def next_steps(template: ReleaseTemplate) -> str:
    """How its next steps start: ``Automatic``, ``Automatic, last by hand`` or ``By hand``."""
    found = step_data(template.steps)
    if found["advance"] == BY_HAND:
        return "By hand"
    return "Automatic, last by hand" if found["last"] else "Automatic"


def _create(form: TemplateForm) -> ReleaseTemplate:
    current_actor.require(*service.permission(form.values.get("project")))
    return service.create(current_actor, **form.values)


def _save(form: TemplateForm, template: ReleaseTemplate) -> bool:
    changes = {key: value for key, value in form.values.items() if key != "project"}
    return service.update(current_actor, template, **changes)


def _choices() -> list[tuple[str, str]]:
    """What the reader can create templates for: all projects, or those that they own."""
    everywhere = [("", "All projects")] if current_actor.is_admin else []
    return everywhere + projects.names(current_actor, MAX_LIMIT, Permission.UPDATE_PROJECT)


def _segments(project_id: str | None) -> list[Segment]:
    """Segments that the steps can use. Without a project, those that all projects can use."""
    if project_id is not None:
        return segments.available(current_actor, project_id)
    return segments.for_all(current_actor)
