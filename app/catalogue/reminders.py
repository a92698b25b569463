"""Reminders on the home page: upcoming problems of the reader’s projects, and what to clean up."""

from collections.abc import Iterator
from itertools import groupby, islice
from typing import Any

import sqlalchemy as sa

from app.catalogue.approvals.service import shortages
from app.catalogue.features import lifecycle
from app.catalogue.features import service as features
from app.catalogue.features.models import Feature
from app.catalogue.features.stale import StaleFilter
from app.catalogue.projects import service as projects
from app.catalogue.projects.models import Membership, Project
from app.catalogue.receipts import arrival
from app.catalogue.receipts import words as receipt_words
from app.catalogue.receipts.queries import Change
from app.catalogue.sdk_tokens import service as sdk_tokens
from app.catalogue.sdk_tokens.models import SdkTokenState
from app.catalogue.tags import duplicates
from app.core.actor import Actor
from app.core.errors import NotFound
from app.core.paging import page_of
from app.core.permissions import Permission, Role
from app.core.reminders import NAMED, HomeContext, Item, Tone, days, some
from app.core.words import counted


def missing_approvers(actor: Actor, _: HomeContext) -> Iterator[Item]:
    """Environments in which no change at all can be approved."""
    able = [id for id in actor.project_roles if actor.may(Permission.UPDATE_PROJECT, id)]
    conditions = [] if actor.is_admin else [Project.id.in_(able)]
    if not actor.is_admin and not able:
        return
    found = [shortage for shortage in shortages(*conditions) if shortage.people < shortage.required]
    for shortage in found[:NAMED]:
        says = f"No one can approve changes in {shortage.environment} of {shortage.project_id}"
        people = counted(shortage.people, "person", "people")
        more = f"They need {counted(shortage.required, 'approval')}, and {people} can approve"
        place = {"project_id": shortage.project_id}
        yield Item(Tone.WARNING, says, more, place)


def late_changes(actor: Actor, _: HomeContext) -> Iterator[Item]:
    """Changes that applications could have by now."""
    late = sorted(arrival.late(actor), key=lambda one: (-one.change.id, one.environment))
    by_change = groupby(late, _of_change)
    for (change, environment), group in islice(by_change, NAMED):
        found = list(group)
        names = [one.application for one in found]
        number = counted(sum(one.processes for one in found), "instance")
        more = f"{number} in {environment} may not have it: {some(names[:NAMED], len(names))}"
        says = f"{receipt_words.lateness(change)}: {change.feature or environment}"
        yield Item(Tone.BAD, says, more, _place(actor, change, environment))


def _place(actor: Actor, change: Change, environment: str) -> dict[str, Any]:
    """Where the receipts of a change are; nothing if its feature is no longer there."""
    if change.project is None or change.feature is None:
        return {}
    try:
        features.get(actor, change.project, change.feature).state(environment)
    except NotFound:
        return {}
    return change.place(environment)


def _of_change(late: arrival.Late) -> tuple[Change, str]:
    return late.change, late.environment


def expiring_tokens(actor: Actor, _: HomeContext) -> Iterator[Item]:
    if not actor.may(Permission.READ_CLIENT_API_TOKEN):
        return
    found = sdk_tokens.search(limit=NAMED, offset=0, state=SdkTokenState.EXPIRING)
    if found.total:
        expires = "expires" if found.total == 1 else "expire"
        says = f"{counted(found.total, 'SDK token')} {expires} within 30 days"
        names = [f"{token.name} in {token.environment}" for token in found.items]
        yield Item(Tone.WARNING, says, some(names, found.total))


def unused(actor: Actor, context: HomeContext) -> Iterator[Item]:
    count, names = _proposed(actor, context, StaleFilter.UNUSED)
    if count:
        have = "hasn’t" if count == 1 else "haven’t"
        since = days(context.settings.stale_after)
        says = f"{counted(count, 'feature')} {have} been used for {since}"
        yield Item(Tone.WARNING, says, some(names, count))


def everywhere(actor: Actor, context: HomeContext) -> Iterator[Item]:
    count, names = _proposed(actor, context, StaleFilter.EVERYWHERE)
    if count:
        verb = "has" if count == 1 else "have"
        on = f"{verb} been on for everyone for {days(context.settings.stale_after)}"
        says = f"{counted(count, 'feature')} {on}"
        yield Item(Tone.WARNING, says, some(names, count))


def outlived(actor: Actor, context: HomeContext) -> Iterator[Item]:
    count, names = _proposed(actor, context, StaleFilter.LIFETIME)
    if count:
        are = "is past its" if count == 1 else "are past their"
        says = f"{counted(count, 'feature')} {are} lifetime"
        yield Item(Tone.WARNING, says, some(names, count))


def ownerless_projects(actor: Actor, _: HomeContext) -> Iterator[Item]:
    if not actor.is_admin:
        return
    found = projects.search(
        actor, archived=False, limit=NAMED, offset=0, membership=Membership.OWNERLESS
    )
    names = some((project.name for project in found.items), found.total)
    if found.total == 1:
        place = {"project_id": found.items[0].id}
        # A Member becomes its Owner too: the button says so.
        fields = {"account": actor.username, "role_id": str(Role.OWNER.value), "change_role": "1"}
        yield Item(Tone.WARNING, "1 project has no Owner", names, place, fields)
    elif found.total:
        yield Item(Tone.WARNING, f"{counted(found.total, 'project')} have no Owner", names)


def alike_tags(actor: Actor, _: HomeContext) -> Iterator[Item]:
    """Tags that surely mean the same. No guesses: no one can mark a pair as different."""
    if not actor.may(Permission.UPDATE_TAG_TYPE):
        return
    found = duplicates.likely()
    if found:
        verb = "is" if len(found) == 1 else "are"
        says = f"{counted(len(found), 'pair')} of tags {verb} nearly alike"
        names = [f"{pair.less.tag} and {pair.more.tag}" for pair in found[:NAMED]]
        yield Item(Tone.WARNING, says, some(names, len(found)))


def _proposed(actor: Actor, context: HomeContext, reason: StaleFilter) -> tuple[int, list[str]]:
    """(number, first names) of features of the actor's own projects that are proposed as stale."""
    able = [id for id in actor.project_roles if actor.may(Permission.UPDATE_FEATURE, id)]
    if not able:
        return 0, []
    own = sa.select(Project.id).where(Project.id.in_(able), Project.archived_at.is_(None))
    query = lifecycle.matching(own, stale_after=context.settings.stale_after, stale_proposal=reason)
    names = query.with_only_columns(Feature.name)
    page = page_of(names, limit=NAMED, offset=0)
    return page.total, page.items
