from typing import Any

from flask import Response

from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.portal.display import schemas, service
from app.web.current import current_actor
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "display",
    __name__,
    url_prefix="/api/admin/user/display",
    description="The columns and other parts of pages that the caller does not see.",
)


def _row(page: str) -> dict[str, Any]:
    parts = schemas.choice(page).parts
    hidden = service.hidden(current_actor, page)
    return {"page": page, "parts": parts, "hidden": [part for part in parts if part in hidden]}


@bp.get("", needs=Access.SIGNED_IN)
@bp.response(200, schemas.PageList)
def index() -> dict[str, Any]:
    """List the pages with parts that can be hidden"""
    return {"pages": [_row(page) for page in schemas.choices()]}


@bp.get("/<key:page>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.PageRow)
def show(page: str) -> dict[str, Any]:
    """Read which parts of a page are hidden"""
    return _row(page)


@bp.put("/<key:page>", needs=Access.SIGNED_IN, keeps=NOTHING)
@bp.arguments(schemas.HiddenParts, example={"hidden": ["owners", "members"]})
@bp.response(200)
def hide(data: dict[str, Any], page: str) -> Response:
    """Hide parts of a page

    Those that are left out are shown. Other people see what they chose themselves, and files of a
    list have all its columns.
    """
    service.hide(current_actor, page, data["hidden"], schemas.choice(page).parts)
    return no_body()
