from datetime import timedelta
from typing import Any

from flask import Response, url_for

from app.access.service_accounts import schemas, service
from app.access.service_accounts.service import ServiceAccount
from app.accounts import service as accounts
from app.accounts.tokens import schemas as token_schemas
from app.accounts.tokens import service as tokens
from app.accounts.tokens.models import Issued, Token
from app.accounts.tokens.secrets import TokenKind
from app.core.paging import Page
from app.core.permissions import Permission
from app.web.current import current_actor
from app.web.listing import PageQuery
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "service accounts",
    __name__,
    url_prefix="/api/admin/service-account",
    description="Accounts for scripts, and their tokens.",
)


@bp.get("", needs=Permission.ADMIN)
@bp.arguments(schemas.ServiceAccountQuery, location="query")
@bp.response(200, schemas.ServiceAccountList)
def index(query: dict[str, Any]) -> Page[ServiceAccount]:
    """List service accounts"""
    return service.search(**query)


@bp.post("", needs=Permission.ADMIN)
@bp.arguments(schemas.NewServiceAccount, example={"name": "CI", "rootRole": 2})
@bp.response(201, schemas.ServiceAccountDetail, etag=True)
def create(data: dict[str, Any]) -> tuple[ServiceAccount, dict[str, str]]:
    """Create a service account"""
    created = service.create(current_actor, **data)
    return created, {"Location": url_for(".show", account_id=created.account.id)}


@bp.get("/<id:account_id>", needs=Permission.ADMIN)
@bp.response(200, schemas.ServiceAccountDetail, etag=True)
def show(account_id: int) -> ServiceAccount:
    """Read a service account"""
    return service.get(account_id)


@bp.put("/<id:account_id>", needs=Permission.ADMIN, refuses=(409, 412))
@bp.arguments(schemas.ServiceAccountChanges, example={"rootRole": 3})
@bp.response(200)
def update(data: dict[str, Any], account_id: int) -> Response:
    """Update a service account

    Fields that are left out keep their value.
    """
    found = service.get_for_change(account_id)
    check_if_match(schemas.ServiceAccountDetail, found)
    accounts.update(current_actor, found.account, **data)
    return no_body()


@bp.delete("/<id:account_id>", needs=Permission.ADMIN, refuses=(409, 412))
@bp.response(200)
def remove(account_id: int) -> Response:
    """Delete a service account

    Its tokens stop working immediately, and its username becomes free.
    """
    found = service.get_for_change(account_id)
    check_if_match(schemas.ServiceAccountDetail, found)
    accounts.remove(current_actor, found.account)
    return no_body()


@bp.get("/<id:account_id>/token", needs=Permission.ADMIN)
@bp.arguments(PageQuery, location="query")
@bp.response(200, token_schemas.TokenList)
def index_tokens(page: dict[str, int], account_id: int) -> Page[Token]:
    """List the tokens of a service account"""
    return tokens.search(service.get(account_id).account.id, **page)


@bp.post("/<id:account_id>/token", needs=Permission.ADMIN, answers_with_secret=True)
@bp.arguments(token_schemas.NewToken, example={"description": "build server"})
@bp.response(201, token_schemas.CreatedToken)
def create_token(data: dict[str, Any], account_id: int) -> Issued[Token]:
    """Create a token for a service account

    This response is the only one that contains the secret.
    """
    return service.issue_token(current_actor, account_id, **data)


@bp.post(
    "/<id:account_id>/token/<id:token_id>/rotate", needs=Permission.ADMIN, answers_with_secret=True
)
@bp.arguments(token_schemas.Rotation, example={"overlapHours": 24})
@bp.response(201, token_schemas.CreatedToken)
def rotate_token(data: dict[str, Any], account_id: int, token_id: int) -> Issued[Token]:
    """Replace a token with a new one

    The old token keeps working for the overlap, so that you have time to switch.
    """
    overlap = timedelta(hours=data.pop("overlap_hours"))
    account = service.get(account_id).account
    kind = TokenKind.SERVICE_ACCOUNT
    return tokens.rotate(current_actor, account.id, token_id, kind, overlap=overlap, **data)


@bp.delete("/<id:account_id>/token/<id:token_id>", needs=Permission.ADMIN)
@bp.response(200)
def revoke_token(account_id: int, token_id: int) -> Response:
    """Revoke a token of a service account

    It stops working immediately.
    """
    tokens.revoke(current_actor, service.get(account_id).account.id, token_id)
    return no_body()
