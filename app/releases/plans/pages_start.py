"""The page that starts a release. Its callers decide how to save: at once, or as a proposal."""

from collections.abc import Callable

from flask import flash, jsonify, render_template, request
from flask.typing import ResponseReturnValue
from marshmallow import ValidationError
from werkzeug.wrappers import Response

from app.catalogue.features import service as features
from app.catalogue.features.queries import FeatureView
from app.catalogue.projects import service as projects
from app.catalogue.releases.models import ReleaseTemplate
from app.catalogue.segments import service as segments
from app.catalogue.strategies import words
from app.core.errors import DomainError
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.releases.plans import review, service
from app.releases.plans.forms import StartForm
from app.releases.plans.pages import back
from app.releases.plans.review import ReviewedRelease
from app.releases.templates import service as templates
from app.web.current import current_actor
from app.web.forms import show_form, submit
from app.web.listing import MAX_LIMIT
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

SWITCH = Permission.UPDATE_FEATURE_ENVIRONMENT

bp = PageBlueprint(
    "release_start_pages",
    __name__,
    url_prefix="/projects/<key:project_id>/features/<key:name>/environments/<key:environment>",
)

Place = tuple[str, str, str]
"""The project, the feature and the environment."""


@bp.form("/new-release", needs=SWITCH)
def new(project_id: str, name: str, environment: str) -> ResponseReturnValue:
    """Start a release. Redirect to proposing it where that needs approvals."""
    place = project_id, name, environment
    view = features.get(current_actor, project_id, name)
    if request.method == "GET" and view.state(environment).environment.required_approvals:
        at = {"project_id": project_id, "name": name, "environment": environment}
        return redirect_to("proposal_release_pages.new", **at)

    def save(form: StartForm) -> Response:
        found = service.create(current_actor, *place, **form.values)
        step = found.release.step
        says = f"Step {step['name']} started." if step else "It starts at its time."
        if not step and not found.release.is_automatic:
            says = "It starts when someone starts its first step."
        flash(f"Release in {environment} created. {says}", "ok")
        return back(project_id, name)

    return page(place, save, view)


@bp.post("/new-release/review", needs=Access.SIGNED_IN, writes=False, keeps=NOTHING)
def say(project_id: str, name: str, environment: str) -> Response:
    """What the form would do, for the script that shows it while people type."""
    place = project_id, name, environment
    features.get(current_actor, project_id, name).state(environment)
    form, _ = _form(place)
    form.check_shares()
    values = {"reviewed": _reviewed(form, place), "environment": environment}
    html = render_template("releases/plans/_review.html", form=form, **values)
    return jsonify(html=html)


def page(
    place: Place, save: Callable[[StartForm], Response], view: FeatureView
) -> ResponseReturnValue:
    """Show or submit the form. ``save``: saves it, and returns the redirect."""
    project_id, name, environment = place
    form, chosen = _form(place)
    pressed = request.form.get("step")
    if pressed == "template" or form.has_other_steps:
        form.take_steps(chosen)
        if pressed != "template":
            flash("You chose another template. Check its steps, which are shown now.", "warn")
    elif not form.take_step() and (done := submit(form, lambda: save(form))):
        return done
    state = view.state(environment)
    return show_form(
        "releases/plans/start.html",
        form,
        overview=projects.overview(current_actor, project_id),
        view=view,
        state=state,
        reach=words.reached(state.strategies) if state.enabled else None,
        reviewed=_reviewed(form, place),
        environment=environment,
        approvals=state.environment.required_approvals,
        name=name,
    )


def _form(place: Place) -> tuple[StartForm, ReleaseTemplate | None]:
    """The form, and the template that is chosen in it."""
    project_id = place[0]
    found = templates.search(current_actor, project=project_id, limit=MAX_LIMIT, offset=0).items
    by_id = {each.template.id: each for each in found}
    first = found[0].template if found else None
    asked = request.args.get("template", first.id if first else "")
    chosen = by_id[asked].template if asked in by_id else None
    form = StartForm(segments.available(current_actor, project_id), found, chosen)
    sent = by_id.get(form.template_id.data)
    return form, sent.template if sent else None


def _reviewed(form: StartForm, place: Place) -> ReviewedRelease | None:
    """What the release would do, as the form is now; None if it has errors."""
    if form.faults["step"]:
        return None
    try:
        values = form.schema().load(form.payload())
        values.pop("start")
        return review.of_release(service.draft(current_actor, *place, values))
    except (ValidationError, DomainError):
        return None
