from flask import flash
from werkzeug.wrappers import Response

from app.core.permissions import Permission
from app.switching import service
from app.web.caller import current_actor
from app.web.forms import ReasonForm, attempt
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint(
    "switching_pages",
    __name__,
    url_prefix="/projects/<key:project_id>/features/<key:name>/environments/<key:environment>",
)


@bp.post("/on", needs=Permission.UPDATE_FEATURE_ENVIRONMENT)
def switch_on(project_id: str, name: str, environment: str) -> Response:
    """Switch a feature on, and return to its page."""
    return _switch(project_id, name, environment, on=True)


@bp.post("/off", needs=Permission.UPDATE_FEATURE_ENVIRONMENT)
def switch_off(project_id: str, name: str, environment: str) -> Response:
    """Switch a feature off, and return to its page."""
    return _switch(project_id, name, environment, on=False)


def _switch(project_id: str, name: str, environment: str, *, on: bool) -> Response:
    form, word = ReasonForm(), "on" if on else "off"
    done = attempt(
        form, lambda: service.switch(current_actor, project_id, environment, [name], on=on)
    )
    if done is None:
        for _, message in form.problems:
            flash(message, "warn")
    elif done[1]:
        flash(f"Switched {word} in {environment}.", "ok")
    else:
        flash(f"It was already {word} in {environment}.", "ok")
    anchor = f"env-{environment}"
    return redirect_to("feature_pages.show", project_id=project_id, name=name, _anchor=anchor)
