"""What the calling account is told about itself."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict, Unpack

import sqlalchemy as sa

from app.accounts import passwords
from app.accounts.models import Account
from app.auth import service as sign_ins
from app.core.actor import Actor
from app.core.db import Again, db, rows, save
from app.core.errors import Conflict
from app.core.permissions import Permission
from app.me.models import Feedback, Splash


class Answer(TypedDict, total=False):
    """What an answer may name. A key left out is left alone; None clears."""

    never_show: bool
    given: datetime | None


@dataclass(frozen=True, slots=True)
class Overview:
    """``user`` has the columns of the account, each of ``feedback`` those of an answer."""

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
_account_with_hints = (
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


def overview(actor: Actor) -> Overview:
    """All of it in one statement: programs ask this often."""
    found = rows(_account_with_hints, id=actor.id)
    return Overview(
        user=found[0],
        permissions=actor.permissions(),
        feedback=[row for row in found if row.feedback_id is not None],
        splash=[row.splash_id for row in found if row.splash_id is not None],
    )


def person(actor: Actor) -> Account:
    """The calling person's account; a service account has neither password nor own tokens."""
    account = db.session.get_one(Account, actor.id)
    if not account.is_person:
        raise Conflict("This is for people; an Admin manages the tokens of service accounts.")
    return account


def change_password(actor: Actor, *, old: str, new: str, shortest: int) -> None:
    """Set a new password of at least ``shortest`` characters for who knows the old one."""
    account = person(actor)
    sign_ins.with_password(
        actor, lambda: passwords.change(actor, account, old=old, new=new, shortest=shortest)
    )


def give_feedback(actor: Actor, feedback_id: str, **answer: Unpack[Answer]) -> Feedback:
    """Remember an answer to a questionnaire."""
    feedback = db.session.get(Feedback, (actor.id, feedback_id))
    if feedback is None:
        feedback = Feedback(user_id=actor.id, feedback_id=feedback_id)
        save(feedback, if_taken=Again())
    for key, value in answer.items():
        setattr(feedback, key, value)
    return feedback


def see_splash(actor: Actor, splash_id: str) -> Splash:
    """Remember that a notice was seen."""
    splash = db.session.get(Splash, (actor.id, splash_id))
    if splash is None:
        splash = Splash(user_id=actor.id, splash_id=splash_id)
        save(splash, if_taken=Again())
    return splash


def forget_hints(actor: Actor) -> None:
    """Let questionnaires be asked and notices be shown anew."""
    for model in (Feedback, Splash):
        db.session.execute(sa.delete(model).where(model.user_id == actor.id))
