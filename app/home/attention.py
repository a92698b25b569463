"""What needs someone’s attention: a few things, each with one next step."""

from collections.abc import Callable, Iterator

from app.core.actor import Actor
from app.home import leftovers, reviews, upkeep
from app.home.items import Facts, Item


def items(actor: Actor, facts: Facts) -> list[Item]:
    """All that needs the actor, in the order of what to do first."""
    return [item for source in _SOURCES for item in source(actor, facts)]


_SOURCES: tuple[Callable[[Actor, Facts], Iterator[Item]], ...] = (
    reviews.failed,
    reviews.to_approve,
    reviews.to_apply,
    reviews.rejected,
    upkeep.backup,
    upkeep.evaluation,
    upkeep.missing_approvers,
    upkeep.failing_webhooks,
    upkeep.expiring_tokens,
    leftovers.unused,
    leftovers.everywhere,
    upkeep.inactive_people,
    upkeep.ownerless_projects,
    leftovers.alike_tags,
)
