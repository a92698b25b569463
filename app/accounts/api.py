from datetime import timedelta
from typing import Any

from flask import Response, current_app, url_for

from app.accounts import inactive, schemas, service
from app.accounts.models import Account, AccountKind
from app.core.actor import current_actor
from app.core.blueprints import ApiBlueprint, no_body
from app.core.paging import Page, PageQuery
from app.core.permissions import Permission

bp = ApiBlueprint(
    "users",
    __name__,
    url_prefix="/api/admin/user-admin",
    description="People, and deleting those who have been away for long.",
)


@bp.get("", needs=Permission.ADMIN)
@bp.arguments(PageQuery, location="query")
@bp.response(200, schemas.UserList)
def index(page: dict[str, int]) -> Page[Account]:
    """List users"""
    return service.search(AccountKind.PERSON, **page)


@bp.post("", needs=Permission.ADMIN, refuses=(409,))
@bp.arguments(schemas.NewUser)
@bp.response(201, schemas.UserDetail)
def create(data: dict[str, Any]) -> tuple[Account, dict[str, str]]:
    """Create a user"""
    account = service.create(current_actor, **data)
    return account, {"Location": url_for(".show", account_id=account.id)}


@bp.get("/<id:account_id>", needs=Permission.ADMIN)
@bp.response(200, schemas.UserDetail)
def show(account_id: int) -> Account:
    """Read a user"""
    return service.get(account_id)


@bp.get("/inactive", needs=Permission.ADMIN)
@bp.arguments(PageQuery, location="query")
@bp.response(200, schemas.InactiveUserList)
def index_inactive(page: dict[str, int]) -> Page[Any]:
    """List inactive users

    People without a sign-in and without use of a personal token for the configured number of
    days (180 unless set otherwise). Who never signed in counts from the account's creation.
    """
    return inactive.search(after=_threshold(), **page)


@bp.post("/inactive/delete", needs=Permission.ADMIN)
@bp.arguments(schemas.UserIds)
@bp.response(200)
def remove_inactive(data: dict[str, list[int]]) -> Response:
    """Delete inactive users

    Deletes those of the given users who are inactive at this moment. Everybody else is left
    alone: unknown ids, active people, service accounts, the caller and the last Admin.
    """
    inactive.remove(current_actor, data["ids"], after=_threshold())
    return no_body()


def _threshold() -> timedelta:
    return timedelta(days=current_app.config["SETTINGS"].inactivity_days)
