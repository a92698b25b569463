"""Notices for people when processes that were silent after a change ask again."""

from datetime import timedelta
from itertools import groupby

import sqlalchemy as sa

from app.catalogue.receipts.models import WATCHED_INSTANCES, WatchedInstance
from app.catalogue.receipts.service import Receipts
from app.catalogue.receipts.states import State
from app.catalogue.usage.models import Application, Instance
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db, upsert
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.permissions import Role

FLAGSTAFF = Actor(id=None, username="Flagstaff", role=Role.ADMIN)
"""Who the event log says heard from a process again."""
WATCHED_FOR = timedelta(days=7)


def watch(actor: Actor, receipts: Receipts) -> int:
    """Let the actor get a notice when one of the silent processes asks again.

    Return how many are watched. Of too many, those that they asked for first are dropped.

    Raises:
        NoAccess: if they may not read the events of the project, as notices are such.

    """
    actor.require_events(receipts.change.project)
    silent = [one.process for one in receipts.receipts if one.state is State.SILENT]
    rows = [
        {
            "account_id": actor.account_id,
            "event_id": receipts.change.id,
            "application_id": one.application_id,
            "environment": one.environment,
            "instance_id": one.id,
            "since": utcnow(),
            "notice": None,
        }
        for one in silent[: WATCHED_INSTANCES.rows]
    ]
    if rows:
        again = upsert(WatchedInstance, latest=[("since", "notice")])
        db.session.connection().execute(again, rows)
        own = WatchedInstance.account_id == actor.account_id
        WATCHED_INSTANCES.drop_oldest(own, by=WatchedInstance.since)
    return len(rows)


def is_watching(actor: Actor, receipts: Receipts) -> bool:
    """Whether the actor gets a notice when a process that is silent after the change asks again."""
    found = sa.exists().where(
        WatchedInstance.account_id == actor.account_id,
        WatchedInstance.event_id == receipts.change.id,
        WatchedInstance.environment == receipts.environment,
        WatchedInstance.notice.is_(None),
    )
    return bool(db.session.scalar(sa.select(found)))


def notify(*, kept_for: timedelta) -> None:
    """Record which of the watched processes have asked again. Their watchers get that as a notice.

    Forget what was watched for too long. ``kept_for``: how long a notice can be read.
    """
    now, since = utcnow(), WatchedInstance.since
    is_in_vain = sa.and_(since < now - WATCHED_FOR, WatchedInstance.notice.is_(None))
    is_over = sa.or_(since < now - kept_for, is_in_vain)
    db.session.execute(sa.delete(WatchedInstance).where(is_over))
    returned = sa.and_(
        Instance.application_id == WatchedInstance.application_id,
        Instance.environment == WatchedInstance.environment,
        Instance.id == WatchedInstance.instance_id,
        Instance.polled_at > WatchedInstance.since,
    )
    query = (
        sa.select(WatchedInstance, Application.name, Event.project, Event.feature_name)
        .join(Instance, returned)
        .join(Application, Application.id == Instance.application_id)
        .join(Event, Event.id == WatchedInstance.event_id)
        .where(WatchedInstance.notice.is_(None))
        .order_by(
            WatchedInstance.event_id,
            WatchedInstance.environment,
            Application.name,
            WatchedInstance.instance_id,
        )
    )
    rows = db.session.execute(query).all()
    for (event, environment), group in groupby(
        rows, lambda row: (row[0].event_id, row[0].environment)
    ):
        found, batch = list(group), events.new_batch()
        for watched, *_ in found:
            watched.notice = batch
        _, _, project, feature = found[0]
        names = dict.fromkeys((application, one.instance_id) for one, application, _, _ in found)
        events.record(
            FLAGSTAFF,
            EventType.INSTANCES_RETURNED,
            batch_id=batch,
            project=project,
            feature_name=feature,
            data={
                "environment": environment,
                "event": event,
                "instances": [{"appName": app, "instanceId": id} for app, id in names],
            },
        )
