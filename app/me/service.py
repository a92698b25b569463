"""What the calling account is told about itself."""

from dataclasses import dataclass

import sqlalchemy as sa

from app.accounts.models import Account
from app.core.actor import Actor
from app.core.db import db
from app.core.permissions import Permission
from app.me.models import Feedback, Splash


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
