from typing import Any

from flask import flash, render_template, request
from flask.typing import ResponseReturnValue

from app.core import exports, plans
from app.core.actor import current_actor
from app.core.conflicts import sides
from app.core.forms import attempt, show_form
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
        return exports.table(
            "environments",
            schemas.EnvironmentRow(),
            lambda limit, offset: service.search(limit=limit, offset=offset),
        )
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
    seen = plans.opened(current_actor, f"environment {name}", request.form.get("seen", ""))
    if seen != present:
        return _page(name, form, present, seen)

    def save() -> bool:
        service.update(current_actor, environment, **form.values)
        return True

    if attempt(form, save):
        flash(f"Environment {name} saved.", "ok")
        return see(".index")
    return _page(name, form, present)


def _page(
    name: str, form: EnvironmentForm, present: dict[str, Any], seen: dict[str, Any] | None = None
) -> ResponseReturnValue:
    """``seen``: the environment as it was when a form was opened that came too late."""
    page, status = show_form(
        "environments/edit.html",
        form,
        environment=service.get(name),
        projects=service.project_counts().get(name, 0),
        changed=sides(WORDS, seen, seen, present) if seen else [],
        seen=plans.seal(current_actor, f"environment {name}", present),
    )
    return page, 409 if seen else status
