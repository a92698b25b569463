"""Mail about change requests: who is asked for a review, and whose schedule failed."""

from collections.abc import Collection

import sqlalchemy as sa

from app.accounts.mails import service as mails
from app.accounts.mails.models import MailKind
from app.accounts.models import Account
from app.core.actor import Actor
from app.core.db import db
from app.releases.change_requests import queries
from app.releases.change_requests.models import ChangeRequest, Reviewer


def ask_for_review(
    actor: Actor, request: ChangeRequest, reviewers: Collection[int] | None = None
) -> None:
    """Write to ``reviewers``; by default to those who are asked, or to all who can approve."""
    if reviewers is None:
        asked = (
            sa.select(Account.id)
            .join(Reviewer, Reviewer.account_id == Account.id)
            .where(Reviewer.request_id == request.id, Account.deleted_at.is_(None))
        )
        reviewers = db.session.scalars(asked).all() or [
            account.id
            for account in queries.approvers(request.project_id, but=request.created_by_id)
        ]
    subject = f"{actor.username} asks for your review of change request {_named(request)}"
    mails.queue(reviewers, MailKind.REVIEWS, subject=subject, path=_path(request))


def schedule_failed(request: ChangeRequest, why: str) -> None:
    """Write to the author, and to the person who scheduled it."""
    people = {request.created_by_id, request.scheduled_by_id}
    subject = f"Change request {_named(request)} was not applied: {why.rstrip('.')}"
    mails.queue(
        [id for id in people if id is not None],
        MailKind.SCHEDULES,
        subject=subject,
        path=_path(request),
    )


def _named(request: ChangeRequest) -> str:
    title = f" ({request.title})" if request.title else ""
    return f"{request.id}{title} in {request.environment} of {request.project_id}"


def _path(request: ChangeRequest) -> str:
    return f"/projects/{request.project_id}/change-requests/{request.id}"
