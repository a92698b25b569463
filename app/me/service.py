"""What the calling account is told about itself."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict, Unpack

import sqlalchemy as sa

from app.accounts.models import Account
from app.core.actor import Actor
from app.core.db import Again, db, save
from app.core.errors import Conflict
from app.core.permissions import Permission
from app.me.models import Feedback, Splash


class Answer(TypedDict, total=False):
    """What an answer may name. A key left out is left alone; None clears."""

    never_show: bool
    given: datetime | None


@dataclass(frozen=True, slots=True)
class Overview:
    user: Account
    permissions: list[tuple[Permission, str | None]]
    feedback: list[Feedback]
    splash: list[str]


def overview(actor: Actor) -> Overview:
    of_actor = sa.select(Feedback).where(Feedback.user_id == actor.id)
    seen = sa.select(Splash.splash_id).where(Splash.user_id == actor.id)
    return Overview(
        user=db.session.get_one(Account, actor.id),
        permissions=actor.permissions(),
        feedback=list(db.session.scalars(of_actor.order_by(Feedback.feedback_id))),
        splash=list(db.session.scalars(seen.order_by(Splash.splash_id))),
    )


def person(actor: Actor) -> Account:
    """The calling person's account; a service account has neither password nor own tokens."""
    account = db.session.get_one(Account, actor.id)
    if not account.is_person:
        raise Conflict("This is for people; an Admin manages the tokens of service accounts.")
    return account


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
