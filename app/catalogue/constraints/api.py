from typing import Any

from flask import Response

from app.catalogue.constraints import schemas, service
from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "constraints",
    __name__,
    url_prefix="/api/admin/constraints",
    description="Conditions on context fields, in strategies and segments.",
)


@bp.post("/validate", needs=Access.SIGNED_IN, keeps=NOTHING, writes=False)
@bp.arguments(
    schemas.Constraint,
    example={"contextName": "userId", "operator": "IN", "values": ["1042"]},
)
@bp.response(204)
def validate(data: Any) -> Response:
    """Check a constraint"""
    service.check(data)
    return no_body(204)
