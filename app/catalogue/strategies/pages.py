"""The pages of types of strategy that applications implement themselves."""

from typing import Any

from flask import flash, render_template
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.strategies import custom, types
from app.catalogue.strategies.forms import (
    EMPTY,
    TYPES,
    NewStrategyTypeForm,
    StrategyTypeForm,
    display_values,
    form_data,
    parameter_labels,
)
from app.catalogue.strategies.models import StrategyType
from app.core.permissions import Access, Permission
from app.web.conflicts import EditPage
from app.web.current import current_actor
from app.web.forms import show_form, submit
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("strategy_type_pages", __name__)

LABELS = {"description": "Description", "parameters": "Parameters"}


@bp.get("/strategy-types", needs=Access.SIGNED_IN)
def index() -> str:
    """List strategy types: those that people created, and those that every SDK knows."""
    found = custom.with_built_in()
    return render_template(
        "catalogue/strategies/index.html",
        own=[type for type in found if type.name not in types.TYPES],
        built_in=[type for type in found if type.name in types.TYPES],
        parameter_labels=parameter_labels,
    )


@bp.form("/new-strategy-type", needs=Permission.CREATE_STRATEGY)
def new() -> ResponseReturnValue:
    """Create a strategy type."""
    form = NewStrategyTypeForm(EMPTY)
    if not form.take_step():
        created = submit(form, lambda: custom.create(current_actor, **form.values))
        if created is not None:
            flash(f"Strategy type {created.name} created.", "ok")
            return redirect_to(".index")
    return show_form("catalogue/strategies/new.html", form, types=TYPES.items())


@bp.get("/strategy-types/<key:name>", needs=Access.SIGNED_IN)
def show(name: str) -> ResponseReturnValue:
    """Show a strategy type, as a form to those who can change it."""
    return _edit(custom.get(name)).show()


@bp.post("/strategy-types/<key:name>", needs=Permission.UPDATE_STRATEGY)
def update(name: str) -> ResponseReturnValue:
    """Save, unless someone else changed the type first: then show what they changed."""
    type = custom.get(name, for_change=True)
    edit = _edit(type)
    if edit.form.take_step():
        return edit.show()
    return edit.save(
        lambda: custom.update(current_actor, type, **edit.form.values),
        lambda: f"Strategy type {name} saved.",
        redirect_to(".index"),
    )


@bp.post("/strategy-types/<key:name>/deprecate", needs=Permission.UPDATE_STRATEGY)
def deprecate(name: str) -> Response:
    """Stop offering a strategy type for new strategies."""
    custom.set_deprecated(current_actor, custom.get(name, for_change=True), deprecated=True)
    flash(f"Strategy type {name} deprecated.", "ok")
    return redirect_to(".show", name=name)


@bp.post("/strategy-types/<key:name>/reactivate", needs=Permission.UPDATE_STRATEGY)
def reactivate(name: str) -> Response:
    """Offer a strategy type for new strategies again."""
    custom.set_deprecated(current_actor, custom.get(name, for_change=True), deprecated=False)
    flash(f"Strategy type {name} reactivated.", "ok")
    return redirect_to(".show", name=name)


@bp.post("/strategy-types/<key:name>/delete", needs=Permission.DELETE_STRATEGY)
def remove(name: str) -> Response:
    """Delete a strategy type that no strategy has."""
    custom.remove(current_actor, custom.get(name, for_change=True))
    flash(f"Strategy type {name} deleted.", "ok")
    return redirect_to(".index")


def _edit(type: StrategyType) -> EditPage[StrategyTypeForm]:
    name, data = type.name, form_data(type)
    form = StrategyTypeForm(data)

    def context() -> dict[str, Any]:
        type, used = custom.get(name), custom.uses(name)
        return {
            "type": type,
            "types": TYPES.items(),
            "parameter_labels": parameter_labels,
            "used": used,
            # Input typed before a strategy got the type stays visible, so that it isn't lost.
            "are_fixed": bool(used) and form.parts["parameter"] == data["parameters"],
            "obstacle": custom.obstacle_to_removal(type),
        }

    return EditPage(
        f"strategy type {name}",
        "catalogue/strategies/edit.html",
        form,
        data,
        context,
        LABELS,
        display_values,
    )
