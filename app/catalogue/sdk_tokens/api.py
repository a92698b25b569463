"""Tokens of SDKs: those of the instance, for Admins, and those of one project, for its Owners."""

from datetime import timedelta
from typing import Any

from flask import Response

from app.accounts.tokens.models import Issued
from app.catalogue.projects import service as projects
from app.catalogue.sdk_tokens import schemas, service
from app.catalogue.sdk_tokens.models import SdkToken, SdkTokenType
from app.core.paging import Page
from app.core.permissions import Permission
from app.web.current import current_actor
from app.web.listing import whole
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body

IN_PROJECT = "/projects/<key:project_id>/api-tokens"
EXAMPLE = {
    "tokenName": "web-shop",
    "type": "client",
    "environment": "production",
    "projects": ["default"],
}
OF_PROJECT = {"tokenName": "web-shop", "type": "client", "environment": "production"}

bp = ApiBlueprint(
    "SDK tokens",
    __name__,
    url_prefix="/api/admin",
    description="What applications read their features with. Valid nowhere else.",
)


@bp.get("/api-tokens", needs=Permission.READ_CLIENT_API_TOKEN)
@bp.arguments(whole(schemas.SdkTokenQuery), location="query")
@bp.response(200, schemas.SdkTokenList)
def index(query: dict[str, Any]) -> Page[SdkToken]:
    """List SDK tokens"""
    return service.search(**query)


@bp.post("/api-tokens", needs=Permission.CREATE_CLIENT_API_TOKEN, answers_with_secret=True)
@bp.arguments(schemas.NewSdkToken, example=EXAMPLE)
@bp.response(201, schemas.CreatedSdkToken)
def create(data: dict[str, Any]) -> Issued[SdkToken]:
    """Create an SDK token

    This response is the only one that contains the secret. A token of type `client` is for
    servers; one of type `frontend` is for browsers and phones.
    """
    if data["type"] is SdkTokenType.FRONTEND:
        current_actor.require(Permission.CREATE_FRONTEND_API_TOKEN)
    return service.create(current_actor, **data)


@bp.get("/api-tokens/<path:name>", needs=Permission.READ_CLIENT_API_TOKEN)
@bp.response(200, schemas.SdkTokenList)
def index_named(name: str) -> Page[SdkToken]:
    """List the SDK tokens with a name

    At most one is valid. The list is empty if there is none.
    """
    return service.search(limit=1, offset=0, name=name)


@bp.get("/sdk-tokens/<ref:ref>", needs=Permission.READ_CLIENT_API_TOKEN)
@bp.response(200, schemas.SdkTokenRow, etag=True, whole=True)
def show(ref: str) -> SdkToken:
    """Read an SDK token, without its secret

    By its id, or by the SHA-256 of the whole token in hexadecimal. Keep tokens out of addresses:
    proxies log them.
    """
    return service.get(ref)


@bp.put("/api-tokens/<ref:ref>", needs=Permission.UPDATE_CLIENT_API_TOKEN, refuses=(405, 412))
@bp.arguments(schemas.SdkTokenChanges, example={"expiresAt": "2031-01-01T00:00:00Z"})
@bp.response(200)
def update(data: dict[str, Any], ref: str) -> Response:
    """Change when an SDK token expires"""
    token = service.get(ref, for_change=True)
    check_if_match(schemas.SdkTokenRow, token)
    service.set_expiry(current_actor, token, **data)
    return no_body()


@bp.post(
    "/api-tokens/<ref:ref>/rotate",
    needs=Permission.UPDATE_CLIENT_API_TOKEN,
    refuses=(405,),
    answers_with_secret=True,
)
@bp.arguments(schemas.SdkTokenRotation, example={"overlapHours": 24})
@bp.response(201, schemas.CreatedSdkToken)
def rotate(data: dict[str, Any], ref: str) -> Issued[SdkToken]:
    """Replace an SDK token with a new one

    The old token keeps working for the overlap, so that you have time to switch.
    """
    old = service.get(ref, for_change=True)
    return service.rotate(current_actor, old, overlap=timedelta(hours=data["overlap_hours"]))


@bp.delete("/api-tokens/<ref:ref>", needs=Permission.DELETE_CLIENT_API_TOKEN, refuses=(405,))
@bp.response(200)
def revoke(ref: str) -> Response:
    """Revoke an SDK token

    Applications that use it keep the features that they have, and get no more changes.
    """
    service.revoke(current_actor, service.get(ref, for_change=True))
    return no_body()


@bp.get(IN_PROJECT, needs=Permission.READ_PROJECT_API_TOKEN)
@bp.arguments(whole(schemas.SdkTokenQuery), location="query")
@bp.response(200, schemas.SdkTokenList)
def index_of_project(query: dict[str, Any], project_id: str) -> Page[SdkToken]:
    """List the SDK tokens of a project

    Those for this project alone.
    """
    projects.require(current_actor, project_id)
    return service.search(project_id=project_id, **query)


@bp.post(IN_PROJECT, needs=Permission.CREATE_PROJECT_API_TOKEN, answers_with_secret=True)
@bp.arguments(schemas.NewProjectToken, example=OF_PROJECT)
@bp.response(201, schemas.CreatedSdkToken)
def create_for_project(data: dict[str, Any], project_id: str) -> Issued[SdkToken]:
    """Create an SDK token for a project

    This response is the only one that contains the secret.
    """
    projects.require_for_content(current_actor, project_id)
    return service.create(current_actor, **data, projects=[project_id])


@bp.post(
    f"{IN_PROJECT}/<ref:ref>/rotate",
    needs=Permission.CREATE_PROJECT_API_TOKEN,
    answers_with_secret=True,
)
@bp.arguments(schemas.SdkTokenRotation, example={"overlapHours": 24})
@bp.response(201, schemas.CreatedSdkToken)
def rotate_in_project(data: dict[str, Any], project_id: str, ref: str) -> Issued[SdkToken]:
    """Replace an SDK token of a project with a new one

    The old token keeps working for the overlap, so that you have time to switch.
    """
    projects.require_for_content(current_actor, project_id)
    old = service.get(ref, project_id=project_id, for_change=True)
    return service.rotate(current_actor, old, overlap=timedelta(hours=data["overlap_hours"]))


@bp.delete(f"{IN_PROJECT}/<ref:ref>", needs=Permission.DELETE_PROJECT_API_TOKEN)
@bp.response(200)
def revoke_in_project(project_id: str, ref: str) -> Response:
    """Revoke an SDK token of a project"""
    projects.require(current_actor, project_id)
    service.revoke(current_actor, service.get(ref, project_id=project_id, for_change=True))
    return no_body()
