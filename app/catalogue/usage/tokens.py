"""Which applications read features with which SDK token."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.catalogue.sdk_tokens.models import SdkToken
from app.catalogue.usage.models import TOKEN_USES, Application, TokenUse
from app.core.db import db
from app.core.statements import OnList

RETENTION = timedelta(days=7)

_uses = OnList(
    lambda is_among: (
        sa.select(SdkToken.id, TokenUse.application_id)
        .join_from(SdkToken, TokenUse, TokenUse.token_id == SdkToken.id, isouter=True)
        .where(is_among(SdkToken.id))
    )
)


class FirstContact(NamedTuple):
    """The first application that used a token."""

    application: str
    at: datetime


def rows(
    uses: Mapping[tuple[int, str], datetime], applications: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    """Rows to upsert. ``uses``: by the id of a token and the name of an application.

    Known applications of a token always count, new ones as far as there is room.
    """
    known: dict[int, set[int]] = {}
    for id, application_id in _uses.run({id for id, _ in uses}) if uses else ():
        of_token = known.setdefault(id, set())
        if application_id is not None:
            of_token.add(application_id)
    for (id, name), at in sorted(uses.items()):
        if id not in known:
            continue  # a token that the restored database doesn't have
        of_token, application_id = known[id], applications[name]
        if application_id in of_token or len(of_token) < TOKEN_USES.rows:
            of_token.add(application_id)
            seen = {"first_seen_at": at, "last_seen_at": at}
            yield {"token_id": id, "application_id": application_id, **seen}


def first_contact(token_id: int) -> FirstContact | None:
    """The known application that used a token first; None if none did."""
    query = (
        sa.select(Application.name, TokenUse.first_seen_at)
        .join(TokenUse, TokenUse.application_id == Application.id)
        .where(TokenUse.token_id == token_id)
        .order_by(TokenUse.first_seen_at, Application.name)
        .limit(1)
    )
    found = db.session.execute(query).first()
    return FirstContact(*found) if found else None
