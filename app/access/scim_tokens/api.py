from typing import Any

from flask import Response

from app.access.scim_tokens import disconnecting, schemas
from app.access.scim_tokens import service as tokens
from app.access.scim_tokens.disconnecting import Managed
from app.access.scim_tokens.models import ScimToken
from app.accounts.tokens.models import Issued
from app.core.permissions import Permission
from app.web.current import current_actor
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "SCIM tokens",
    __name__,
    url_prefix="/api/admin/scim-tokens",
    description="Tokens with which directories manage users and groups, by SCIM 2.0 at /scim/v2.",
)


@bp.get("", needs=Permission.ADMIN)
@bp.response(200, schemas.ScimTokenList)
def index() -> dict[str, list[ScimToken]]:
    """List SCIM tokens"""
    return {"tokens": tokens.list_all()}


@bp.post("", needs=Permission.ADMIN, answers_with_secret=True)
@bp.arguments(schemas.NewScimToken, example={"tokenName": "Okta"})
@bp.response(201, schemas.CreatedScimToken)
def create(data: dict[str, Any]) -> Issued[ScimToken]:
    """Create a SCIM token

    Only this response contains the secret.
    """
    return tokens.create(current_actor, **data)


@bp.delete("/<id:token_id>", needs=Permission.ADMIN)
@bp.response(204)
def revoke(token_id: int) -> Response:
    """Revoke a SCIM token

    The directory that has it can change nothing any more.
    """
    tokens.revoke(current_actor, token_id)
    return no_body(204)


@bp.post("/disconnect", needs=Permission.ADMIN)
@bp.response(200, schemas.Managed)
def disconnect() -> Managed:
    """Disconnect all directories

    Revokes all SCIM tokens. Users and groups stay as they are and can be changed by hand; a new
    directory manages them from its first write.
    """
    return disconnecting.disconnect(current_actor)
