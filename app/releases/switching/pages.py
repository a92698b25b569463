from flask import flash, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response

from app.catalogue.features import queries as features
from app.catalogue.projects.queries import needing_approval
from app.catalogue.usage import queries as usage
from app.core.events import service as events
from app.core.permissions import Permission
from app.releases.switching import service
from app.web.current import current_actor
from app.web.forms import ReasonForm, flash_errors, submit
from app.web.redirects import DONE, flash_with_undo, own_path, redirect_to, redirect_to_path
from app.web.routes import PageBlueprint

bp = PageBlueprint(
    "switching_pages",
    __name__,
    url_prefix="/projects/<key:project_id>/features/<key:name>/environments/<key:environment>",
)

SWITCHED = Markup("Switched {} <b>{}</b> in {}. {}")
PICKED_UP = Markup('Applications pick this up within 15 seconds. <a href="{}">Has it arrived?</a>')
NEVER_CHECKED = "No application has checked it there yet."


@bp.post("/on", needs=Permission.UPDATE_FEATURE_ENVIRONMENT)
def switch_on(project_id: str, name: str, environment: str) -> Response:
    """Switch a feature on, and return to where it was pressed."""
    return _switch(project_id, name, environment, on=True)


@bp.post("/off", needs=Permission.UPDATE_FEATURE_ENVIRONMENT)
def switch_off(project_id: str, name: str, environment: str) -> Response:
    """Switch a feature off, and return to where it was pressed."""
    return _switch(project_id, name, environment, on=False)


def _switch(project_id: str, name: str, environment: str, *, on: bool) -> Response:
    form, word, next_page = ReasonForm(), "on" if on else "off", _next_page(project_id, name)
    batch = events.new_batch()
    done = submit(
        form,
        lambda: service.switch(
            current_actor.for_act(batch), project_id, environment, [name], on=on
        ),
    )
    if done is None:
        return flash_errors(form, next_page)
    if not done[1]:
        flash(f"{name} was already {word} in {environment}.", "ok")
        return next_page
    id = features.find(project_id, [name])[name].id
    receipts = url_for(
        "receipt_pages.show", project_id=project_id, name=name, environment=environment
    )
    is_checked = environment in usage.last_seen(id)
    reach = PICKED_UP.format(receipts) if is_checked else NEVER_CHECKED
    switched = SWITCHED.format(word, name, environment, reach)
    if needing_approval(project_id, [environment]):
        flash(switched, "ok")  # undoing it needs a reason too
    else:
        flash_with_undo(switched, batch=batch, what=f"switching {word} {name} in {environment}")
    return next_page


def _next_page(project_id: str, name: str) -> Response:
    """The list that was sent, at the row of the feature; else the page of the feature."""
    if back := request.form.get("back"):
        return redirect_to_path(f"{own_path(back)}#row-{name}")
    return redirect_to("feature_pages.show", project_id=project_id, name=name, _anchor=DONE)
