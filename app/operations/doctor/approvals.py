"""Environments in which a change can never get the approvals that it needs."""

from collections.abc import Iterator

import sqlalchemy as sa

from app.accounts.models import Account
from app.config import Settings
from app.core.db import db
from app.core.words import counted
from app.operations.doctor.findings import Finding, fine, warning
from app.projects.models import Approval, Project
from app.projects.queries import can_approve

ABOUT = "approvals"
REMEDY = "Add members to the project, or let changes there need fewer approvals, in its settings."


def check_approvals(_settings: Settings) -> Iterator[Finding]:
    """Check that enough people can approve what others propose: no one approves their own."""
    able = (
        sa.select(sa.func.count())
        .select_from(Account)
        .where(can_approve(Project.id))
        .correlate(Project)
        .scalar_subquery()
    )
    query = (
        sa.select(Project.id, Approval.environment, Approval.required_approvals, able)
        .join(Approval, Approval.project_id == Project.id)
        .where(Project.archived_at.is_(None))
        .order_by(Project.id, Approval.environment)
    )
    rows = db.session.execute(query).all()
    found = [
        warning(ABOUT, _words(project, environment, required, people), REMEDY)
        for project, environment, required, people in rows
        if people <= required
    ]
    guarded = counted(len(rows), "environment")
    says = f"Enough people can approve changes in {guarded}." if rows else "None are needed."
    yield from found or [fine(ABOUT, says)]


def _words(project: str, environment: str, required: int, people: int) -> str:
    needs = (
        f"Changes in {environment} of project {project} need {counted(required, 'approval')}, and "
        f"{counted(people, 'person', 'people')} can approve there"
    )
    if people < required:
        return f"{needs}. No change request can be approved."
    return (
        f"{needs}. What one of them proposes can’t be approved, because no one approves their own."
    )
