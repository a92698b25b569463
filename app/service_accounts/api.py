from typing import Any

from flask import url_for

from app.core.actor import current_actor
from app.core.blueprints import ApiBlueprint
from app.core.permissions import Permission
from app.service_accounts import schemas, service
from app.service_accounts.service import ServiceAccount
from app.tokens import schemas as token_schemas
from app.tokens.service import IssuedToken

bp = ApiBlueprint(
    "service accounts",
    __name__,
    url_prefix="/api/admin/service-account",
    description="Accounts of programs, and their tokens.",
)


@bp.post("", needs=Permission.ADMIN, refuses=(409,))
@bp.arguments(schemas.NewServiceAccount)
@bp.response(201, schemas.ServiceAccountDetail)
def create(data: dict[str, Any]) -> tuple[ServiceAccount, dict[str, str]]:
    """Create a service account"""
    created = service.create(current_actor, **data)
    return created, {"Location": url_for(".show", account_id=created.account.id)}


@bp.get("/<id:account_id>", needs=Permission.ADMIN)
@bp.response(200, schemas.ServiceAccountDetail)
def show(account_id: int) -> ServiceAccount:
    """Read a service account"""
    return service.get(account_id)


@bp.post("/<id:account_id>/token", needs=Permission.ADMIN, refuses=(404, 409))
@bp.arguments(token_schemas.NewToken)
@bp.response(201, token_schemas.CreatedToken)
def create_token(data: dict[str, Any], account_id: int) -> IssuedToken:
    """Create a token for a service account

    The secret is in this answer and can't be read again.
    """
    return service.issue_token(current_actor, account_id, **data)
