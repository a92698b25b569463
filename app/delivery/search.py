"""The applications that can be found."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from app.catalogue.usage.models import Application, Instance
from app.core.actor import Actor
from app.core.db import db
from app.core.search import Hit, Kind, Searched


def _applications(_actor: Actor, rows: Sequence[Any]) -> list[Hit]:
    query = (
        sa.select(Instance.application_id, sa.func.max(Instance.last_seen_at))
        .where(Instance.application_id.in_([row.id for row in rows]))
        .group_by(Instance.application_id)
    )
    seen = dict(db.session.execute(query).all())
    return [
        Hit(
            row.name,
            "" if row.id in seen else "not seen lately",
            "application_pages.show",
            {"name": row.name},
            seen_at=seen.get(row.id),
        )
        for row in rows
    ]


SEARCHED = (
    Searched(
        Kind(8, "applications", "Applications"),
        columns=(Application.id, Application.name),
        names=(Application.name,),
        hits=_applications,
    ),
)
