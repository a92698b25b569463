"""The outbox: finds the next message to send, and records the outcome.

The event log serves as outbox, since it is written in the transaction of each change. Events are
copied from it to the table of deliveries, in their order. A message is sent without an open
transaction. Instead, its webhook is leased, so that no other process sends for it.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import uuid4

import sqlalchemy as sa
import standardwebhooks
from sqlalchemy.orm import undefer

from app.accounts import service as accounts
from app.core.clock import utcnow
from app.core.config import Settings
from app.core.db import db, locked
from app.core.events import service as events
from app.core.events import words
from app.core.events.event_types import EventType
from app.core.events.models import Event, EventHead
from app.core.statements import Prepared
from app.delivery.webhooks import channels, payloads, sending, signatures, texts
from app.delivery.webhooks.models import ALL, MAX_ERROR, Delivery, DeliveryStatus, Webhook
from app.delivery.webhooks.sending import DeliveryOutcome
from app.delivery.webhooks.service import no_channel
from app.delivery.webhooks.texts import Text

LEASE = timedelta(seconds=6)
"""A process renews its leases while it sends. If it dies, others take over after this time."""
REST = timedelta(seconds=5)
"""Pause of a webhook after a failure, so that its receiver isn't flooded."""
PAUSES = (
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=10),
    timedelta(hours=1),
    timedelta(hours=3),
    timedelta(hours=6),
    timedelta(hours=14),
)
"""Pauses between the attempts to send a message. The last attempt is a day after the first."""
MOST_WAITING = 1_000
"""Limit of waiting messages per webhook. Later events wait in the event log."""
AT_ONCE = 100
"""Limit of events that are copied in one transaction."""
MAX_SENT = 1_000
"""Messages kept per webhook that were sent or given up."""
UNKNOWN = "The server ended while it sent this. It may have arrived."
KEY_CHANGED = "FLAGSTAFF_SECRET_KEY has changed, and the secret with it. Rotate the secret."

_now = sa.bindparam("now", type_=Webhook.rest_until.type)
_is_waiting = sa.and_(Delivery.webhook_id == Webhook.id, Delivery.status == DeliveryStatus.WAITING)
_can_be_sent = sa.exists().where(
    _is_waiting, Delivery.next_at <= _now, sa.or_(~Webhook.paused, Delivery.stream.is_(None))
)
_waiting = sa.select(sa.func.count(Delivery.id)).where(_is_waiting).scalar_subquery()
_is_behind = sa.and_(
    ~Webhook.paused,
    Webhook.position < sa.select(EventHead.last_id).scalar_subquery(),
    _waiting < MOST_WAITING,
)
_due = Prepared(
    sa.select(Webhook.id)
    .where(
        sa.func.coalesce(Webhook.lease_until, _now) <= _now,
        sa.func.coalesce(Webhook.rest_until, _now) <= _now,
        sa.or_(_is_behind, _can_be_sent),
    )
    .order_by(Webhook.id)
)


class Task(NamedTuple):
    """A message that this process sends. ``salts``: of the current secret, then of the old one."""

    webhook_id: int
    lease: str
    delivery_id: int
    url: str
    channel: str | None
    message_id: str
    body: str
    hint: str
    salts: tuple[bytes, ...]


def due() -> Sequence[int]:
    """Return the webhooks with a message or an event to handle now, and without a lease."""
    return [id for (id,) in _due.run(now=utcnow())]


def take(webhook_id: int) -> Task | None:
    """Lease a webhook and return its next message; None if there is none, or it is leased."""
    webhook = _locked(webhook_id)
    if webhook is None or (webhook.lease_until and webhook.lease_until > utcnow()):
        return None
    return _next_task(webhook, uuid4().hex)


def renew(tasks: Collection[Task]) -> None:
    """Renew the leases of webhooks whose messages are still being sent."""
    ours = Webhook.lease.in_([task.lease for task in tasks])
    db.session.execute(sa.update(Webhook).where(ours).values(lease_until=utcnow() + LEASE))


def send(task: Task, key: str, settings: Settings, agent: str) -> DeliveryOutcome:
    """Send the message. Needs no database. ``key``: the operator's secret key."""
    if task.channel is not None:
        found = [one for one in settings.channels if one.name == task.channel]
        if not found:
            return DeliveryOutcome(error=no_channel(task.channel))
        return channels.send(found[0], Text.read(task.body), settings.address)
    secrets = [signatures.secret_of(salt, key) for salt in task.salts]
    if signatures.hint_of(secrets[0]) != task.hint:
        return DeliveryOutcome(error=KEY_CHANGED)
    at = utcnow()
    signed = [
        standardwebhooks.Webhook(secret).sign(task.message_id, at, task.body) for secret in secrets
    ]
    headers = {
        "Content-Type": "application/json",
        "User-Agent": agent,
        "webhook-id": task.message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signed),
    }
    return sending.post(task.url, task.body.encode(), headers, settings.webhook_hosts)


def settle(task: Task, outcome: DeliveryOutcome, *, more: bool = True) -> Task | None:
    """Record the outcome. After a success, return the next message that is due.

    ``more``: False to leave the next message to other processes. Nothing is recorded if the lease
    expired and another process has the webhook now.
    """
    webhook = _locked(task.webhook_id)
    if webhook is None or webhook.lease != task.lease:
        return None
    now = utcnow()
    _note(db.session.get_one(Delivery, task.delivery_id), outcome, now)
    if outcome.error is None and more:
        return _next_task(webhook, task.lease)
    if outcome.error is not None:
        webhook.rest_until = now + REST
    webhook.lease = webhook.lease_until = None
    return None


def prune() -> None:
    """Delete messages that were sent or given up, except for the latest MAX_SENT per webhook."""
    for webhook_id in db.session.scalars(sa.select(Webhook.id).order_by(Webhook.id)).all():
        of_webhook = (
            Delivery.webhook_id == webhook_id,
            Delivery.status != DeliveryStatus.WAITING,
        )
        last = sa.select(Delivery.id).where(*of_webhook).order_by(Delivery.id.desc())
        oldest_kept = db.session.scalar(last.offset(MAX_SENT - 1).limit(1))
        if oldest_kept is not None:
            db.session.execute(sa.delete(Delivery).where(*of_webhook, Delivery.id < oldest_kept))


def number_waiting() -> int:
    query = sa.select(sa.func.count(Delivery.id))
    return db.session.scalar(query.where(Delivery.status == DeliveryStatus.WAITING)) or 0


def _locked(webhook_id: int) -> Webhook | None:
    query = locked(sa.select(Webhook).where(Webhook.id == webhook_id))
    return db.session.scalar(query)


def _next_task(webhook: Webhook, lease: str) -> Task | None:
    _queue_events(webhook)
    delivery = _next_delivery(webhook)
    now = utcnow()
    if delivery is None:
        webhook.lease = webhook.lease_until = None
        return None
    webhook.lease, webhook.lease_until = lease, now + LEASE
    if webhook.channel is not None:
        # If this process ends before it knows, no other sends it again: a chat has no ids.
        delivery.status, delivery.error = DeliveryStatus.FAILED, UNKNOWN
        delivery.next_at, delivery.ended_at = None, now
    salts = [webhook.salt]
    if webhook.old_salt is not None and webhook.overlaps:
        salts.append(webhook.old_salt)
    return Task(
        webhook.id,
        lease,
        delivery.id,
        webhook.url,
        webhook.channel,
        delivery.message_id,
        delivery.body,
        webhook.hint,
        tuple(salts),
    )


def _queue_events(webhook: Webhook) -> None:
    """Copy the next events that the webhook is for to the table of deliveries."""
    if webhook.paused:
        return
    number = sa.select(sa.func.count(Delivery.id)).where(
        Delivery.webhook_id == webhook.id, Delivery.status == DeliveryStatus.WAITING
    )
    room = min(MOST_WAITING - (db.session.scalar(number) or 0), AT_ONCE)
    end = events.end()
    if room <= 0 or webhook.position >= end.last_id:
        return
    if webhook.position < end.pruned_to:  # the log was pruned before these could be sent
        webhook.missed += end.pruned_to - webhook.position
        webhook.position = end.pruned_to
    query = sa.select(Event).where(Event.id > webhook.position, *_wanted_by(webhook))
    wanted = db.session.scalars(query.order_by(Event.id).limit(room)).all()
    if webhook.channel is None:
        db.session.add_all(_message(webhook, event, payloads.body_of(event)) for event in wanted)
    else:
        db.session.add_all(_messages_for_people(webhook, wanted))
    db.session.flush()
    last = wanted[-1].id if wanted else 0
    # With fewer than ``room``, no other event up to the end is for this webhook.
    webhook.position = last if len(wanted) == room else max(last, end.last_id)


def _messages_for_people(webhook: Webhook, wanted: Sequence[Event]) -> Iterator[Delivery]:
    """Yield one message for the events of one type that an act made: the last of them."""
    counts = _numbers_in_batches(wanted)
    names = accounts.names({id for event in wanted for id in words.account_ids(event)})
    for event in wanted:
        last, count = counts.get((event.batch_id, event.type), (event.id, 1))
        if event.id == last:
            yield _message(webhook, event, texts.of(event, count, names))


def _numbers_in_batches(wanted: Sequence[Event]) -> dict[tuple[str | None, EventType], Any]:
    """The last id and the number of events of each batch and type."""
    query = (
        sa.select(Event.batch_id, Event.type, sa.func.max(Event.id), sa.func.count())
        .where(Event.batch_id.in_({event.batch_id for event in wanted if event.batch_id}))
        .group_by(Event.batch_id, Event.type)
    )
    return {(batch, type): (last, count) for batch, type, last, count in db.session.execute(query)}


def _message(webhook: Webhook, event: Event, body: str) -> Delivery:
    return Delivery(
        webhook_id=webhook.id,
        message_id=payloads.message_id(event),
        event_id=event.id,
        event_type=event.type.value,
        stream=event.project or "",
        body=body,
    )


def _wanted_by(webhook: Webhook) -> list[sa.ColumnElement[bool]]:
    tests: list[sa.ColumnElement[bool]] = []
    if ALL not in webhook.event_types:
        known = [type for type in EventType if type.value in webhook.event_types]
        tests.append(Event.type.in_(known))
    if ALL not in webhook.projects:
        tests.append(Event.project.in_(webhook.projects))
    if ALL not in webhook.environments:
        about = sa.func.coalesce(
            *(data["environment"].as_string() for data in (Event.data, Event.pre_data))
        )
        tests.append(about.in_(webhook.environments))
    return tests


def _next_delivery(webhook: Webhook) -> Delivery | None:
    """Return the oldest due message, unless an older one of its stream still waits."""
    is_waiting = (
        Delivery.webhook_id == webhook.id,
        Delivery.status == DeliveryStatus.WAITING,
    )
    firsts = (
        sa.select(sa.func.min(Delivery.id))
        .where(*is_waiting, Delivery.stream.is_not(None))
        .group_by(Delivery.stream)
    )
    is_next: sa.ColumnElement[bool] = Delivery.stream.is_(None)
    if not webhook.paused:
        is_next |= Delivery.id.in_(firsts)
    query = sa.select(Delivery).where(*is_waiting, Delivery.next_at <= utcnow(), is_next)
    with_body = query.options(undefer(Delivery.body))
    return db.session.scalars(with_body.order_by(Delivery.id).limit(1)).first()


def _note(delivery: Delivery, outcome: DeliveryOutcome, now: datetime) -> None:
    delivery.attempts += 1
    delivery.status, delivery.ended_at = DeliveryStatus.WAITING, None
    delivery.answer_status, delivery.answer = outcome.status, outcome.answer
    delivery.error = outcome.error and outcome.error[:MAX_ERROR]
    # A test is for someone who waits for the answer, so it isn't repeated.
    pauses = PAUSES if delivery.event_id is not None and not outcome.is_final else ()
    if outcome.error is not None and delivery.attempts <= len(pauses):
        delivery.next_at = now + pauses[delivery.attempts - 1]
        return
    is_done = outcome.error is None
    delivery.status = DeliveryStatus.DELIVERED if is_done else DeliveryStatus.FAILED
    delivery.next_at, delivery.ended_at = None, now
