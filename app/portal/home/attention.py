"""What needs someone’s attention: a few things, each with one next step."""

from collections.abc import Callable, Collection, Iterator

from app.core.actor import Actor
from app.portal.home import leftovers, reviews, upkeep
from app.portal.home.items import Facts, Item, Kind


def items(actor: Actor, facts: Facts, hidden: Collection[str] = ()) -> list[Item]:
    """All that needs the actor, in the order of what to do first, but for ``hidden`` kinds."""
    sources = [source for kind, source in _SOURCES.items() if kind not in hidden]
    return [item for source in sources for item in source(actor, facts)]


_SOURCES: dict[Kind, Callable[[Actor, Facts], Iterator[Item]]] = {
    Kind.FAILED: reviews.failed,
    Kind.TO_APPROVE: reviews.to_approve,
    Kind.TO_APPLY: reviews.to_apply,
    Kind.REJECTED: reviews.rejected,
    Kind.BACKUP: upkeep.backup,
    Kind.EVALUATION: upkeep.evaluation,
    Kind.APPROVERS: upkeep.missing_approvers,
    Kind.WEBHOOKS: upkeep.failing_webhooks,
    Kind.TOKENS: upkeep.expiring_tokens,
    Kind.UNUSED: leftovers.unused,
    Kind.EVERYWHERE: leftovers.everywhere,
    Kind.INACTIVE: upkeep.inactive_people,
    Kind.OWNERLESS: upkeep.ownerless_projects,
    Kind.ACCESS: upkeep.access_reviews,
    Kind.TAGS: leftovers.alike_tags,
}
