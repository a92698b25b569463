from flask import flash, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response

from app.catalogue.projects.queries import needing_approval
from app.core.permissions import Permission
from app.releases.switching import service
from app.web.current import current_actor
from app.web.forms import ReasonForm, flash_errors, submit
from app.web.redirects import DONE, flash_with_undo, redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint(
    "switching_pages",
    __name__,
    url_prefix="/projects/<key:project_id>/features/<key:name>/environments/<key:environment>",
)

SWITCHED = Markup("Switched {} in <b>{}</b>. Applications pick this up within 15 seconds.")


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
    done = submit(
        form, lambda: service.switch(current_actor, project_id, environment, [name], on=on)
    )
    back = redirect_to("feature_pages.show", project_id=project_id, name=name, _anchor=DONE)
    if done is None:
        return flash_errors(form, back)
    if not done[1]:
        flash(f"It was already {word} in {environment}.", "ok")
    elif needing_approval(project_id, [environment]):
        flash(SWITCHED.format(word, environment), "ok")  # undoing it needs a reason too
    else:
        flash_with_undo(
            SWITCHED.format(word, environment),
            action=url_for(
                ".switch_off" if on else ".switch_on",
                project_id=project_id,
                name=name,
                environment=environment,
            ),
            what=f"switching {word} in {environment}",
        )
    return back
