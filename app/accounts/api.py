from typing import Any

from flask import Response, jsonify, url_for

from app.accounts import inactive, passwords, schemas, service
from app.accounts.models import Account, AccountKind
from app.core.actor import current_actor
from app.core.blueprints import ApiBlueprint, no_body
from app.core.paging import Page, PageQuery
from app.core.permissions import Permission
from app.core.requests import check_if_match
from app.core.settings import current_settings

bp = ApiBlueprint(
    "users",
    __name__,
    url_prefix="/api/admin/user-admin",
    description="People, and deleting those who have been away for long.",
)


@bp.get("", needs=Permission.ADMIN)
@bp.arguments(schemas.UserQuery, location="query")
@bp.response(200, schemas.UserList)
def index(query: dict[str, Any]) -> Page[Account]:
    """List users"""
    return service.search(AccountKind.PERSON, **query)


@bp.post("", needs=Permission.ADMIN, answers_with_secret=True)
@bp.arguments(schemas.NewUser, example={"username": "ada", "rootRole": 2})
@bp.response(201, schemas.CreatedUser)
def create(data: dict[str, Any]) -> tuple[Response, int, dict[str, str]]:
    """Create a user

    The answer has a one-time link by which the person sets the password.
    """
    account = service.create(current_actor, **data)
    body = schemas.UserDetail().dump(account) | {"inviteLink": _link(account)}
    return jsonify(body), 201, {"Location": url_for(".show", account_id=account.id)}


@bp.get("/<id:account_id>", needs=Permission.ADMIN)
@bp.response(200, schemas.UserDetail, etag=True)
def show(account_id: int) -> Account:
    """Read a user"""
    return service.get(account_id)


@bp.put("/<id:account_id>", needs=Permission.ADMIN, refuses=(409, 412))
@bp.arguments(schemas.UserChanges, example={"rootRole": 3})
@bp.response(200)
def update(data: dict[str, Any], account_id: int) -> Response:
    """Update a user

    Fields that are left out stay as they are. The last Admin who can sign in stays one.
    """
    account = service.get_for_change(account_id)
    check_if_match(schemas.UserDetail, account)
    service.update(current_actor, account, **data)
    return no_body()


@bp.delete("/<id:account_id>", needs=Permission.ADMIN, refuses=(409, 412))
@bp.response(200)
def remove(account_id: int) -> Response:
    """Delete a user

    Tokens stop at once, username and email are free. Within 30 days the user can be restored.
    """
    account = service.get_for_change(account_id)
    check_if_match(schemas.UserDetail, account)
    service.remove(current_actor, account)
    return no_body()


@bp.post("/<id:account_id>/restore", needs=Permission.ADMIN)
@bp.response(200, schemas.UserDetail)
def restore(account_id: int) -> Account:
    """Restore a user who was deleted in the last 30 days

    Roles return, tokens don't.
    """
    return service.restore(current_actor, account_id)


@bp.get("/inactive", needs=Permission.ADMIN)
@bp.arguments(PageQuery, location="query")
@bp.response(200, schemas.InactiveUserList)
def index_inactive(page: dict[str, int]) -> Page[Any]:
    """List inactive users

    People without a sign-in and without use of a personal token for the configured number of
    days (180 unless set otherwise). Who never signed in counts from the account's creation.
    """
    return inactive.search(
        after=current_settings().inactivity, limit=page["limit"], offset=page["offset"]
    )


@bp.post("/inactive/delete", needs=Permission.ADMIN)
@bp.arguments(schemas.UserIds, example={"ids": [12, 15]})
@bp.response(200)
def remove_inactive(data: dict[str, list[int]]) -> Response:
    """Delete inactive users

    Deletes those of the given users who are inactive at this moment. Everybody else is left
    alone: unknown ids, active people, service accounts, the caller and the last Admin.
    """
    inactive.remove(current_actor, data["ids"], after=current_settings().inactivity)
    return no_body()


def _link(account: Account) -> str:
    return current_settings().address(passwords.make_link(account))
