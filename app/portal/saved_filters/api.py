from typing import Any

from flask import Response, url_for

from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.portal.saved_filters import schemas, service
from app.portal.saved_filters.models import SAVED_FILTERS, SavedFilter
from app.web.current import current_actor
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "saved_filters",
    __name__,
    url_prefix="/api/admin/user/filters",
    description="Filters of lists that the caller keeps under a name.",
)


@bp.get("", needs=Access.SIGNED_IN)
@bp.response(200, schemas.SavedFilterList)
def index() -> dict[str, list[SavedFilter]]:
    """List the caller's saved filters"""
    return {"filters": service.all_of(current_actor)}


@bp.post("", needs=Access.SIGNED_IN, keeps=(SAVED_FILTERS,), refuses=(409,))
@bp.arguments(
    schemas.NewSavedFilter,
    example={"name": "Stale ones of my team", "address": "/features?stale=true&tag=team:web"},
)
@bp.response(201, schemas.SavedFilterRow, etag=True)
def create(data: dict[str, Any]) -> tuple[SavedFilter, dict[str, str]]:
    """Save filters

    What chooses a page, such as `offset`, is left out of the address.
    """
    path, query = data["address"]
    saved = service.create(current_actor, name=data["name"], path=path, query=query)
    return saved, {"Location": url_for(".show", id=saved.id)}


@bp.get("/<id:id>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.SavedFilterRow, etag=True)
def show(id: int) -> SavedFilter:
    """Read saved filters"""
    return service.get(current_actor, id, for_change=False)


@bp.put("/<id:id>", needs=Access.SIGNED_IN, keeps=NOTHING, refuses=(409, 412))
@bp.arguments(schemas.SavedFilterUpdate, example={"name": "Stale ones"})
@bp.response(200)
def rename(data: dict[str, Any], id: int) -> Response:
    """Rename saved filters

    Their addresses stay.
    """
    saved = service.get(current_actor, id)
    check_if_match(schemas.SavedFilterRow, saved)
    service.rename(saved, **data)
    return no_body()


@bp.delete("/<id:id>", needs=Access.SIGNED_IN, refuses=(412,))
@bp.response(200)
def remove(id: int) -> Response:
    """Delete saved filters

    Their short address leads nowhere from then on.
    """
    saved = service.get(current_actor, id)
    check_if_match(schemas.SavedFilterRow, saved)
    service.remove(saved)
    return no_body()
