"""Approvals: environments of a project in which no one can change anything alone."""

from typing import NamedTuple

import sqlalchemy as sa

from app.accounts.models import Account, AccountKind
from app.catalogue.projects.models import Approval, Member, Project
from app.core.db import db
from app.core.permissions import Role


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
