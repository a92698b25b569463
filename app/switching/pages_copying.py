"""The page that copies the strategies of a feature to other environments."""

from flask import flash, request
from flask.typing import ResponseReturnValue

from app.core.permissions import Permission
from app.core.words import counted, spoken
from app.features import service as features
from app.projects import service as projects
from app.strategies import words
from app.strategies.service import use_of
from app.switching import copying
from app.switching.forms import CopyForm
from app.web.caller import current_actor
from app.web.forms import attempt, show_form
from app.web.notes import DONE
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint(
    "copying_pages",
    __name__,
    url_prefix="/projects/<key:project_id>/features/<key:name>/environments/<key:environment>",
)


@bp.form("/copy", needs=Permission.CREATE_FEATURE_STRATEGY)
def copy(project_id: str, name: str, environment: str) -> ResponseReturnValue:
    """Copy all strategies to other environments, or choose where to copy some from."""
    view = features.get(current_actor, project_id, name)
    use_of(project_id, environment)
    [there] = [state for state in view.environments if state.name == environment]
    others = [state for state in view.environments if state.name != environment]
    form = CopyForm([state.name for state in others], request.args.getlist("to"))
    number = attempt(
        form,
        lambda: copying.copy(current_actor, project_id, name, environment, form.values["targets"]),
    )
    if number is not None:
        copied = counted(number, "strategy", "strategies")
        targets = spoken(form.values["targets"])
        flash(f"{copied} copied from {environment} to {targets}.", "ok")
        return redirect_to("feature_pages.show", project_id=project_id, name=name, _anchor=DONE)
    return show_form(
        "switching/copy.html" if there.strategies or form.sent else "switching/copy_from.html",
        form,
        overview=projects.overview(current_actor, project_id),
        view=view,
        environment=environment,
        strategies=there.strategies,
        others=others,
        told=words.told,
        shares=words.shares,
    )
