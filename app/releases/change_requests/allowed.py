"""What the reader can do with a change request, and why not."""

from dataclasses import dataclass

from app.accounts.models import Account
from app.core.actor import Actor
from app.core.permissions import Permission
from app.releases.change_requests import service
from app.releases.change_requests.models import State
from app.releases.change_requests.views import View


@dataclass(frozen=True, slots=True)
class AllowedActions:
    """``able``: people whose approval would count, without the author. ``has_approved``: whether
    the reader’s own approval counts now. ``made_a_token``: whether they created one of the author.
    """

    view: View
    able: list[Account]
    is_author: bool
    is_able: bool
    made_a_token: bool
    has_approved: bool
    may_apply: bool
    is_admin: bool

    @property
    def obstacle(self) -> str | None:
        return self.view.request.obstacle

    @property
    def is_draft(self) -> bool:
        return self.view.state is State.DRAFT

    @property
    def is_under_review(self) -> bool:
        return self.view.state in {State.IN_REVIEW, State.APPROVED}

    @property
    def can_approve(self) -> bool:
        is_open = self.view.request.state is State.IN_REVIEW
        return is_open and self.is_able and not self.has_approved and not self.obstacle

    @property
    def can_reject(self) -> bool:
        is_open = self.view.request.state in {State.IN_REVIEW, State.SCHEDULED}
        return is_open and self.is_able

    @property
    def can_apply(self) -> bool:
        ready = self.view.state in {State.APPROVED, State.SCHEDULED} and self.view.is_approved
        return ready and self.may_apply and not self.obstacle

    @property
    def can_withdraw_approval(self) -> bool:
        return self.has_approved and self.view.request.is_open

    @property
    def can_comment(self) -> bool:
        return self.view.request.is_open and not self.is_draft

    @property
    def can_cancel(self) -> bool:
        return self.can_comment and (self.is_author or self.is_admin)

    @property
    def can_edit(self) -> bool:
        return self.is_author and self.view.request.is_open

    @property
    def is_short(self) -> bool:
        """Whether it can never be approved, because too few people can."""
        return self.view.request.is_open and len(self.able) < self.view.required

    @property
    def still_able(self) -> list[Account]:
        """People who could approve it and haven’t."""
        given = {each.created_by.id for each in self.view.approvals}
        return [account for account in self.able if account.id not in given]


def of(actor: Actor, view: View) -> AllowedActions:
    request = view.request
    able = service.reviewers(request)
    is_author = service.is_author(actor, request)
    is_able = not is_author and actor.id in {account.id for account in able}
    may_approve = actor.may(Permission.APPROVE_CHANGE_REQUEST, request.project_id)
    return AllowedActions(
        view=view,
        able=able,
        is_author=is_author,
        is_able=is_able,
        made_a_token=may_approve and not is_able and not is_author,
        has_approved=actor.id in {given.created_by.id for given in view.approvals},
        may_apply=is_author or actor.may(Permission.APPLY_CHANGE_REQUEST, request.project_id),
        is_admin=actor.is_admin,
    )
