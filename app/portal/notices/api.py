from typing import Any

from flask import Response

from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.portal.notices import schemas, service
from app.web.current import current_actor
from app.web.listing import NewestQuery
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "notices",
    __name__,
    url_prefix="/api/admin/user/notices",
    description="What others did to what the caller owns or follows.",
)


@bp.get("", needs=Access.SIGNED_IN)
@bp.arguments(NewestQuery, location="query")
@bp.response(200, schemas.NoticeList)
def index(query: dict[str, Any]) -> dict[str, Any]:
    """List the caller's notices

    Newest first, from the last 30 days. They are events of projects that the caller owns, of their
    favourites, and of change requests that they opened, if someone else did it and the caller can
    read the event log there.
    """
    found = service.read(current_actor, **query)
    return {**found._asdict(), "unread": service.unread(current_actor)}


@bp.put("/read", needs=Access.SIGNED_IN, keeps=NOTHING)
@bp.arguments(schemas.ReadUpTo, example={"upTo": 1200})
@bp.response(200)
def mark_read(data: dict[str, Any]) -> Response:
    """Mark notices as read

    What was read stays so.
    """
    service.mark_read(current_actor, **data)
    return no_body()
