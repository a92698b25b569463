"""The page of a strategy: who gets a feature in an environment."""

from uuid import UUID

from flask import flash, jsonify, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.constraints.forms import OPERATORS
from app.constraints.words import told_all
from app.context import service as context
from app.core.errors import NotFound
from app.core.permissions import Access, Permission
from app.features import service as features
from app.projects import service as projects
from app.segments import service as segments
from app.strategies import custom, types, words
from app.strategies import service as contents
from app.strategies.models import Strategy
from app.switching import defaults, strategies
from app.switching.forms import PAYLOADS, StrategyForm, in_words, settings_of
from app.switching.samples import Sample, samples
from app.web.caller import current_actor
from app.web.conflicts import StaleEdit, Values
from app.web.forms import attempt, show_form
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

PLACE = "/features/<key:name>/environments/<key:environment>/strategies"
DEFAULT = "/environments/<key:environment>/default-strategy"

bp = PageBlueprint("strategy_pages", __name__, url_prefix="/projects/<key:project_id>")

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


@bp.form(f"{PLACE}/new", needs=Permission.CREATE_FEATURE_STRATEGY)
def new(project_id: str, name: str, environment: str) -> ResponseReturnValue:
    """Add a strategy to a feature."""
    strategies.state(current_actor, project_id, name, environment)
    type = request.args.get("type", types.ROLLOUT)
    if type != types.ROLLOUT and type not in dict(_types()):
        raise NotFound(f"There is no strategy type named {type!r} to choose.")
    empty = _empty(project_id, environment, type)
    form = _form(project_id, empty)
    if not form.take_step():
        added = attempt(
            form,
            lambda: strategies.add(current_actor, project_id, name, environment, **form.values),
        )
        if added is not None:
            flash(f"Strategy added in {environment}.", "ok")
            return _back(project_id, name, environment)
    about = _about(project_id, name, environment)
    draft = empty if form.is_rollout and not form.sent else form.draft()
    return show_form(
        "switching/strategy_new.html",
        form,
        types=_types(),
        draft=draft,
        group=name,
        samples=_samples(draft, name),
        **about,
    )


@bp.get(f"{PLACE}/<uuid:strategy>", needs=Permission.UPDATE_FEATURE_STRATEGY)
def show(project_id: str, name: str, environment: str, strategy: UUID) -> ResponseReturnValue:
    """Show a strategy as a form."""
    found = strategies.get(current_actor, project_id, name, environment, str(strategy))
    return _edit_page(_form(project_id, found), found, project_id, name)


@bp.post(f"{PLACE}/<uuid:strategy>", needs=Permission.UPDATE_FEATURE_STRATEGY)
def update(project_id: str, name: str, environment: str, strategy: UUID) -> ResponseReturnValue:
    """Save, unless someone else changed the strategy first: then show what they changed."""
    place = (current_actor, project_id, name, environment, str(strategy))
    features.lock_for_change(current_actor, project_id, name)
    found = strategies.get(*place)
    form = _form(project_id, found)
    if form.take_step():
        return _edit_page(form, found, project_id, name)
    if before := _stale_edit(found).stale(_settings(found)):
        return _edit_page(form, found, project_id, name, before)
    changed = attempt(
        form,
        lambda: strategies.update(
            current_actor,
            project_id,
            strategies.get_for_change(*place),
            replace_parameters=not form.is_rollout,  # the form of a rollout has no group
            **form.values,
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
    strategies.remove(current_actor, found)
    flash(f"Strategy in {environment} deleted.", "ok")
    return _back(project_id, name, environment)


@bp.get(DEFAULT, needs=Permission.UPDATE_PROJECT)
def show_default(project_id: str, environment: str) -> ResponseReturnValue:
    """Show what features get when they are switched on without a strategy."""
    found = defaults.get(current_actor, project_id, environment)
    return _default_page(_default_form(found, project_id), found, project_id)


@bp.post(DEFAULT, needs=Permission.UPDATE_PROJECT)
def choose_default(project_id: str, environment: str) -> ResponseReturnValue:
    """Save it, unless someone else changed it first: then show what they changed."""
    found = defaults.get_for_change(current_actor, project_id, environment)
    form = _default_form(found, project_id)
    if form.take_step():
        return _default_page(form, found, project_id)
    if before := _stale_default(project_id, environment).stale(_settings(found)):
        return _default_page(form, found, project_id, before)
    chosen = attempt(form, lambda: defaults.choose(current_actor, found, **form.values))
    if chosen is None:
        return _default_page(form, found, project_id)
    flash(f"Default strategy in {environment} saved.", "ok")
    return redirect_to("project_pages.settings", project_id=project_id)


@bp.post(f"{DEFAULT}/reset", needs=Permission.UPDATE_PROJECT)
def reset_default(project_id: str, environment: str) -> Response:
    """Go back to: on for everyone."""
    found = defaults.get_for_change(current_actor, project_id, environment)
    defaults.reset(current_actor, found)
    flash(f"Default strategy in {environment} reset: on for everyone.", "ok")
    return redirect_to("project_pages.settings", project_id=project_id)


@bp.post("/strategy-sentence", needs=Access.SIGNED_IN, writes=False)
def say(project_id: str) -> ResponseReturnValue:
    """What the strategy in a form would do, and for whom: parts of its page, for its script."""
    project = projects.get(current_actor, project_id)
    empty = _empty(project.id, "", request.form.get("type", types.ROLLOUT))
    form = _form(project_id, empty)
    form.validate()
    draft, group = form.draft(), request.args.get("group", "")
    part = render_template(
        "switching/_says.html", draft=draft, form=form, told=words.told, shares=words.shares
    )
    people = render_template("switching/_samples.html", samples=_samples(draft, group))
    return jsonify(html=part, samples=people)


def _back(project_id: str, name: str, environment: str) -> Response:
    anchor = f"env-{environment}"
    return redirect_to("feature_pages.show", project_id=project_id, name=name, _anchor=anchor)


def _form(project_id: str, strategy: Strategy) -> StrategyForm:
    available = segments.available(current_actor, project_id)
    return StrategyForm(context.every(), available, _settings(strategy))


def _default_form(strategy: Strategy, project_id: str) -> StrategyForm:
    """A default strategy can't be paused: it would give nothing."""
    form = _form(project_id, strategy)
    del form.disabled
    del form.rules["disabled"]
    return form


def _settings(strategy: Strategy) -> Values:
    known = contents.known_parameters(strategy.name) if strategy.name != types.ROLLOUT else {}
    return settings_of(strategy, list(known))


def _empty(project_id: str, environment: str, type: str) -> Strategy:
    """What the form of a new strategy begins with."""
    if type == types.ROLLOUT:
        project = projects.get(current_actor, project_id)
        return defaults.everyone(project, environment)
    return Strategy(
        name=type, disabled=False, parameters={}, constraints=[], segments=[], variants=[]
    )


def _types() -> list[tuple[str, str]]:
    """The types to choose from for a new strategy, other than a rollout, with what each is for."""
    return [
        (type.name, type.description or "")
        for type in custom.with_built_in()
        if not type.deprecated and type.name != types.ROLLOUT
    ]


def _stale_edit(strategy: Strategy) -> StaleEdit:
    return StaleEdit(f"strategy {strategy.id}", LABELS, in_words)


def _stale_default(project_id: str, environment: str) -> StaleEdit:
    return StaleEdit(f"default strategy {project_id} {environment}", LABELS, in_words)


def _edit_page(
    form: StrategyForm,
    strategy: Strategy,
    project_id: str,
    name: str,
    before: Values | None = None,
) -> ResponseReturnValue:
    """``before``: the settings this form was opened with, if someone changed them since."""
    draft = form.draft() if form.sent else strategy
    group = strategy.parameters.get("groupId", name)
    return _stale_edit(strategy).show(
        "switching/strategy_edit.html",
        form,
        _settings(strategy),
        before,
        strategy=strategy,
        draft=draft,
        group=group,
        samples=_samples(draft, group),
        **_about(project_id, name, strategy.environment),
    )


def _default_page(
    form: StrategyForm, strategy: Strategy, project_id: str, before: Values | None = None
) -> ResponseReturnValue:
    return _stale_default(project_id, strategy.environment).show(
        "switching/default_edit.html",
        form,
        _settings(strategy),
        before,
        strategy=strategy,
        draft=form.draft() if form.sent else strategy,
        **_about(project_id, None, strategy.environment),
    )


def _samples(draft: Strategy | None, group: str) -> list[Sample] | None:
    """People who would get it or wouldn’t; None if the form has to be corrected first."""
    return None if draft is None else samples(draft, group, context.by_name())


def _about(project_id: str, name: str | None, environment: str) -> dict[str, object]:
    fields = context.every()
    return {
        "overview": projects.overview(current_actor, project_id),
        "name": name,
        "environment": environment,
        "approvals": contents.use_of(project_id, environment).required_approvals,
        "fields": [field.name for field in fields],
        "legal": {field.name: field.values for field in fields},
        "operators": OPERATORS,
        "payloads": PAYLOADS,
        "told": words.told,
        "told_all": told_all,
        "shares": words.shares,
    }
