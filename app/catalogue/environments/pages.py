from flask import flash, render_template
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.environments import schemas, service
from app.catalogue.environments.forms import EnvironmentForm, NewEnvironmentForm
from app.catalogue.environments.models import Environment
from app.core.permissions import Access, Permission
from app.web import exports
from app.web.conflicts import EditPage
from app.web.current import current_actor
from app.web.forms import show_form, submit
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("environment_pages", __name__)


@bp.get("/environments", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """List all environments, or export them."""
    if exports.wanted():
        return exports.table("environments", schemas.EnvironmentRow(), service.search)
    return render_template(
        "catalogue/environments/index.html",
        environments=service.list_all(),
        counts=service.project_counts(current_actor),
    )


@bp.form("/new-environment", needs=Permission.ADMIN)
def new() -> ResponseReturnValue:
    """Create an environment."""
    form = NewEnvironmentForm()
    if created := submit(form, lambda: service.create(current_actor, **form.values)):
        flash(f"Environment {created.name} created. No project uses it yet.", "ok")
        return redirect_to(".index")
    return show_form("catalogue/environments/new.html", form)


@bp.get("/environments/<key:name>", needs=Access.SIGNED_IN)
def show(name: str) -> ResponseReturnValue:
    """Show an environment, to Admins as a form."""
    return _edit(service.get(name)).show()


@bp.post("/environments/<key:name>", needs=Permission.ADMIN)
def update(name: str) -> ResponseReturnValue:
    """Save, unless someone else changed the environment first: then show what they changed."""
    environment = service.get_for_change(name)
    edit = _edit(environment)
    return edit.save(
        lambda: service.update(current_actor, environment, **edit.form.values),
        lambda: f"Environment {name} saved.",
        redirect_to(".index"),
    )


@bp.post("/environments/<key:name>/deprecate", needs=Permission.ADMIN)
def deprecate(name: str) -> Response:
    """Deprecate an environment."""
    service.update(current_actor, service.get_for_change(name), deprecated=True)
    flash(f"Environment {name} is deprecated. New projects no longer get it.", "ok")
    return redirect_to(".show", name=name)


@bp.post("/environments/<key:name>/reinstate", needs=Permission.ADMIN)
def reinstate(name: str) -> Response:
    """Stop deprecating an environment."""
    service.update(current_actor, service.get_for_change(name), deprecated=False)
    flash(f"Environment {name} is in use again. New projects get it.", "ok")
    return redirect_to(".show", name=name)


def _edit(environment: Environment) -> EditPage[EnvironmentForm]:
    name, data = environment.name, EnvironmentForm.inputs_of(environment)
    return EditPage(
        f"environment {name}",
        "catalogue/environments/edit.html",
        EnvironmentForm(data=data),
        data,
        lambda: {
            "environment": service.get(name),
            "projects": service.project_counts(current_actor).get(name, 0),
        },
    )
