"""Features of the reader’s projects that could go."""

from collections.abc import Iterator

import sqlalchemy as sa

from app.catalogue.features import lifecycle
from app.catalogue.features.models import Feature
from app.catalogue.features.stale import StaleFilter
from app.catalogue.projects.models import Project
from app.catalogue.tags import alike
from app.core.actor import Actor
from app.core.db import db
from app.core.permissions import Permission
from app.core.words import counted
from app.portal.home.items import NAMED, Facts, Item, Kind, Tone, days, some


def unused(actor: Actor, facts: Facts) -> Iterator[Item]:
    count, names = _proposed(actor, facts, StaleFilter.UNUSED)
    if count:
        have = "hasn’t" if count == 1 else "haven’t"
        says = f"{counted(count, 'feature')} {have} been used for {days(facts.stale_after)}"
        yield Item(Kind.UNUSED, Tone.WARNING, says, some(names, count))


def everywhere(actor: Actor, facts: Facts) -> Iterator[Item]:
    count, names = _proposed(actor, facts, StaleFilter.EVERYWHERE)
    if count:
        verb = "has" if count == 1 else "have"
        says = (
            f"{counted(count, 'feature')} {verb} been on for everyone for {days(facts.stale_after)}"
        )
        yield Item(Kind.EVERYWHERE, Tone.WARNING, says, some(names, count))


def alike_tags(actor: Actor, _: Facts) -> Iterator[Item]:
    """Only those that surely mean the same, because no one can say that they do not."""
    if not actor.may(Permission.UPDATE_TAG_TYPE):
        return
    found = alike.likely()
    if found:
        verb = "is" if len(found) == 1 else "are"
        says = f"{counted(len(found), 'pair')} of tags {verb} nearly alike"
        names = [f"{pair.less.tag} and {pair.more.tag}" for pair in found[:NAMED]]
        yield Item(Kind.TAGS, Tone.WARNING, says, some(names, len(found)))


def _proposed(actor: Actor, facts: Facts, reason: StaleFilter) -> tuple[int, list[str]]:
    """The features of the actor's own projects that look ready to go."""
    if not facts.stale_after:
        return 0, []
    able = [id for id in actor.project_roles if actor.may(Permission.UPDATE_FEATURE, id)]
    if not able:
        return 0, []
    own = sa.select(Project.id).where(Project.id.in_(able), Project.archived_at.is_(None))
    query = lifecycle.matching(own, stale_after=facts.stale_after, stale_proposal=reason)
    names = query.with_only_columns(Feature.name)
    count = db.session.scalar(
        sa.select(sa.func.count()).select_from(names.order_by(None).subquery())
    )
    return count or 0, list(db.session.scalars(names.limit(NAMED))) if count else []
