"""What the reader’s own draft changes, for forms that continue it."""

from app.catalogue.strategies.models import Strategy
from app.core.actor import Actor
from app.releases.change_requests import outcomes, service
from app.releases.change_requests.models import Action


def version_of(actor: Actor, project_id: str, strategy: Strategy) -> Strategy | None:
    """The strategy as the actor’s draft would change it; None if it doesn’t."""
    draft = service.draft_of(actor, project_id, strategy.environment)
    for change in reversed(draft.changes) if draft else ():
        if change.action is Action.UPDATE_STRATEGY and change.payload["id"] == strategy.id:
            known = outcomes.segments_of([change])
            for snapshot in (change.after or {}).get("strategies", ()):
                if snapshot["id"] == strategy.id:
                    return outcomes.strategy_of(snapshot, known)
    return None
