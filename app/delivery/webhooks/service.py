"""Webhooks: which events are sent where, with a secret that proves where a message is from."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple, Self, TypedDict, Unpack
from uuid import uuid4

import sqlalchemy as sa

from app.catalogue.environments.models import Environment
from app.catalogue.projects.models import Project
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.config import Settings
from app.core.config.allowed_hosts import AllowedHost
from app.core.db import db, flush, one_or_none, save
from app.core.errors import Conflict, Invalid, NameExists, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.outgoing import NotAllowed, entries_for
from app.core.paging import Page, page_of
from app.core.targets import parse
from app.delivery.webhooks import payloads, signatures, texts
from app.delivery.webhooks.models import ALL, Delivery, DeliveryStatus, Webhook
from app.delivery.webhooks.sending import SETTING

OVERLAP = timedelta(hours=24)
"""How long messages have a signature with the old secret too, after it was rotated."""
MAX_WEBHOOKS = 100
"""Webhooks of an instance."""


class WebhookChanges(TypedDict, total=False):
    """What an update can name. A key left out changes nothing."""

    name: str
    url: str
    channel: str
    event_types: Sequence[str]
    projects: Sequence[str]
    environments: Sequence[str]
    paused: bool


class Allowed(NamedTuple):
    """What the operator allows to send to: hosts of webhooks, and names of channels."""

    hosts: Sequence[AllowedHost]
    channels: Collection[str]

    @classmethod
    def by(cls, settings: Settings) -> Self:
        return cls(settings.webhook_hosts, [channel.name for channel in settings.channels])

    def refusal(self, url: str, channel: str | None) -> str | None:
        """Why nothing may be sent to this address, or to this channel."""
        if channel is not None:
            return None if channel in self.channels else no_channel(channel)
        try:
            entries_for(parse(url), self.hosts, SETTING)
        except NotAllowed as error:
            return str(error)
        return None


def no_channel(name: str) -> str:
    return f"FLAGSTAFF_CHANNELS has no channel {name!r}. Ask the operator to add it."


@dataclass(frozen=True, slots=True)
class IssuedSecret:
    """A webhook with its new secret, which isn't stored."""

    webhook: Webhook
    secret: str


def create(
    actor: Actor,
    *,
    key: str,
    allowed: Allowed,
    name: str,
    url: str | None = None,
    channel: str | None = None,
    event_types: Sequence[str] = (ALL,),
    projects: Sequence[str] = (ALL,),
    environments: Sequence[str] = (ALL,),
    paused: bool = False,
) -> IssuedSecret:
    """Create a webhook for events from now on, to ``url`` or to ``channel``.

    ``key``: the operator's secret key.
    """
    url = url or ""
    _check_target(url, channel, allowed)
    _check_projects(projects)
    _check_environments(environments)
    if (db.session.scalar(sa.select(sa.func.count(Webhook.id))) or 0) >= MAX_WEBHOOKS:
        raise Conflict(f"There are {MAX_WEBHOOKS} webhooks already. Delete one first.")
    salt = signatures.new_salt()
    secret = signatures.secret_of(salt, key)
    webhook = Webhook(
        name=name,
        url=url,
        channel=channel,
        event_types=_chosen(event_types),
        projects=_chosen(projects),
        environments=_chosen(environments),
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
    allowed: Allowed,
    **changes: Unpack[WebhookChanges],
) -> bool:
    """Change a webhook that ``get`` locked. Return whether that changed anything."""
    before, url, was_paused = webhook.snapshot(), webhook.url, webhook.paused
    new_url, new_channel = changes.get("url", url), changes.get("channel", webhook.channel)
    if bool(new_url) is (new_channel is not None):
        path, had = ("/channel", "an address") if url else ("/url", "a channel")
        raise Invalid.at(path, f"This webhook sends to {had}. Create another one for this.")
    if (new_url, new_channel) != (url, webhook.channel):
        _check_target(new_url, new_channel, allowed)
        webhook.url, webhook.channel = new_url, new_channel
    if "projects" in changes:  # those that it has may have been archived in the meantime
        _check_projects(set(changes["projects"]) - set(webhook.projects))
        webhook.projects = _chosen(changes["projects"])
    if "environments" in changes:
        _check_environments(set(changes["environments"]) - set(webhook.environments))
        webhook.environments = _chosen(changes["environments"])
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
    write = payloads.body_of_test if webhook.channel is None else texts.of_test
    return _add(webhook, message_id=f"test_{uuid4().hex}", body=write(webhook.name))


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


def _check_target(url: str, channel: str | None, allowed: Allowed) -> None:
    if (why := allowed.refusal(url, channel)) is None:
        return
    if channel is not None:
        raise Invalid.at("/channel", why)
    raise Invalid.at("/url", f"{why} The operator can add it.")


def _check_projects(ids: Iterable[str]) -> None:
    known = sa.select(Project.id).where(Project.archived_at.is_(None))
    _check_known("projects", "active project", ids, known.where(Project.id.in_(ids)))


def _check_environments(names: Iterable[str]) -> None:
    known = sa.select(Environment.name).where(Environment.name.in_(names))
    _check_known("environments", "environment", names, known)


def _check_known(field: str, what: str, names: Iterable[str], known: sa.Select[str]) -> None:
    if unknown := sorted({*names} - {ALL, *db.session.scalars(known)}):
        raise Invalid.because(
            [{"path": f"/{field}", "message": f"There is no {what} {one!r}."} for one in unknown]
        )
