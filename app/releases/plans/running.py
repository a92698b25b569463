"""The runner: it starts the steps of releases by themselves when their time has come.

After an outage no step is left out: one whose time has passed starts now, and the next one waits
its whole time from then on.
"""

import sqlalchemy as sa

from app.catalogue.features.models import Feature
from app.catalogue.releases.models import Release
from app.catalogue.releases.queries import Located
from app.core.clock import utcnow
from app.core.db import db, locked, transact
from app.core.maintenance import service as maintenance
from app.core.statements import Prepared
from app.releases.due import AT_ONCE, work_off
from app.releases.plans import acts

_now = sa.bindparam("now", type_=Release.next_at.type)
_due = Prepared(
    sa.select(Release.next_at, Release.id)
    .where(Release.is_automatic, Release.next_at <= _now)
    .order_by(Release.next_at, Release.id)
    .limit(AT_ONCE)
)


def start_due() -> int:
    """Start the steps that are due. Return how many were tried.

    A release whose step can’t start is put on hold, with the reason. In maintenance mode all of
    them wait until it ends.
    """
    rows = transact(lambda: _due.run(now=utcnow()), writes=False)
    if not rows or transact(maintenance.current, writes=False):
        return 0
    return work_off(
        rows,
        is_due=_is_due,
        act=_start_if_due,
        fail=_give_up,
        act_name="starting the next step of release",
    )


def _is_due(id: str) -> bool:
    return db.session.scalar(sa.select(sa.exists().where(*_still_due(id)))) or False


def _still_due(id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return Release.id == id, Release.is_automatic.is_(True), Release.next_at <= utcnow()


def _start_if_due(id: str) -> None:
    if (found := _locked(id)) is not None:
        acts.start_by_itself(found)


def _give_up(id: str, why: str) -> None:
    if (found := _locked(id)) is not None:
        acts.give_up(found, why)


def _locked(id: str) -> Located | None:
    """The release with its feature, both locked; None if it is no longer due."""
    owner = sa.select(Feature).join(Release, Release.feature_id == Feature.id)
    feature = db.session.scalar(
        locked(owner.where(Release.id == id), of=Feature, key_share=True, skip_locked=True)
    )
    query = sa.select(Release).where(*_still_due(id))
    release = db.session.scalar(locked(query, of=Release, skip_locked=True))
    if feature is None or release is None:
        return None
    return Located(release, feature.name, feature.project_id)
