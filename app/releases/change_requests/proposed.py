"""Pending changes, for pages that show the current state."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

import sqlalchemy as sa

from app.accounts.models import Account
from app.core.actor import Actor
from app.core.db import chunks, db
from app.releases.change_requests import service, summaries, words
from app.releases.change_requests.models import CLOSED, Action, Change, ChangeRequest, State
from app.releases.change_requests.queries import APPROVALS, REQUIRED, is_seen_by


@dataclass(frozen=True, slots=True)
class PendingChanges:
    """What an open change request changes about one feature.

    ``outcome``: in a few words; ``short``: the state in one or two, empty if it stays as it is.
    ``switches``: whether it switches the feature on or off.
    ``missing``: how many approvals it still needs.
    """

    id: int
    environment: str
    state: State
    number: int
    outcome: str
    short: str
    switches: bool
    missing: int
    scheduled_at: datetime | None
    failure: str | None

    @property
    def is_draft(self) -> bool:
        """Whether it is the reader’s own draft: they see no other."""
        return self.state is State.DRAFT


def of_features(actor: Actor, ids: Collection[int]) -> dict[int, dict[str, list[PendingChanges]]]:
    """Pending changes by feature and environment, oldest first.

    Takes one statement, and a second for the segments if strategies use any.
    """
    query = (
        sa.select(ChangeRequest, Change, (REQUIRED - APPROVALS).label("missing"))
        .join(Change, Change.request_id == ChangeRequest.id)
        .where(Change.feature_id.in_(ids), ChangeRequest.state.not_in(CLOSED), is_seen_by(actor))
        .order_by(Change.feature_id, ChangeRequest.id, Change.id)
    )
    rows = db.session.execute(query).all()
    known = summaries.segments_of([change for _, change, _ in rows])
    found: dict[int, dict[str, list[PendingChanges]]] = {}
    for (id, request), group in groupby(
        rows, lambda row: (row.Change.feature_id, row.ChangeRequest)
    ):
        together = list(group)
        changes = [row.Change for row in together]
        found.setdefault(id, {}).setdefault(request.environment, []).append(
            PendingChanges(
                id=request.id,
                environment=request.environment,
                state=request.state,
                number=len(changes),
                outcome=summaries.of_feature(changes, known),
                short=summaries.short(changes, known),
                switches=any(each.action is Action.UPDATE_ENABLED for each in changes),
                missing=max(together[0].missing, 0),
                scheduled_at=request.scheduled_at,
                failure=request.failure,
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class DraftChoice:
    """A draft to which changes can be added. ``is_about``: whether it changes the same already."""

    id: int
    title: str
    contents: str
    created_at: datetime
    is_about: bool


def drafts(
    actor: Actor, project_id: str, environment: str, features: Collection[str]
) -> list[DraftChoice]:
    """The actor’s drafts for an environment, those about the same features first."""
    found = [
        DraftChoice(
            id=draft.id,
            title=draft.title or words.title(draft.changes),
            contents=words.contents(draft.changes),
            created_at=draft.created_at,
            is_about=any(change.subject in features for change in draft.changes),
        )
        for draft in service.drafts_of(actor, project_id, environment)
    ]
    return sorted(found, key=lambda draft: not draft.is_about)


@dataclass(frozen=True, slots=True)
class Proposed:
    """The open change request that already switches a feature this way. ``by``: its author."""

    feature: str
    id: int
    by: str
    is_draft: bool


def switching(
    actor: Actor, project_id: str, environment: str, ids: Collection[int], *, on: bool
) -> list[Proposed]:
    """Features that an open change request already switches this way, sorted by name."""
    found: dict[str, Proposed] = {}
    for chunk in chunks(ids):
        query = (
            sa.select(ChangeRequest, Change, Account)
            .join(Change, Change.request_id == ChangeRequest.id)
            .outerjoin(Account, Account.id == ChangeRequest.created_by_id)
            .where(
                Change.feature_id.in_(chunk),
                Change.action == Action.UPDATE_ENABLED,
                ChangeRequest.project_id == project_id,
                ChangeRequest.environment == environment,
                ChangeRequest.state.not_in(CLOSED),
                is_seen_by(actor),
            )
            .order_by(ChangeRequest.id)
        )
        for request, change, author in db.session.execute(query):
            if change.payload["enabled"] is on:
                is_draft = request.state is State.DRAFT
                by = author.called if author else request.created_by
                found[change.subject] = Proposed(change.subject, request.id, by, is_draft)
    return [found[name] for name in sorted(found)]
