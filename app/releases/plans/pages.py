"""The pages of releases: the lists, one release, and what people do to it."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from flask import Flask, flash, render_template
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.features import service as features
from app.catalogue.features.pages import about
from app.catalogue.features.queries import FeatureView
from app.catalogue.projects.queries import needing_approval
from app.catalogue.receipts.service import Receipts, of_batch
from app.catalogue.releases import queries
from app.catalogue.releases.models import MOVING, Release, ReleaseState
from app.catalogue.releases.queries import Located
from app.catalogue.strategies import words as strategy_words
from app.core.clock import utcnow
from app.core.events import service as events
from app.core.permissions import Access, Permission
from app.releases.plans import acts, schemas, service, stairs, views
from app.releases.plans.forms import StopForm
from app.releases.plans.views import ReleaseView
from app.web import exports
from app.web.current import current_actor
from app.web.forms import ButtonForm, ReasonForm, SchemaForm, flash_errors, show_form, submit
from app.web.listing import read_query
from app.web.redirects import DONE, redirect_to
from app.web.routes import PageBlueprint

SWITCH = Permission.UPDATE_FEATURE_ENVIRONMENT
FILTERS = {"text": "Text", "project": "Project", "environment": "Environment"}

bp = PageBlueprint("release_pages", __name__)

Place = tuple[str, str, str, UUID]
"""The project, the feature, the environment and the release."""

PLACE = "/projects/<key:project_id>/features/<key:name>/environments/<key:environment>/releases"


def init_app(app: Flask) -> None:
    """Let other pages show the releases of a feature, and those under way."""
    app.jinja_env.globals["releases_of"] = releases_of
    app.jinja_env.globals["release_owns"] = lambda view: view.release.state in MOVING
    app.jinja_env.globals["arrival_of_step"] = arrival_of_step
    app.jinja_env.globals["stairs_of"] = stairs.of


def releases_of(view: FeatureView) -> dict[str, ReleaseView]:
    """The latest releases of a feature by environment: open ones, and those that ended lately."""
    found = queries.of_feature(view.feature.id)
    shown = [release for release in found.values() if _is_shown(release)]
    place = view.feature.name, view.feature.project_id
    return {
        each.release.environment: each for each in views.of([Located(one, *place) for one in shown])
    }


def arrival_of_step(view: ReleaseView) -> Receipts | None:
    """Which instances have the present step; None if there is nothing to say."""
    step = view.release.step
    batch = step and step.get("batch")
    found = of_batch(batch, view.release.environment) if batch else None
    return found if found and found.total else None


def _is_shown(release: Release) -> bool:
    if release.ended_at is None:
        return True
    return release.state is not ReleaseState.LEFT and utcnow() - release.ended_at < views.LATELY


@bp.get("/releases", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """List the releases under way, those that need someone first."""
    return _list("releases/plans/index.html", numbers=queries.numbers(current_actor))


@bp.get("/releases/ended", needs=Access.SIGNED_IN)
def index_ended() -> ResponseReturnValue:
    """List the releases that are done, were stopped or left; the newest first."""
    return _list("releases/plans/ended.html", is_open=False)


def _list(template: str, *, is_open: bool = True, **more: Any) -> ResponseReturnValue:
    query = read_query(schemas.ReleaseQuery)

    def search(**wanted: Any) -> Any:
        page = service.search(current_actor, **{**wanted, "is_open": is_open})
        return page.of(views.of(page.items))

    if exports.wanted():
        return exports.table("releases", schemas.ReleaseRow(), search, query.values)
    return render_template(
        template,
        page=search(**query.values),
        query=query,
        filters=query.in_use(FILTERS),
        **more,
    )


@bp.get(f"{PLACE}/<uuid:release>", needs=Access.SIGNED_IN)
def show(project_id: str, name: str, environment: str, release: UUID) -> ResponseReturnValue:
    """Show a release, with its steps."""
    found = service.get(current_actor, project_id, name, environment, release)
    return render_template(
        "releases/plans/show.html",
        **about(project_id, features.get(current_actor, project_id, name)),
        release=views.one(found),
        describe=strategy_words.describe,
        shares=strategy_words.shares,
    )


@bp.post(f"{PLACE}/<uuid:release>/hold", needs=SWITCH)
def hold(project_id: str, name: str, environment: str, release: UUID) -> Response:
    """Put a release on hold, or add a reason to that."""
    return _act(
        StopForm(),
        (project_id, name, environment, release),
        lambda found, form: acts.hold(current_actor, found, form.values["reason"] or None),
        f"The release of {name} in {environment} is on hold.",
    )


@bp.post(f"{PLACE}/<uuid:release>/resume", needs=SWITCH)
def resume(project_id: str, name: str, environment: str, release: UUID) -> Response:
    """Resume a release that is on hold."""
    return _act(
        ButtonForm(),
        (project_id, name, environment, release),
        lambda found, _: acts.resume(current_actor, found),
        "Resumed. The waiting time of the step starts again.",
    )


@bp.post(f"{PLACE}/<uuid:release>/stop", needs=SWITCH)
def stop(project_id: str, name: str, environment: str, release: UUID) -> Response:
    """Stop a release."""
    return _act(
        StopForm(),
        (project_id, name, environment, release),
        lambda found, form: acts.stop(current_actor, found, form.values["reason"] or None),
        f"The release of {name} in {environment} was stopped.",
    )


@bp.form(f"{PLACE}/<uuid:release>/next", needs=SWITCH)
def start(project_id: str, name: str, environment: str, release: UUID) -> ResponseReturnValue:
    """Ask whether to start the next step now, and start it."""
    place = project_id, name, environment, release
    form = ReasonForm()

    def act() -> Response:
        acting = current_actor.for_act(events.new_batch())
        found = service.get(acting, *place, for_change=True)
        acts.start(acting, found)
        step = found.release.step
        flash(f"Step {step['name'] if step else ''} started in {environment}.", "ok")
        return back(*place[:2])

    done = submit(form, act)
    return done or _sure("releases/plans/next.html", form, place)


@bp.form(f"{PLACE}/<uuid:release>/leave", needs=SWITCH)
def leave(project_id: str, name: str, environment: str, release: UUID) -> ResponseReturnValue:
    """Ask whether to leave a release, and leave it."""
    place = project_id, name, environment, release
    form = ReasonForm()

    def act() -> Response:
        found = service.get(current_actor, *place, for_change=True)
        was_draft = found.release.state is ReleaseState.DRAFT
        acts.leave(current_actor, found)
        flash("Release deleted." if was_draft else "Release left. Its strategies stay.", "ok")
        return back(*place[:2])

    done = submit(form, act)
    return done or _sure("releases/plans/leave.html", form, place)


def back(project_id: str, name: str) -> Response:
    """The page of the feature, where its release is shown."""
    return redirect_to("feature_pages.show", project_id=project_id, name=name, _anchor=DONE)


def _act(
    form: SchemaForm,
    place: Place,
    act: Callable[[Located, SchemaForm], None],
    done: str,
) -> Response:
    def command() -> bool:
        act(service.get(current_actor, *place, for_change=True), form)
        return True

    if submit(form, command) is None:
        return flash_errors(form, back(*place[:2]))
    flash(done, "ok")
    return back(*place[:2])


def _sure(template: str, form: SchemaForm, place: Place) -> Any:
    project_id, name, environment, _ = place
    view = views.one(service.get(current_actor, *place))
    return show_form(
        template,
        form,
        **about(project_id, features.get(current_actor, project_id, name)),
        release=view,
        approvals=_approvals(view) if needing_approval(project_id, [environment]) else 0,
    )


def _approvals(view: ReleaseView) -> int:
    """How many approvals an early start needs; 0 if the waiting time is over."""
    release = view.release
    is_ready = release.next_at is None or release.next_at <= utcnow()
    return 0 if is_ready and release.warrant is not None else 1
