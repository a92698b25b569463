"""What the calling account reads and changes about itself."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict, Unpack

import sqlalchemy as sa

from app.access.auth import service as sign_ins
from app.access.my_account.models import FEEDBACK, SPLASHES, Feedback, Splash
from app.accounts import passwords
from app.accounts import service as accounts
from app.accounts.models import Account
from app.core.actor import Actor
from app.core.db import RetryTransaction, db, one_or_none, save
from app.core.errors import Conflict, NotFound
from app.core.permissions import Permission
from app.core.statements import Prepared


class FeedbackAnswer(TypedDict, total=False):
    """The fields of an answer. A missing key means no change; None clears."""

    never_show: bool
    given: datetime | None


@dataclass(frozen=True, slots=True)
class AccountOverview:
    """``user``: a row with the columns of Account. ``feedback``: rows with those of Feedback."""

    user: Any
    permissions: list[tuple[Permission, str | None]]
    feedback: list[Any]
    splash: list[str]


_hints = sa.union_all(
    sa.select(
        Feedback.user_id,
        Feedback.feedback_id,
        Feedback.given,
        Feedback.never_show,
        sa.null().label("splash_id"),
    ).where(Feedback.user_id == sa.bindparam("id")),
    sa.select(Splash.user_id, sa.null(), sa.null(), sa.null(), Splash.splash_id).where(
        Splash.user_id == sa.bindparam("id")
    ),
).subquery()
_account_with_hints = Prepared(
    sa.select(
        Account.id,
        Account.kind,
        Account.username,
        Account.name,
        Account.email,
        Account.role,
        Account.login_attempts,
        Account.scim_id,
        Account.created_at,
        Account.last_sign_in_at,
        _hints,
    )
    .outerjoin(_hints, _hints.c.user_id == Account.id)
    .where(Account.id == sa.bindparam("id"))
    .order_by(_hints.c.feedback_id, _hints.c.splash_id)
)


def overview(actor: Actor) -> AccountOverview:
    """The account with its permissions and hints, in one statement: this is called often."""
    found = _account_with_hints.run(id=actor.id)
    return AccountOverview(
        user=found[0],
        permissions=actor.permissions(),
        feedback=[row for row in found if row.feedback_id is not None],
        splash=[row.splash_id for row in found if row.splash_id is not None],
    )


def time_zone(actor: Actor) -> str | None:
    """The time zone in which the actor reads times on pages; None before they have one."""
    return db.session.scalar(sa.select(Account.time_zone).where(Account.id == actor.account_id))


def set_time_zone(actor: Actor, name: str) -> None:
    """Set the time zone in which the actor reads times on pages."""
    query = sa.update(Account).where(Account.id == actor.account_id)
    db.session.execute(query.values(time_zone=name))


def person(actor: Actor) -> Account:
    """The calling person's account.

    Raises:
        Conflict: for a service account.

    """
    account = accounts.find(actor.account_id)
    if account is None or not account.is_person:
        raise Conflict("Only people can do this. An Admin manages the tokens of service accounts.")
    return account


def change_password(
    actor: Actor, *, old: str, new: str, shortest: int, revoke_tokens: bool
) -> None:
    """Set a new password of at least ``shortest`` characters after checking the old one."""
    account = person(actor)

    def change() -> None:
        passwords.change(
            actor, account, old=old, new=new, shortest=shortest, revoke_tokens=revoke_tokens
        )

    sign_ins.with_password(actor, change)


def feedback(actor: Actor, feedback_id: str) -> Feedback:
    """The calling account's answer to a survey."""
    found = find_feedback(actor, feedback_id)
    if found is None:
        raise NotFound(f"There is no answer to the survey {feedback_id}.")
    return found


def find_feedback(actor: Actor, feedback_id: str, *, for_change: bool = False) -> Feedback | None:
    query = sa.select(Feedback).where(
        Feedback.user_id == actor.id, Feedback.feedback_id == feedback_id
    )
    return one_or_none(query, "feedback", actor.id, feedback_id, for_change=for_change)


def give_feedback(actor: Actor, feedback_id: str, **answer: Unpack[FeedbackAnswer]) -> Feedback:
    """Store an answer to a survey."""
    feedback = find_feedback(actor, feedback_id, for_change=True)
    if feedback is None:
        FEEDBACK.require_room(Feedback.user_id == actor.id, remedy="")
        feedback = Feedback(user_id=actor.id, feedback_id=feedback_id)
        save(feedback, if_taken=RetryTransaction())
    for key, value in answer.items():
        setattr(feedback, key, value)
    return feedback


def see_splash(actor: Actor, splash_id: str) -> Splash:
    """Store that a notice was seen."""
    splash = db.session.get(Splash, (actor.id, splash_id))
    if splash is None:
        SPLASHES.require_room(Splash.user_id == actor.id, remedy="")
        splash = Splash(user_id=actor.id, splash_id=splash_id)
        save(splash, if_taken=RetryTransaction())
    return splash
