from typing import Any

from flask import flash, render_template
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.context import service, uses
from app.catalogue.context.forms import (
    ContextFieldForm,
    NewContextFieldForm,
    display_values,
    form_data,
)
from app.catalogue.context.models import ContextField
from app.core.events import service as events
from app.core.permissions import Access, Permission
from app.web.conflicts import EditPage
from app.web.current import current_actor
from app.web.forms import show_form, submit
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("context_pages", __name__)


@bp.get("/context-fields", needs=Access.SIGNED_IN)
def index() -> str:
    """List all context fields: those that people created, and those that are built in."""
    found = service.list_all()
    return render_template(
        "catalogue/context/index.html",
        own=[field for field in found if not field.is_built_in],
        built_in=[field for field in found if field.is_built_in],
    )


@bp.form("/new-context-field", needs=Permission.CREATE_CONTEXT_FIELD)
def new() -> ResponseReturnValue:
    """Create a context field."""
    form = NewContextFieldForm()
    if created := submit(form, lambda: service.create(current_actor, **form.values)):
        flash(f"Context field {created.name} created.", "ok")
        return redirect_to(".index")
    return show_form("catalogue/context/new.html", form)


@bp.get("/context-fields/<key:name>", needs=Access.SIGNED_IN)
def show(name: str) -> ResponseReturnValue:
    """Show a context field, as a form to those who can change it."""
    return _edit(service.get(name)).show()


@bp.post("/context-fields/<key:name>", needs=Permission.UPDATE_CONTEXT_FIELD)
def update(name: str) -> ResponseReturnValue:
    """Save, unless someone else changed the field first: then show what they changed."""
    field = service.get(name, for_change=True)
    edit, batch = _edit(field), events.new_batch()
    return edit.save(
        lambda: service.update(current_actor.for_act(batch), field, **edit.form.values),
        lambda: f"Context field {name} saved.",
        redirect_to(".index"),
        batch=batch,
    )


@bp.post("/context-fields/<key:name>/delete", needs=Permission.DELETE_CONTEXT_FIELD)
def remove(name: str) -> Response:
    """Delete a context field that nothing uses."""
    service.remove(current_actor, service.get(name, for_change=True))
    flash(f"Context field {name} deleted.", "ok")
    return redirect_to(".index")


def _edit(field: ContextField) -> EditPage[ContextFieldForm]:
    name, data = field.name, form_data(field)
    form = ContextFieldForm(data=data)

    def context() -> dict[str, Any]:
        field = service.get(name)
        return {
            "field": field,
            "obstacle": service.obstacle_to_removal(field),
            "uses": uses.of(name),
        }

    return EditPage(
        f"context field {name}",
        "catalogue/context/edit.html",
        form,
        data,
        context,
        form.labels | {"stickiness": "Stickiness"},
        display_values,
    )
