"""Statistics of webhooks: how many messages wait, failed or arrived."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import aliased

from app.core.clock import utcnow
from app.core.db import db
from app.core.words import counted
from app.delivery.webhooks.models import Delivery, DeliveryStatus, Webhook
from app.delivery.webhooks.service import Allowed

RECENT = timedelta(days=7)
"""How long a message that was given up counts as a problem."""


class WebhookState(StrEnum):
    PAUSED = "paused"
    FAILING = "failing"
    OK = "ok"
    UNUSED = "unused"


STATE_WORDS = {
    WebhookState.PAUSED: ("Paused", "warn"),
    WebhookState.FAILING: ("Failing", "bad"),
    WebhookState.OK: ("Delivering", "ok"),
    WebhookState.UNUSED: ("Nothing sent yet", ""),
}
"""(label, kind of the status) on pages."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Numbers of messages. ``failing``: waiting, with at least one failed attempt.

    ``given_up``: given up within RECENT, and not delivered since by sending again.
    """

    waiting: int = 0
    failing: int = 0
    given_up: int = 0
    last_delivered_at: datetime | None = None
    last_failed_at: datetime | None = None

    @property
    def is_failing(self) -> bool:
        """Whether a waiting message has failed, or one was given up and none arrived since."""
        if self.failing:
            return True
        failed, delivered = self.last_failed_at, self.last_delivered_at
        return failed is not None and (delivered is None or delivered < failed)


@dataclass(frozen=True, slots=True)
class WebhookView:
    """A webhook with its statistics."""

    webhook: Webhook
    traffic: Traffic

    @property
    def state(self) -> WebhookState:
        if self.webhook.paused:
            return WebhookState.PAUSED
        if self.traffic.is_failing:
            return WebhookState.FAILING
        return WebhookState.OK if self.traffic.last_delivered_at else WebhookState.UNUSED

    @property
    def state_words(self) -> tuple[str, str]:
        return STATE_WORDS[self.state]


class Problem(NamedTuple):
    """What is wrong with a webhook, as a sentence."""

    webhook: Webhook
    says: str


def views(webhooks: Sequence[Webhook]) -> list[WebhookView]:
    found = traffic([webhook.id for webhook in webhooks])
    return [WebhookView(webhook, found.get(webhook.id, Traffic())) for webhook in webhooks]


def view(webhook: Webhook) -> WebhookView:
    return views([webhook])[0]


def traffic(ids: Collection[int]) -> Mapping[int, Traffic]:
    """Return the statistics of webhooks by id, in one statement; nothing for unused ones."""
    is_waiting = Delivery.status == DeliveryStatus.WAITING
    has_failed = Delivery.status == DeliveryStatus.FAILED
    again = aliased(Delivery)
    has_arrived = sa.exists().where(
        again.webhook_id == Delivery.webhook_id,
        again.message_id == Delivery.message_id,
        again.status == DeliveryStatus.DELIVERED,
    )
    is_lost = sa.and_(
        Delivery.ended_at > utcnow() - RECENT, Delivery.event_id.is_not(None), ~has_arrived
    )

    def number(*tests: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
        return sa.func.count(sa.case((sa.and_(*tests), 1)))

    def latest(test: sa.ColumnElement[bool]) -> sa.ColumnElement[datetime | None]:
        return sa.func.max(sa.case((test, Delivery.ended_at)))

    query = (
        sa.select(
            Delivery.webhook_id,
            number(is_waiting),
            number(is_waiting, Delivery.attempts > 0),
            number(has_failed, is_lost),
            latest(Delivery.status == DeliveryStatus.DELIVERED),
            latest(has_failed),
        )
        .where(Delivery.webhook_id.in_(ids))
        .group_by(Delivery.webhook_id)
    )
    return {row[0]: Traffic(*row[1:]) for row in db.session.execute(query)}


def problems(allowed: Allowed) -> list[Problem]:
    """Return the problems of all webhooks: failing, target no longer allowed, messages lost."""
    every = db.session.scalars(sa.select(Webhook).order_by(Webhook.name)).all()
    return [Problem(one.webhook, says) for one in views(every) for says in _problems(one, allowed)]


def _problems(one: WebhookView, allowed: Allowed) -> list[str]:
    found: list[str] = []
    webhook, sent = one.webhook, one.traffic
    if webhook.paused:
        return found
    if refusal := allowed.refusal(webhook.url, webhook.channel):
        found.append(refusal)
    elif one.state is WebhookState.FAILING:
        since = sent.last_delivered_at
        last = f"since {since:%Y-%m-%d %H:%M} UTC" if since else "yet"
        found.append(f"Nothing has arrived {last}. {counted(sent.waiting, 'message')} waiting.")
    if sent.given_up:
        times = counted(sent.given_up, "message")
        found.append(f"{times} given up in the last {RECENT.days} days.")
    if webhook.missed:
        missed = counted(webhook.missed, "event")
        found.append(f"Up to {missed} removed from the event log before they could be sent.")
    return found
