from flask import flash, render_template
from flask.typing import ResponseReturnValue

from app.core import exports
from app.core.actor import current_actor
from app.core.conflicts import Values, Watch
from app.core.forms import attempt, carry_out, show_form
from app.core.pages import PageBlueprint, see
from app.core.permissions import Access, Permission
from app.environments import schemas, service
from app.environments.forms import EnvironmentForm, NewEnvironmentForm, settings_of

bp = PageBlueprint("environment_pages", __name__, url_prefix="/environments")

WORDS = {"type": "Type", "sort_order": "Place in the order", "deprecated": "Deprecated"}


@bp.get("", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """All environments in their order, with their use; or as a file."""
    if exports.wanted():
        return exports.table("environments", schemas.EnvironmentRow(), service.search)
    return render_template(
        "environments/index.html", environments=service.every(), counts=service.project_counts()
    )


@bp.route("/new", methods=["GET", "POST"], needs=Permission.ADMIN)
def new() -> ResponseReturnValue:
    """Create an environment."""
    form = NewEnvironmentForm(data={"type": "development"})
    if made := attempt(form, lambda: service.create(current_actor, **form.values)):
        flash(f"Environment {made.name} created. No project has it yet.", "ok")
        return see(".index")
    return show_form("environments/new.html", form)


@bp.get("/<key:name>", needs=Access.SIGNED_IN)
def show(name: str) -> ResponseReturnValue:
    """An environment, with a form for those who may change it."""
    data = settings_of(service.get(name))
    return _page(name, EnvironmentForm(data=data), data)


@bp.post("/<key:name>", needs=Permission.ADMIN)
def update(name: str) -> ResponseReturnValue:
    """Save, unless somebody else was quicker: then say what he changed."""
    environment = service.get_for_change(name)
    present = settings_of(environment)
    form = EnvironmentForm(data=present)
    if overtaken := _watch(name).overtaken(present):
        return _page(name, form, present, overtaken)
    if carry_out(form, lambda: service.update(current_actor, environment, **form.values)):
        flash(f"Environment {name} saved.", "ok")
        return see(".index")
    return _page(name, form, present)


def _watch(name: str) -> Watch:
    return Watch(f"environment {name}", WORDS)


def _page(
    name: str, form: EnvironmentForm, present: Values, overtaken: Values | None = None
) -> ResponseReturnValue:
    return _watch(name).show(
        "environments/edit.html",
        form,
        present,
        overtaken,
        environment=service.get(name),
        projects=service.project_counts().get(name, 0),
    )
