"""Approvals: environments of a project in which no one can change anything alone."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import sqlalchemy as sa

from app.accounts.models import Account, AccountKind
from app.catalogue.projects.models import Approval, Member, Project
from app.core.actor import Actor
from app.core.db import db
from app.core.errors import NoAccess
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.permissions import Role
from app.core.words import counted, spoken


class Shortage(NamedTuple):
    """An environment with too few ``people`` to approve a change that one of them proposes."""

    project_id: str
    environment: str
    required: int
    people: int


def shortages(*conditions: sa.ColumnElement[bool]) -> list[Shortage]:
    """Environments with too few approvers, given that no one can approve their own change.

    ``conditions``: filters on ``Project``.
    """
    is_person = sa.and_(
        Account.kind == AccountKind.PERSON,
        Account.deleted_at.is_(None),
        Account.deactivated_at.is_(None),
    )
    is_admin = Account.role == Role.ADMIN
    admins = sa.select(sa.func.count()).where(is_person, is_admin).scalar_subquery()
    members = (
        sa.select(Member.project_id, sa.func.count().label("number"))
        .join(Account, Account.id == Member.account_id)
        .where(is_person, ~is_admin)
        .group_by(Member.project_id)
        .subquery()
    )
    people = admins + sa.func.coalesce(members.c.number, 0)
    query = (
        sa.select(Project.id, Approval.environment, Approval.required_approvals, people)
        .join(Approval, Approval.project_id == Project.id)
        .outerjoin(members, members.c.project_id == Project.id)
        .where(Project.archived_at.is_(None), people <= Approval.required_approvals, *conditions)
        .order_by(Project.id, Approval.environment)
    )
    return [Shortage(*row) for row in db.session.execute(query)]


def needing_approval(project_id: str, environments: Iterable[str]) -> list[str]:
    """Environments among these in which changes need approvals, sorted by name."""
    return [name for name, _ in _required(project_id, environments)]


def require_approval(
    actor: Actor,
    project_id: str,
    environments: Iterable[str],
    *,
    feature: str | None = None,
    is_visible: bool = True,
    instead: str | None = None,
) -> None:
    """Refuse a change that reaches applications in one of these environments, if it needs approval.

    It passes once others approved it. An Admin who gives a reason can bypass approval, which the
    event log records. ``is_visible``: whether the refusal may name the project. ``instead``: advice
    for a change that can't be proposed.

    Raises:
        NoAccess: with the number of approvals that the change would need, and how to propose it.

    """
    rules = _required(project_id, environments)
    if actor.approved:
        rules = [rule for rule in rules if (project_id, rule.environment) != actor.approved[:2]]
    if not rules:
        return
    if actor.approved or not (actor.is_admin and actor.reason):
        raise _needs_approvals(actor, project_id, rules, is_visible=is_visible, instead=instead)
    for name, required in rules:
        events.record(
            actor,
            EventType.CHANGE_REQUEST_BYPASSED,
            project=project_id,
            feature_name=feature,
            data={"environment": name, "requiredApprovals": required},
        )


def _needs_approvals(
    actor: Actor,
    project_id: str,
    rules: Sequence[sa.Row[str, int]],
    *,
    is_visible: bool,
    instead: str | None,
) -> NoAccess:
    needs = spoken([f"{counted(number, 'approval')} in {name}" for name, number in rules])
    where = f"{needs} of project {project_id}" if is_visible else "approvals in other projects"
    by_admin = "An Admin can make this change without approval, and must give a reason."
    if approved := actor.approved:
        return NoAccess(
            f"This change also needs {where}. A change request covers one environment, so it "
            f"cannot be part of one in {approved.environment} of project {approved.project}. "
            f"{by_admin}"
        )
    how = instead or (_how_to_propose(project_id, rules) if is_visible else "")
    sentences = (f"Changes that reach applications need {where}.", how, by_admin)
    return NoAccess(" ".join(filter(None, sentences)))


def _how_to_propose(project_id: str, rules: Sequence[sa.Row[str, int]]) -> str:
    if len(rules) > 1:
        return (
            "A change request covers one environment, so make sure first that the change reaches "
            "only one of these. For example, switch the feature off in the others."
        )
    path = f"/api/admin/projects/{project_id}/environments/{rules[0].environment}/change-requests"
    return f"Propose it in a change request (POST {path})."


def _required(project_id: str, environments: Iterable[str]) -> Sequence[sa.Row[str, int]]:
    """Rows of (environment, required approvals) for the environments that need approval."""
    query = sa.select(Approval.environment, Approval.required_approvals).where(
        Approval.project_id == project_id, Approval.environment.in_(list(environments))
    )
    return db.session.execute(query.order_by(Approval.environment)).all()
