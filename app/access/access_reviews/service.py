"""Reviews of the access to a project: each member is confirmed, or loses the role."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

import sqlalchemy as sa

from app.access.access_reviews.models import AccessReview, AccessReviewEntry
from app.access.groups import sources
from app.access.users.inactive import LAST_TOKEN_USE
from app.accounts.models import Account
from app.catalogue.projects import members
from app.catalogue.projects.models import Member, Project
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db, once, save
from app.core.errors import ChangedSinceReview, Conflict, Invalid, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.paging import Page, page_of
from app.core.permissions import Role
from app.core.words import spoken

NAMED = 10


@dataclass(frozen=True, slots=True)
class Candidate:
    """A member to decide about. ``source``: where the role comes from, in words.

    ``is_by_group_alone``: the role comes from groups only, so it can't be removed here.
    """

    account: Account
    role: Role
    source: str
    last_active_at: datetime | None
    is_by_group_alone: bool


@dataclass(frozen=True, slots=True)
class Current:
    """All members of a project. ``version`` changes when they or their roles do."""

    candidates: list[Candidate]

    @property
    def version(self) -> str:
        roles = [f"{each.account.id}:{int(each.role)}" for each in self.candidates]
        return sha256(" ".join(sorted(roles)).encode()).hexdigest()[:20]


@dataclass(frozen=True, slots=True)
class Due:
    """A project whose members were not reviewed for too long; ``last``: None for never."""

    project: Project
    last: datetime | None


def current(project_id: str) -> Current:
    """The access to the project now, Owners first."""
    return once(("access", project_id), lambda: _current(project_id))


def _current(project_id: str) -> Current:
    known = sources.of_project(project_id)
    query = (
        sa.select(Account, Member, LAST_TOKEN_USE)
        .join(Member, Member.account_id == Account.id)
        .where(Member.project_id == project_id, Account.deleted_at.is_(None))
        .order_by(Member.role, Account.id)
    )
    return Current(
        [
            Candidate(
                account,
                member.role,
                sources.describe(known.get(account.id, [])),
                max(filter(None, (account.last_sign_in_at, used_at)), default=None),
                member.own_role is None,
            )
            for account, member, used_at in db.session.execute(query)
        ]
    )


def sign_off(
    actor: Actor,
    project: Project,
    decisions: Mapping[int, bool],
    *,
    version: str,
    comment: str | None = None,
) -> AccessReview:
    """Store the decision about each member, and remove the role from those who don't keep it.

    ``project``: locked for change. ``decisions``: whether each keeps the role, by account id.

    Raises:
        ChangedSinceReview: if the members are not those of ``version`` any more.
        Invalid: if a decision is missing, or about someone else.
        Conflict: for a role that a group alone gives, and if no Owner would be left.

    """
    found = current(project.id)
    if found.version != version:
        raise ChangedSinceReview
    _check(found, decisions)
    batch = events.new_batch()
    removed = [each for each in found.candidates if not decisions[each.account.id]]
    if removed:
        in_review = actor.for_act(batch, "access review")
        members.change(in_review, project, {each.account.id: None for each in removed})
    review = AccessReview(
        project_id=project.id,
        signed_off_by=actor.username,
        signed_off_by_id=actor.id,
        comment=comment,
        entries=[_entry(each, kept=decisions[each.account.id]) for each in found.candidates],
    )
    save(review)
    events.record(
        actor,
        EventType.ACCESS_REVIEW_SIGNED_OFF,
        batch_id=batch,
        project=project.id,
        data={
            "id": review.id,
            "comment": comment,
            "kept": [each.account_id for each in review.entries if each.kept],
            "removed": [each.account_id for each in review.entries if not each.kept],
        },
    )
    return review


def search(project_id: str, *, limit: int, offset: int) -> Page[AccessReview]:
    """The reviews of the project, newest first."""
    query = sa.select(AccessReview).where(AccessReview.project_id == project_id)
    return page_of(query.order_by(AccessReview.id.desc()), limit=limit, offset=offset)


def last(project_id: str) -> AccessReview | None:
    return next(iter(search(project_id, limit=1, offset=0).items), None)


def get(project_id: str, review_id: int) -> AccessReview:
    review = db.session.get(AccessReview, review_id)
    if review is None or review.project_id != project_id:
        raise NotFound(f"Project {project_id} has no access review with the id {review_id}.")
    return review


def due(actor: Actor, *, after: timedelta, limit: int) -> Page[Due]:
    """The projects that the actor should review, longest without a review first.

    A project that was never reviewed counts from its creation. Admins get all
    projects, Owners their own, but only those with members.
    """
    latest = (
        sa.select(sa.func.max(AccessReview.signed_off_at))
        .where(AccessReview.project_id == Project.id)
        .correlate(Project)
        .scalar_subquery()
    )
    since = sa.func.coalesce(latest, Project.created_at)
    query = sa.select(Project, latest.label("latest")).where(
        Project.archived_at.is_(None),
        sa.exists()
        .select_from(sa.join(Member, Account, Account.id == Member.account_id))
        .where(Member.project_id == Project.id, Account.deleted_at.is_(None)),
        since < utcnow() - after,
    )
    if not actor.is_admin:
        owned = [id for id, role in actor.project_roles.items() if role is Role.OWNER]
        query = query.where(Project.id.in_(owned))
    number = db.session.scalar(sa.select(sa.func.count()).select_from(query.subquery())) or 0
    rows = db.session.execute(query.order_by(since, Project.id).limit(limit))
    return Page([Due(project, at) for project, at in rows], number, limit, 0)


def _check(found: Current, decisions: Mapping[int, bool]) -> None:
    known = {each.account.id: each for each in found.candidates}
    if missing := [each for id, each in known.items() if id not in decisions]:
        names = spoken([each.account.called for each in missing], NAMED)
        raise Invalid.at("/entries", f"Decide about everyone. Missing: {names}.")
    if unknown := sorted(set(decisions) - set(known)):
        raise Invalid.at("/entries", f"Account {unknown[0]} is not a member.")
    for id, kept in decisions.items():
        if not kept and known[id].is_by_group_alone:
            who = known[id]
            raise Conflict(
                f"{who.account.called} is {who.role.with_article} {who.source}. Change who is in "
                "the group, or what the group gives."
            )


def _entry(each: Candidate, *, kept: bool) -> AccessReviewEntry:
    return AccessReviewEntry(
        account_id=each.account.id,
        username=each.account.label,
        name=each.account.name,
        role=each.role,
        source=each.source,
        last_active_at=each.last_active_at,
        kept=kept,
    )
