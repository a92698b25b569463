"""The page that copies the strategies of a feature to other environments."""

from collections.abc import Callable

from flask import flash, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.features import service as features
from app.catalogue.projects import service as projects
from app.catalogue.strategies import words
from app.core.permissions import Permission
from app.core.words import counted, spoken
from app.releases.switching import copying
from app.releases.switching.forms import CopyForm
from app.releases.switching.pages_editor import StrategyPlace
from app.web.current import current_actor
from app.web.forms import show_form, submit
from app.web.redirects import DONE, redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint(
    "copying_pages",
    __name__,
    url_prefix="/projects/<key:project_id>/features/<key:name>/environments/<key:environment>",
)


@bp.form("/copy", needs=Permission.CREATE_FEATURE_STRATEGY)
def copy(project_id: str, name: str, environment: str) -> ResponseReturnValue:
    """Copy all strategies to other environments, or choose where to copy some from."""

    def save(targets: list[str]) -> Response:
        number = copying.copy(current_actor, project_id, name, environment, targets)
        flash_copied(number, environment, targets)
        return redirect_to("feature_pages.show", project_id=project_id, name=name, _anchor=DONE)

    return copy_page(StrategyPlace(project_id, name, environment), save)


def copy_page(place: StrategyPlace, save: Callable[[list[str]], Response]) -> ResponseReturnValue:
    """Show or submit the form. ``save``: copies to the chosen environments, and redirects."""
    project_id, name, environment = place
    view = features.get(current_actor, project_id, name)
    there = view.state(environment)
    others = [state for state in view.environments if state.name != environment]
    form = CopyForm([state.name for state in others], request.args.getlist("to"))
    if done := submit(form, lambda: save(form.values["targets"])):
        return done
    return show_form(
        "releases/switching/copy.html"
        if there.strategies or form.sent
        else "releases/switching/copy_from.html",
        form,
        overview=projects.overview(current_actor, project_id),
        view=view,
        environment=environment,
        strategies=there.strategies,
        others=others,
        describe=words.describe,
        shares=words.shares,
    )


def flash_copied(number: int, environment: str, targets: list[str]) -> None:
    copied = counted(number, "strategy", "strategies")
    flash(f"{copied} copied from {environment} to {spoken(targets)}.", "ok")
