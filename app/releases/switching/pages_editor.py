"""The editor of a strategy: form, sentence and sample people. Its callers decide how to save."""

from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import UUID

from flask import request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.constraints.forms import OPERATORS
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


def add(place: StrategyPlace, save: Add) -> ResponseReturnValue:
    """Show or submit the form of a new strategy."""
    strategies.state(current_actor, *place)
    type = request.args.get("type", types.ROLLOUT)
    if type != types.ROLLOUT and type not in dict(_types()):
        raise NotFound(f"There is no strategy type named {type!r} to choose.")
    empty = empty_strategy(place.project_id, place.environment, type)
    form = form_of(place.project_id, empty)
    if not form.take_step() and (done := submit(form, lambda: save(form))):
        return done
    draft = empty if form.is_rollout and not form.sent else form.draft()
    return show_form(
        "releases/switching/strategy_new.html",
        form,
        types=_types(),
        draft=draft,
        group=place.name,
        samples=samples_of(draft, place.name),
        **about(*place),
    )


def show(
    place: StrategyPlace, strategy: UUID, drafted: Drafted = lambda _: None
) -> ResponseReturnValue:
    """Show the form of a strategy, with the changes of the reader’s draft."""
    found = strategies.get(current_actor, *place, str(strategy))
    draft = drafted(found)
    return _edit_page(place, form_of(place.project_id, draft or found), found, draft)


def update(
    place: StrategyPlace, strategy: UUID, save: Save, drafted: Drafted = lambda _: None
) -> ResponseReturnValue:
    """Save, unless someone else changed the strategy first: then show what they changed."""
    features.lock_for_change(current_actor, place.project_id, place.name)
    found = strategies.get(current_actor, *place, str(strategy))
    draft, before = drafted(found), None
    form = form_of(place.project_id, draft or found)
    if not form.take_step():
        before = _stale_edit(found).stale(settings(found))
        if not before and (done := submit(form, lambda: save(form, found))):
            return done
    return _edit_page(place, form, found, draft, before)


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


def samples_of(draft: Strategy | None, group: str) -> list[Sample] | None:
    """People who would get it or wouldn’t; None if the form has errors."""
    return None if draft is None else samples(draft, group, context.by_name())


def approvals(state: EnvironmentState) -> int:
    """Approvals that a change of a feature's strategies needs: none while it's off there."""
    return state.environment.required_approvals if state.enabled else 0


def about(project_id: str, name: str | None, environment: str) -> dict[str, Any]:
    """Template variables for what is around the form. ``name``: of the feature, if it has one."""
    fields = context.list_all()
    state = strategies.state(current_actor, project_id, name, environment) if name else None
    return {
        "overview": projects.overview(current_actor, project_id),
        "name": name,
        "environment": environment,
        "approvals": approvals(state) if state else 0,
        "fields": [field.name for field in fields],
        "legal": {field.name: field.values for field in fields},
        "operators": OPERATORS,
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
    form: StrategyForm,
    strategy: Strategy,
    drafted: Strategy | None,
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
        samples=samples_of(draft, group),
        **about(*place),
    )
