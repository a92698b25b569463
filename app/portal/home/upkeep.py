"""What will be a problem for an instance: for Admins, and for Owners in their projects."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.access.access_reviews import service as reviews
from app.access.users import inactive
from app.catalogue.projects import service as projects
from app.catalogue.projects.approvals import shortages
from app.catalogue.projects.models import Membership, Project
from app.catalogue.sdk_tokens import service as sdk_tokens
from app.catalogue.sdk_tokens.models import SdkTokenState
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db
from app.core.events.models import Event
from app.core.events.types import EventType
from app.core.permissions import Permission
from app.core.words import counted
from app.delivery.webhooks import traffic as webhooks
from app.portal.home.items import NAMED, Facts, Item, Kind, Tone, days, some

BACKUPS_EVERY = timedelta(days=7)


def backup(actor: Actor, _: Facts) -> Iterator[Item]:
    if not actor.is_admin:
        return
    first = _time_of(Event.id.asc())
    last = _time_of(Event.id.desc(), Event.type == EventType.BACKUP_CREATED)
    since = last or first
    if since is None or since > utcnow() - BACKUPS_EVERY:
        return
    days = counted((utcnow() - since).days, "day")
    says = f"No backup for {days}" if last else "No backup yet"
    yield Item(Kind.BACKUP, Tone.BAD, says, "Create one with the command flagstaff backup")


def evaluation(actor: Actor, facts: Facts) -> Iterator[Item]:
    if not actor.is_admin:
        return
    for environment, problems in sorted(facts.unevaluable.items()):
        says = f"{counted(len(problems), 'feature')} can’t be evaluated in {environment}"
        more = f"Off for everyone there: {some(sorted(problems)[:NAMED], len(problems))}"
        yield Item(Kind.EVALUATION, Tone.BAD, says, more)


def missing_approvers(actor: Actor, _: Facts) -> Iterator[Item]:
    """Only where nothing can be approved at all."""
    able = [id for id in actor.project_roles if actor.may(Permission.UPDATE_PROJECT, id)]
    conditions = [] if actor.is_admin else [Project.id.in_(able)]
    if not actor.is_admin and not able:
        return
    found = [each for each in shortages(*conditions) if each.people < each.required]
    for each in found[:NAMED]:
        says = f"No one can approve changes in {each.environment} of {each.project_id}"
        people = counted(each.people, "person", "people")
        more = f"They need {counted(each.required, 'approval')}, and {people} can approve"
        place = {"project_id": each.project_id}
        yield Item(Kind.APPROVERS, Tone.WARNING, says, more, place)


def failing_webhooks(actor: Actor, facts: Facts) -> Iterator[Item]:
    if actor.is_admin:
        for webhook, says in webhooks.problems(facts.webhook_hosts)[:NAMED]:
            title = f"Webhook {webhook.name} needs a look"
            yield Item(Kind.WEBHOOKS, Tone.WARNING, title, says, {"webhook_id": webhook.id})


def expiring_tokens(actor: Actor, _: Facts) -> Iterator[Item]:
    if not actor.may(Permission.READ_CLIENT_API_TOKEN):
        return
    found = sdk_tokens.search(limit=NAMED, offset=0, state=SdkTokenState.EXPIRING)
    if found.total:
        expires = "expires" if found.total == 1 else "expire"
        says = f"{counted(found.total, 'SDK token')} {expires} within 30 days"
        names = [f"{token.name} in {token.environment}" for token in found.items]
        yield Item(Kind.TOKENS, Tone.WARNING, says, some(names, found.total))


def inactive_people(actor: Actor, facts: Facts) -> Iterator[Item]:
    if not actor.is_admin or not facts.inactive_after:
        return
    found = inactive.search(after=facts.inactive_after, limit=NAMED, offset=0)
    if found.total:
        verb = "has" if found.total == 1 else "have"
        since = days(facts.inactive_after)
        names = [account.called for account, _ in found.items]
        says = f"{counted(found.total, 'user')} {verb} been inactive for {since}"
        yield Item(Kind.INACTIVE, Tone.WARNING, says, some(names, found.total))


def ownerless_projects(actor: Actor, _: Facts) -> Iterator[Item]:
    if not actor.is_admin:
        return
    found = projects.search(
        actor, archived=False, limit=NAMED, offset=0, membership=Membership.OWNERLESS
    )
    if found.total:
        verb = "has" if found.total == 1 else "have"
        names = [project.name for project in found.items]
        says = f"{counted(found.total, 'project')} {verb} no Owner"
        yield Item(Kind.OWNERLESS, Tone.WARNING, says, some(names, found.total))


def access_reviews(actor: Actor, facts: Facts) -> Iterator[Item]:
    """Projects whose members no one confirmed for too long."""
    if not facts.review_after:
        return
    found = reviews.due(actor, after=facts.review_after, limit=NAMED)
    if found.total:
        names = [each.project.name for each in found.items]
        since = days(facts.review_after)
        says = f"Review the access to {counted(found.total, 'project')}"
        more = f"No one did for {since}: {some(names, found.total)}"
        place = {"project_id": found.items[0].project.id}
        yield Item(Kind.ACCESS, Tone.WARNING, says, more, place)


def _time_of(order: sa.ColumnElement[Any], *conditions: sa.ColumnElement[bool]) -> datetime | None:
    return db.session.scalar(
        sa.select(Event.created_at).where(*conditions).order_by(order).limit(1)
    )
