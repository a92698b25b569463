"""The editor of a strategy: form, sentence and sample people. Its callers decide how to save."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from flask import request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.constraints.forms import offered
from app.catalogue.constraints.words import describe_all
from app.catalogue.context import service as context
from app.catalogue.features import service as features
from app.catalogue.projects import service as projects
from app.catalogue.segments import service as segments
from app.catalogue.strategies import custom, types, words
from app.catalogue.strategies import service as contents
from app.catalogue.strategies.models import Strategy
from app.catalogue.strategies.queries import EnvironmentState
from app.core.errors import NotFound
from app.core.permissions import Permission
from app.releases.switching import defaults, strategies
from app.releases.switching.forms import PAYLOADS, StrategyForm, display_values, form_data
from app.releases.switching.samples import Sample, samples
from app.web.conflicts import StaleEdit, Values
from app.web.current import current_actor
from app.web.forms import show_form, submit


class StrategyPlace(NamedTuple):
    """A feature in an environment."""

    project_id: str
    name: str
    environment: str


Add = Callable[[StrategyForm], Response]
Save = Callable[[StrategyForm, Strategy], Response]
"""Saves a valid form, and returns the redirect."""
Drafted = Callable[[Strategy], Strategy | None]
"""Returns a strategy as the reader’s draft changes it; None if it doesn’t."""

LABELS = {
    "title": "Title",
    "rollout": "Rollout",
    "stickiness": "Stickiness",
    "parameters": "Parameters",
    "disabled": "Paused",
    "constraints": "Constraints",
    "segments": "Segments",
    "variants": "Variants",
}


def add(place: StrategyPlace, state: EnvironmentState, save: Add) -> ResponseReturnValue:
    """Show or submit the form of a new strategy. ``state``: of the feature in this place."""
    offered = _types()
    type = request.args.get("type", types.ROLLOUT)
    if type != types.ROLLOUT and type not in dict(offered):
        raise NotFound(f"There is no strategy type named {type!r} to choose.")
    empty = empty_strategy(place.project_id, place.environment, type)
    form = form_of(place.project_id, empty)
    if not form.take_step() and (done := submit(form, lambda: save(form))):
        return done
    draft = empty if form.is_rollout and not form.sent else form.draft()
    return show_form(
        "releases/switching/strategy_new.html",
        form,
        types=offered,
        draft=draft,
        group=place.name,
        samples=samples_of(draft, place.name, form),
        **about(place.project_id, form, place.environment, state),
        name=place.name,
    )


def show(
    place: StrategyPlace,
    state: EnvironmentState,
    strategy: UUID,
    drafted: Drafted = lambda _: None,
) -> ResponseReturnValue:
    """Show the form of a strategy, with the changes of the reader’s draft."""
    found = strategies.with_id(state.strategies, str(strategy))
    draft = drafted(found)
    return _edit_page(place, state, form_of(place.project_id, draft or found), found, draft)


def update(
    place: StrategyPlace, strategy: UUID, save: Save, drafted: Drafted = lambda _: None
) -> ResponseReturnValue:
    """Save, unless someone else changed the strategy first: then show what they changed."""
    features.lock_for_change(current_actor, place.project_id, place.name)
    state = strategies.state(current_actor, *place)
    found = strategies.with_id(state.strategies, str(strategy))
    draft, before = drafted(found), None
    form = form_of(place.project_id, draft or found)
    if not form.take_step():
        before = _stale_edit(found).stale(settings(found))
        if not before and (done := submit(form, lambda: save(form, found))):
            return done
    return _edit_page(place, state, form, found, draft, before=before)


def form_of(project_id: str, strategy: Strategy) -> StrategyForm:
    available = segments.available(current_actor, project_id)
    return StrategyForm(context.list_all(), available, settings(strategy))


def settings(strategy: Strategy) -> Values:
    known = contents.known_parameters(strategy.name) if strategy.name != types.ROLLOUT else {}
    return form_data(strategy, list(known))


def empty_strategy(project_id: str, environment: str, type: str) -> Strategy:
    """Initial values for the form of a new strategy."""
    if type == types.ROLLOUT:
        project = projects.get(current_actor, project_id)
        return defaults.everyone(project, environment)
    return Strategy(
        name=type, disabled=False, parameters={}, constraints=[], segments=[], variants=[]
    )


def samples_of(draft: Strategy | None, group: str, form: StrategyForm) -> list[Sample] | None:
    """People who would get it or wouldn’t; None if the form has errors."""
    fields = {field.name: field for field in form.known_fields}
    return None if draft is None else samples(draft, group, fields)


def approvals(state: EnvironmentState) -> int:
    """Approvals that a change of a feature's strategies needs: none while it's off there."""
    return state.environment.required_approvals if state.enabled else 0


def about(
    project_id: str, form: StrategyForm, environment: str, state: EnvironmentState | None = None
) -> dict[str, Any]:
    """Template variables for what is around the form. ``state``: of the feature, if it has one."""
    fields = form.known_fields
    return {
        "overview": projects.overview(current_actor, project_id),
        "environment": environment,
        "approvals": approvals(state) if state else 0,
        "is_off": state is not None and not state.enabled,
        "can_switch_on": state is not None
        and not state.enabled
        and not state.environment.required_approvals
        and current_actor.may(Permission.UPDATE_FEATURE_ENVIRONMENT, project_id),
        "fields": [field.name for field in fields],
        "offered": partial(offered, legal={field.name: field.values for field in fields}),
        "payloads": PAYLOADS,
        "describe": words.describe,
        "describe_all": describe_all,
        "shares": words.shares,
    }


def _types() -> list[tuple[str, str]]:
    """Types to choose from for a new strategy, without rollouts: (name, description)."""
    return [
        (type.name, type.description or "")
        for type in custom.with_built_in()
        if not type.deprecated and type.name != types.ROLLOUT
    ]


def _stale_edit(strategy: Strategy) -> StaleEdit:
    return StaleEdit(f"strategy {strategy.id}", LABELS, display_values)


def _edit_page(
    place: StrategyPlace,
    state: EnvironmentState,
    form: StrategyForm,
    strategy: Strategy,
    drafted: Strategy | None,
    *,
    before: Values | None = None,
) -> ResponseReturnValue:
    """``before``: the settings this form was opened with, if someone changed them since."""
    draft = form.draft() if form.sent else drafted or strategy
    group = strategy.parameters.get("groupId", place.name)
    return _stale_edit(strategy).show(
        "releases/switching/strategy_edit.html",
        form,
        settings(strategy),
        before,
        strategy=strategy,
        draft=draft,
        is_drafted=drafted is not None,
        group=group,
        samples=samples_of(draft, group, form),
        **about(place.project_id, form, place.environment, state),
        name=place.name,
    )
