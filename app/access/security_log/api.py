from typing import Any

from app.access.security_log import schemas, service
from app.core.permissions import Permission
from app.web.routes import ApiBlueprint

bp = ApiBlueprint(
    "security-log",
    __name__,
    url_prefix="/api/admin/security-log",
    description="Sign-ins, failures, refusals and exports.",
)


@bp.get("", needs=Permission.ADMIN)
@bp.arguments(schemas.SecurityQuery, location="query")
@bp.response(200, schemas.SecurityList)
def index(query: dict[str, Any]) -> dict[str, Any]:
    """List the entries of the security log

    Newest first. What is repeated more than ten times in a minute is counted in `times`.
    """
    entries, total = service.search(**query)
    more = len(entries) == query["limit"]
    return {"entries": entries, "total": total, "next_before": entries[-1].id if more else None}
