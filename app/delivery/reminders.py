"""Reminders about features that can’t be evaluated, and about webhooks that fail."""

from collections.abc import Iterator

from app.core.actor import Actor
from app.core.reminders import NAMED, HomeContext, Item, Tone, some
from app.core.words import counted
from app.delivery.webhooks import traffic as webhooks
from app.delivery.webhooks.service import Allowed


def evaluation(actor: Actor, context: HomeContext) -> Iterator[Item]:
    if not actor.is_admin:
        return
    for environment, problems in sorted(context.unevaluable.items()):
        says = f"{counted(len(problems), 'feature')} can’t be evaluated in {environment}"
        more = f"Off for everyone there: {some(sorted(problems)[:NAMED], len(problems))}"
        yield Item(Tone.BAD, says, more)


def failing_webhooks(actor: Actor, context: HomeContext) -> Iterator[Item]:
    if actor.is_admin:
        for webhook, says in webhooks.problems(Allowed.by(context.settings))[:NAMED]:
            title = f"Webhook {webhook.name} needs a look"
            yield Item(Tone.WARNING, title, says, {"webhook_id": webhook.id})
