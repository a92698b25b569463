"""The pages of strategies: those of a feature, and the default one of an environment."""

from uuid import UUID

from flask import flash, jsonify, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.projects import service as projects
from app.catalogue.projects.queries import needing_approval
from app.catalogue.strategies import types, words
from app.catalogue.strategies.models import Strategy
from app.core.actor import Actor
from app.core.events import service as events
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.releases.switching import defaults, service, strategies
from app.releases.switching import pages_editor as editor
from app.releases.switching.forms import StrategyForm, display_values
from app.releases.switching.pages_editor import StrategyPlace
from app.web.conflicts import StaleEdit, Values
from app.web.current import current_actor
from app.web.forms import ReasonForm, flash_errors, submit
from app.web.redirects import flash_with_undo, redirect_to
from app.web.routes import PageBlueprint

PLACE = "/features/<key:name>/environments/<key:environment>/strategies"
DEFAULT = "/environments/<key:environment>/default-strategy"

bp = PageBlueprint("strategy_pages", __name__, url_prefix="/projects/<key:project_id>")


@bp.form(f"{PLACE}/new", needs=Permission.CREATE_FEATURE_STRATEGY)
def new(project_id: str, name: str, environment: str) -> ResponseReturnValue:
    """Add a strategy to a feature. Redirect to proposing it where that needs approvals."""
    place = StrategyPlace(project_id, name, environment)
    state = strategies.state(current_actor, *place)
    if request.method == "GET" and editor.approvals(state):
        return _propose_instead("proposal_strategy_pages.new", place)

    def save(form: StrategyForm) -> Response:
        actor = current_actor.for_act(events.new_batch())
        strategies.add(actor, *place, **form.values)
        done = f"Strategy added in {environment}{_switch_on_too(actor, place)}."
        return _done(actor, place, done, f"adding the strategy in {environment}")

    return editor.add(place, state, save)


@bp.get(f"{PLACE}/<uuid:strategy>", needs=Permission.UPDATE_FEATURE_STRATEGY)
def show(project_id: str, name: str, environment: str, strategy: UUID) -> ResponseReturnValue:
    """Show a strategy as a form. Redirect to proposing where changes need approvals."""
    place = StrategyPlace(project_id, name, environment)
    state = strategies.state(current_actor, *place)
    if editor.approvals(state):
        return _propose_instead("proposal_strategy_pages.show", place, strategy)
    return editor.show(place, state, strategy)


@bp.post(f"{PLACE}/<uuid:strategy>", needs=Permission.UPDATE_FEATURE_STRATEGY)
def update(project_id: str, name: str, environment: str, strategy: UUID) -> ResponseReturnValue:
    """Save, unless someone else changed the strategy first: then show what they changed."""
    place = StrategyPlace(project_id, name, environment)

    def save(form: StrategyForm, found: Strategy) -> Response:
        actor = current_actor.for_act(events.new_batch())
        changed = strategies.update(
            actor,
            project_id,
            strategies.get_for_change(actor, *place, found.id),
            replace_parameters=not form.is_rollout,  # the form of a rollout lacks groupId
            **form.values,
        )
        done = f"Strategy in {environment} saved{_switch_on_too(actor, place)}."
        if changed or "then" in request.form:
            return _done(actor, place, done, f"saving the strategy in {environment}")
        flash("Nothing changed.", "ok")
        return back(*place)

    return editor.update(place, strategy, save)


@bp.post(f"{PLACE}/<uuid:strategy>/delete", needs=Permission.DELETE_FEATURE_STRATEGY)
def remove(project_id: str, name: str, environment: str, strategy: UUID) -> Response:
    """Delete a strategy. A feature that has no other is switched off."""
    form, place = ReasonForm(), StrategyPlace(project_id, name, environment)

    def command() -> Response:
        actor = current_actor.for_act(events.new_batch())
        strategies.remove(actor, strategies.get_for_change(actor, *place, str(strategy)))
        done = f"Strategy in {environment} deleted."
        return _done(actor, place, done, f"deleting the strategy in {environment}")

    return submit(form, command) or flash_errors(form, back(*place))


@bp.get(DEFAULT, needs=Permission.UPDATE_PROJECT)
def show_default(project_id: str, environment: str) -> ResponseReturnValue:
    """Show what features get when they are switched on without a strategy."""
    found = defaults.get(current_actor, project_id, environment)
    return _default_page(_default_form(found, project_id), found, project_id)


@bp.post(DEFAULT, needs=Permission.UPDATE_PROJECT)
def choose_default(project_id: str, environment: str) -> ResponseReturnValue:
    """Save the default, unless someone else changed it first: then show what they changed."""
    found = defaults.get_for_change(current_actor, project_id, environment)
    form = _default_form(found, project_id)
    if form.take_step():
        return _default_page(form, found, project_id)
    if before := _stale_default(project_id, environment).stale(editor.settings(found)):
        return _default_page(form, found, project_id, before)
    chosen = submit(form, lambda: defaults.choose(current_actor, found, **form.values))
    if chosen is None:
        return _default_page(form, found, project_id)
    flash(f"Default strategy in {environment} saved.", "ok")
    return redirect_to("project_pages.settings", project_id=project_id)


@bp.post(f"{DEFAULT}/reset", needs=Permission.UPDATE_PROJECT)
def reset_default(project_id: str, environment: str) -> Response:
    """Reset the default strategy to: on for everyone."""
    found = defaults.get_for_change(current_actor, project_id, environment)
    defaults.reset(current_actor, found)
    flash(f"Default strategy in {environment} reset: on for everyone.", "ok")
    return redirect_to("project_pages.settings", project_id=project_id)


@bp.post("/strategy-sentence", needs=Access.SIGNED_IN, keeps=NOTHING, writes=False)
def say(project_id: str) -> ResponseReturnValue:
    """Render the sentence and the samples of the strategy in a form, for the page’s script."""
    project = projects.get(current_actor, project_id)
    empty = editor.empty_strategy(project.id, "", request.form.get("type", types.ROLLOUT))
    form = editor.form_of(project_id, empty)
    form.validate()
    draft, group = form.draft(), request.args.get("group", "")
    part = render_template(
        "releases/switching/_says.html",
        draft=draft,
        form=form,
        describe=words.describe,
        shares=words.shares,
        is_off="off" in request.args,
    )
    people = render_template(
        "releases/switching/_samples.html", samples=editor.samples_of(draft, group, form)
    )
    return jsonify(html=part, samples=people)


def _done(actor: Actor, place: StrategyPlace, done: str, what: str) -> Response:
    """Flash what the actor did in their batch, with Undo unless that needs approvals."""
    if needing_approval(place.project_id, [place.environment]):
        flash(done, "ok")
    else:
        flash_with_undo(done, batch=actor.batch_id, what=what)
    return back(*place)


def _switch_on_too(actor: Actor, place: StrategyPlace) -> str:
    """Switch the feature on if that button was pressed. Return words for it."""
    if request.form.get("then") != "on":
        return ""
    project_id, name, environment = place
    actor.require(Permission.UPDATE_FEATURE_ENVIRONMENT, project_id)
    service.switch(actor, project_id, environment, [name], on=True)
    return f", and {name} switched on there"


def _propose_instead(endpoint: str, place: StrategyPlace, strategy: UUID | None = None) -> Response:
    carried = {name: request.args.get(name) for name in ("type", "kept")}
    return redirect_to(endpoint, **place._asdict(), strategy=strategy, **carried)


def back(project_id: str, name: str, environment: str) -> Response:
    """Redirect to the environment on the page of the feature."""
    anchor = f"env-{environment}"
    return redirect_to("feature_pages.show", project_id=project_id, name=name, _anchor=anchor)


def _default_form(strategy: Strategy, project_id: str) -> StrategyForm:
    """A default strategy can't be paused: it would give nothing."""
    form = editor.form_of(project_id, strategy)
    del form.disabled
    del form.rules["disabled"]
    return form


def _stale_default(project_id: str, environment: str) -> StaleEdit:
    return StaleEdit(f"default strategy {project_id} {environment}", editor.LABELS, display_values)


def _default_page(
    form: StrategyForm, strategy: Strategy, project_id: str, before: Values | None = None
) -> ResponseReturnValue:
    return _stale_default(project_id, strategy.environment).show(
        "releases/switching/default_edit.html",
        form,
        editor.settings(strategy),
        before,
        strategy=strategy,
        draft=form.draft() if form.sent else strategy,
        **editor.about(project_id, form, strategy.environment),
        name=None,
    )
