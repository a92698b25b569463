"""The page of a strategy: who gets a feature in an environment."""

from uuid import UUID

from flask import flash
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.context import service as context
from app.core.permissions import Permission
from app.projects import service as projects
from app.strategies import types, words
from app.strategies.models import Strategy
from app.switching import service, strategies
from app.switching.forms import OPERATORS, StrategyForm, in_words, settings_of
from app.web.caller import current_actor
from app.web.conflicts import StaleEdit, Values
from app.web.forms import attempt, show_form
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

PLACE = "/features/<key:name>/environments/<key:environment>/strategies"

bp = PageBlueprint("strategy_pages", __name__, url_prefix="/projects/<key:project_id>")

LABELS = {
    "title": "Title",
    "rollout": "Rollout",
    "stickiness": "Stickiness",
    "disabled": "Paused",
    "constraints": "Constraints",
}


@bp.form(f"{PLACE}/new", needs=Permission.CREATE_FEATURE_STRATEGY)
def new(project_id: str, name: str, environment: str) -> ResponseReturnValue:
    """Add a strategy to a feature."""
    project = projects.get(current_actor, project_id)
    default = service.default_strategy(project, environment, name, 0)
    form = StrategyForm(context.every(), settings_of(default))
    strategies.state(current_actor, project_id, name, environment)
    if not form.take_step():
        added = attempt(
            form,
            lambda: strategies.add(
                current_actor,
                project_id,
                name,
                environment,
                **{"name": types.ROLLOUT, **form.values},
            ),
        )
        if added is not None:
            flash(f"Strategy added in {environment}.", "ok")
            return _back(project_id, name, environment)
    return _page("switching/strategy_new.html", form, project_id, name, environment)


@bp.get(f"{PLACE}/<uuid:strategy>", needs=Permission.UPDATE_FEATURE_STRATEGY)
def show(project_id: str, name: str, environment: str, strategy: UUID) -> ResponseReturnValue:
    """Show a strategy as a form."""
    found = strategies.get(current_actor, project_id, name, environment, str(strategy))
    form = StrategyForm(context.every(), settings_of(found))
    return _edit_page(form, found, project_id, name)


@bp.post(f"{PLACE}/<uuid:strategy>", needs=Permission.UPDATE_FEATURE_STRATEGY)
def update(project_id: str, name: str, environment: str, strategy: UUID) -> ResponseReturnValue:
    """Save, unless someone else changed the strategy first: then show what they changed."""
    place = (current_actor, project_id, name, environment, str(strategy))
    found = strategies.get(*place)
    current = settings_of(found)
    form = StrategyForm(context.every(), current)
    if form.take_step():
        return _edit_page(form, found, project_id, name)
    if before := _stale_edit(found).stale(current):
        return _edit_page(form, found, project_id, name, before)
    changed = attempt(
        form,
        lambda: strategies.update(
            current_actor, project_id, strategies.get_for_change(*place), **form.values
        ),
    )
    if changed is None:
        return _edit_page(form, found, project_id, name)
    flash(f"Strategy in {environment} saved." if changed else "Nothing changed.", "ok")
    return _back(project_id, name, environment)


@bp.post(f"{PLACE}/<uuid:strategy>/delete", needs=Permission.DELETE_FEATURE_STRATEGY)
def remove(project_id: str, name: str, environment: str, strategy: UUID) -> Response:
    """Delete a strategy. A feature that has no other is switched off."""
    found = strategies.get_for_change(current_actor, project_id, name, environment, str(strategy))
    strategies.remove(current_actor, project_id, found)
    flash(f"Strategy in {environment} deleted.", "ok")
    return _back(project_id, name, environment)


def _back(project_id: str, name: str, environment: str) -> Response:
    anchor = f"env-{environment}"
    return redirect_to("feature_pages.show", project_id=project_id, name=name, _anchor=anchor)


def _stale_edit(strategy: Strategy) -> StaleEdit:
    return StaleEdit(f"strategy {strategy.id}", LABELS, in_words)


def _page(
    template: str, form: StrategyForm, project_id: str, name: str, environment: str
) -> ResponseReturnValue:
    return show_form(template, form, **_about(project_id, name, environment))


def _edit_page(
    form: StrategyForm,
    strategy: Strategy,
    project_id: str,
    name: str,
    before: Values | None = None,
) -> ResponseReturnValue:
    """``before``: the settings this form was opened with, if someone changed them since."""
    return _stale_edit(strategy).show(
        "switching/strategy_edit.html",
        form,
        settings_of(strategy),
        before,
        strategy=strategy,
        told=words.told,
        shares=words.shares,
        **_about(project_id, name, strategy.environment),
    )


def _about(project_id: str, name: str, environment: str) -> dict[str, object]:
    return {
        "overview": projects.overview(current_actor, project_id),
        "name": name,
        "environment": environment,
        "approvals": service.use_of(project_id, environment).required_approvals,
        "fields": [field.name for field in context.every()],
        "operators": OPERATORS,
    }
