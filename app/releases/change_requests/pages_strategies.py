"""Pages that propose to add, edit and delete strategies. Their forms are those of the editor."""

from typing import Any
from uuid import UUID

from flask import flash
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.projects import service as projects
from app.catalogue.strategies import queries as strategies
from app.catalogue.strategies.models import Strategy
from app.core.actor import Actor
from app.core.permissions import Access, Permission
from app.core.words import spoken
from app.releases.change_requests import proposals, service, summaries
from app.releases.change_requests.models import OPEN_REQUESTS, Action
from app.releases.change_requests.pages_proposing import one, propose, to_draft
from app.releases.switching import copying
from app.releases.switching import pages_editor as editor
from app.releases.switching import strategies as switching
from app.releases.switching.forms import StrategyForm
from app.releases.switching.pages_copying import copy_page, flash_copied
from app.releases.switching.pages_editor import Drafted, StrategyPlace
from app.releases.switching.pages_strategies import back
from app.web.current import current_actor
from app.web.forms import ReasonForm, flash_errors, submit
from app.web.redirects import DONE, redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint(
    "proposal_strategy_pages",
    __name__,
    url_prefix="/projects/<key:project_id>/features/<key:name>/environments/<key:environment>"
    "/propose",
)


@bp.form("/copy", needs=Permission.CREATE_FEATURE_STRATEGY)
def copy(project_id: str, name: str, environment: str) -> ResponseReturnValue:
    """Copy all strategies to other environments, and propose that where it needs approvals."""
    place = StrategyPlace(project_id, name, environment)

    def save(targets: list[str]) -> Response:
        feature, originals = copying.to_copy(current_actor, *place, targets)
        guarded = strategies.guarded_where_on(project_id, [feature.id])
        closed = [target for target in targets if target in guarded]
        if free := [target for target in targets if target not in closed]:
            flash_copied(copying.copy(current_actor, *place, free), environment, free)
        copies = proposals.copying(name, originals)
        drafts = [propose(project_id, target, copies) for target in closed]
        if len(drafts) == 1:
            return to_draft(drafts[0])
        if drafts:
            flash(f"Added to your drafts for {spoken(closed)}.", "ok")
        return redirect_to("feature_pages.show", project_id=project_id, name=name, _anchor=DONE)

    return copy_page(place, save)


@bp.form("/strategies/new", needs=Access.SIGNED_IN, keeps=(OPEN_REQUESTS,))
def new(project_id: str, name: str, environment: str) -> ResponseReturnValue:
    """Propose a strategy."""
    projects.require_proposer(current_actor, Permission.CREATE_FEATURE_STRATEGY, project_id)

    def save(form: StrategyForm) -> Response:
        added = one(name, Action.ADD_STRATEGY, form.values)
        return to_draft(propose(project_id, environment, added))

    place = StrategyPlace(project_id, name, environment)
    return editor.add(place, switching.state(current_actor, *place), save)


@bp.get("/strategies/<uuid:strategy>", needs=Access.SIGNED_IN)
def show(project_id: str, name: str, environment: str, strategy: UUID) -> ResponseReturnValue:
    """Show a strategy as a form, as the reader’s draft has it."""
    projects.require_proposer(current_actor, Permission.UPDATE_FEATURE_STRATEGY, project_id)
    place = StrategyPlace(project_id, name, environment)
    state = switching.state(current_actor, *place)
    return editor.show(place, state, strategy, _drafted(project_id))


@bp.post("/strategies/<uuid:strategy>", needs=Access.SIGNED_IN, keeps=(OPEN_REQUESTS,))
def update(project_id: str, name: str, environment: str, strategy: UUID) -> ResponseReturnValue:
    """Propose an edit, unless someone else changed the strategy first."""
    projects.require_proposer(current_actor, Permission.UPDATE_FEATURE_STRATEGY, project_id)

    def save(form: StrategyForm, found: Strategy) -> Response:
        payload: dict[str, Any] = {"id": found.id, **form.values}
        if not form.is_rollout:  # the form of a rollout lacks its groupId, which has to stay
            payload["replace_parameters"] = True
        edits = one(name, Action.UPDATE_STRATEGY, payload)
        return to_draft(propose(project_id, environment, edits))

    place = StrategyPlace(project_id, name, environment)
    return editor.update(place, strategy, save, _drafted(project_id))


@bp.post("/strategies/<uuid:strategy>/delete", needs=Access.SIGNED_IN, keeps=(OPEN_REQUESTS,))
def remove(project_id: str, name: str, environment: str, strategy: UUID) -> Response:
    """Propose to delete a strategy."""
    projects.require_proposer(current_actor, Permission.DELETE_FEATURE_STRATEGY, project_id)
    form, removal = ReasonForm(), one(name, Action.DELETE_STRATEGY, {"id": str(strategy)})
    request = submit(form, lambda: propose(project_id, environment, removal))
    if request is None:
        return flash_errors(form, back(project_id, name, environment))
    return to_draft(request)


def _drafted(project_id: str) -> Drafted:
    return lambda strategy: _version_of(current_actor, project_id, strategy)


def _version_of(actor: Actor, project_id: str, strategy: Strategy) -> Strategy | None:
    """The strategy as the actor’s latest draft about it would change it; None if none does."""
    drafts = service.drafts_of(actor, project_id, strategy.environment)
    for change in (change for draft in drafts for change in reversed(draft.changes)):
        if change.action is Action.UPDATE_STRATEGY and change.payload["id"] == strategy.id:
            known = summaries.segments_of([change])
            for snapshot in (change.after or {}).get("strategies", ()):
                if snapshot["id"] == strategy.id:
                    return summaries.strategy_of(snapshot, known)
    return None
