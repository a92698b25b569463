"""Webhooks: which events are sent where, with a secret that proves where a message is from."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypedDict, Unpack
from uuid import uuid4

import sqlalchemy as sa

from app.catalogue.projects.models import Project
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.config.allowed_hosts import AllowedHost
from app.core.db import db, flush, one_or_none, save
from app.core.errors import Conflict, Invalid, NameExists, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.paging import Page, page_of
from app.core.targets import parse
from app.delivery.webhooks import payloads, signatures
from app.delivery.webhooks.addresses import NotAllowed, entries_for
from app.delivery.webhooks.models import ALL, Delivery, DeliveryStatus, Webhook

OVERLAP = timedelta(hours=24)
"""How long messages have a signature with the old secret too, after it was rotated."""
MAX_WEBHOOKS = 100
"""Webhooks of an instance."""


class WebhookChanges(TypedDict, total=False):
    """What an update can name. A key left out changes nothing."""

    name: str
    url: str
    event_types: Sequence[str]
    projects: Sequence[str]
    paused: bool


@dataclass(frozen=True, slots=True)
class IssuedSecret:
    """A webhook with its new secret, which isn't stored."""

    webhook: Webhook
    secret: str


def create(
    actor: Actor,
    *,
    key: str,
    hosts: Sequence[AllowedHost],
    name: str,
    url: str,
    event_types: Sequence[str] = (ALL,),
    projects: Sequence[str] = (ALL,),
    paused: bool = False,
) -> IssuedSecret:
    """Create a webhook for events from now on. ``key``: the operator's secret key."""
    _check_url(url, hosts)
    _check_projects(projects)
    if (db.session.scalar(sa.select(sa.func.count(Webhook.id))) or 0) >= MAX_WEBHOOKS:
        raise Conflict(f"There are {MAX_WEBHOOKS} webhooks already. Delete one first.")
    salt = signatures.new_salt()
    secret = signatures.secret_of(salt, key)
    webhook = Webhook(
        name=name,
        url=url,
        event_types=_chosen(event_types),
        projects=_chosen(projects),
        paused=paused,
        salt=salt,
        hint=signatures.hint_of(secret),
        position=0,
    )
    save(webhook, if_taken=_taken(name))
    events.record(actor, EventType.WEBHOOK_CREATED, data=webhook.snapshot())
    webhook.position = events.end().last_id  # after its own event, which isn't sent
    return IssuedSecret(webhook, secret)


def search(*, limit: int, offset: int) -> Page[Webhook]:
    """The webhooks by name."""
    query = sa.select(Webhook).order_by(sa.func.lower(Webhook.name), Webhook.id)
    return page_of(query, limit=limit, offset=offset)


def get(id: int, *, for_change: bool = False) -> Webhook:
    query = sa.select(Webhook).where(Webhook.id == id)
    webhook = one_or_none(query, "webhook", id, for_change=for_change)
    if webhook is None:
        raise NotFound(f"There is no webhook {id}.")
    return webhook


def update(
    actor: Actor,
    webhook: Webhook,
    *,
    hosts: Sequence[AllowedHost],
    **changes: Unpack[WebhookChanges],
) -> bool:
    """Change a webhook that ``get`` locked. Return whether that changed anything."""
    before, url, was_paused = webhook.snapshot(), webhook.url, webhook.paused
    if "url" in changes and changes["url"] != url:
        _check_url(changes["url"], hosts)
        webhook.url = changes["url"]
    if "projects" in changes:  # those that it has may have been archived in the meantime
        _check_projects(set(changes["projects"]) - set(webhook.projects))
        webhook.projects = _chosen(changes["projects"])
    if "event_types" in changes:
        webhook.event_types = _chosen(changes["event_types"])
    webhook.name = changes.get("name", webhook.name)
    webhook.paused = changes.get("paused", webhook.paused)
    after = webhook.snapshot()
    if after == before and webhook.url == url:  # snapshots lack the path of the URL
        return False
    flush(if_taken=_taken(webhook.name))
    events.record(actor, EventType.WEBHOOK_UPDATED, pre_data=before, data=after)
    if was_paused and not webhook.paused:  # events of the pause are never sent
        webhook.position = events.end().last_id
    return True


def rotate(actor: Actor, webhook: Webhook, *, key: str) -> IssuedSecret:
    """Replace the secret of a webhook that ``get`` locked. The old one signs too for OVERLAP."""
    webhook.old_salt, webhook.old_until = webhook.salt, utcnow() + OVERLAP
    webhook.salt = signatures.new_salt()
    secret = signatures.secret_of(webhook.salt, key)
    webhook.hint = signatures.hint_of(secret)
    events.record(actor, EventType.WEBHOOK_SECRET_ROTATED, data=webhook.snapshot())
    return IssuedSecret(webhook, secret)


def remove(actor: Actor, webhook: Webhook) -> None:
    """Delete a webhook that ``get`` locked, with all that waits to be sent."""
    db.session.execute(sa.delete(Delivery).where(Delivery.webhook_id == webhook.id))
    events.record(actor, EventType.WEBHOOK_DELETED, pre_data=webhook.snapshot())
    db.session.delete(webhook)
    db.session.flush()


def deliveries(
    webhook_id: int, *, limit: int, offset: int, status: DeliveryStatus | None = None
) -> Page[Delivery]:
    """The messages of a webhook, newest first."""
    query = sa.select(Delivery).where(Delivery.webhook_id == webhook_id)
    if status is not None:
        query = query.where(Delivery.status == status)
    return page_of(query.order_by(Delivery.id.desc()), limit=limit, offset=offset)


def send_test(webhook: Webhook) -> Delivery:
    """Queue a test message, which has no event. It is sent once, even while paused."""
    return _add(webhook, message_id=f"test_{uuid4().hex}", body=payloads.body_of_test(webhook.name))


def send_again(webhook: Webhook, delivery_id: int) -> Delivery:
    """Queue a message again under its id. It doesn't wait for other messages."""
    query = sa.select(Delivery).where(Delivery.id == delivery_id, Delivery.webhook_id == webhook.id)
    found = db.session.scalar(query)
    if found is None:
        raise NotFound(f"There is no delivery {delivery_id} of webhook {webhook.id}.")
    if found.status is DeliveryStatus.WAITING:
        raise Conflict("This message still waits. It will be sent without doing anything.")
    return _add(
        webhook,
        message_id=found.message_id,
        body=found.body,
        event_id=found.event_id,
        event_type=found.event_type,
    )


def _add(webhook: Webhook, **values: str | int | None) -> Delivery:
    delivery = Delivery(webhook_id=webhook.id, **values)
    webhook.rest_until = None  # a message that a person asks for doesn't wait for this pause
    save(delivery)
    return delivery


def _chosen(names: Sequence[str]) -> list[str]:
    return [ALL] if ALL in names else sorted(set(names))


def _taken(name: str) -> NameExists:
    return NameExists(f"A webhook named {name!r} already exists.", field="name")


def _check_url(url: str, hosts: Sequence[AllowedHost]) -> None:
    try:
        entries_for(parse(url), hosts)
    except NotAllowed as error:
        raise Invalid.at("/url", f"{error} The operator can add it.") from None


def _check_projects(ids: Sequence[str] | set[str]) -> None:
    wanted = set(ids) - {ALL}
    query = sa.select(Project.id).where(Project.id.in_(wanted), Project.archived_at.is_(None))
    unknown = sorted(wanted - set(db.session.scalars(query)))
    if unknown:
        raise Invalid.because(
            [
                {"path": "/projects", "message": f"There is no active project {id!r}."}
                for id in unknown
            ]
        )
