"""Reminders of the home page: inactive people, and access reviews that are due."""

from collections.abc import Iterator

from app.access.access_reviews import service as reviews
from app.access.users import inactive
from app.core.actor import Actor
from app.core.reminders import NAMED, HomeContext, Item, Tone, days, some
from app.core.words import counted


def inactive_people(actor: Actor, context: HomeContext) -> Iterator[Item]:
    if not actor.is_admin or not context.settings.inactivity:
        return
    found = inactive.search(after=context.settings.inactivity, limit=NAMED, offset=0)
    if found.total:
        verb = "has" if found.total == 1 else "have"
        since = days(context.settings.inactivity)
        names = [account.called for account, _ in found.items]
        says = f"{counted(found.total, 'user')} {verb} been inactive for {since}"
        yield Item(Tone.WARNING, says, some(names, found.total))


def access_reviews(actor: Actor, context: HomeContext) -> Iterator[Item]:
    """Projects whose members no one confirmed for too long."""
    if not context.settings.access_review_after:
        return
    found = reviews.due(actor, after=context.settings.access_review_after, limit=NAMED)
    if found.total:
        names = [each.project.name for each in found.items]
        since = days(context.settings.access_review_after)
        verb = "is" if found.total == 1 else "are"
        says = f"{counted(found.total, 'project')} {verb} due for an access review"
        more = f"The last one was over {since} ago: {some(names, found.total)}"
        place = {"project_id": found.items[0].project.id}
        yield Item(Tone.WARNING, says, more, place)
