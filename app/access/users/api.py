from typing import Any

from flask import Response, jsonify, url_for

from app.access.groups import service as groups
from app.access.users import inactive, schemas
from app.access.users.requests import create_link
from app.accounts import admins, passwords
from app.accounts import service as accounts
from app.accounts.models import Account, AccountKind
from app.accounts.tokens import service as tokens
from app.accounts.tokens.models import Token
from app.accounts.tokens.schemas import TokenList
from app.core.errors import Invalid
from app.core.paging import Page
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.web import extended
from app.web.current import current_actor, current_settings
from app.web.listing import MAX_LIMIT, PageQuery, whole
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body
from app.web.schemas import MAX_ITEMS

bp = ApiBlueprint(
    "users",
    __name__,
    url_prefix="/api/admin/user-admin",
    description="People, and deleting those who have been inactive for long.",
)


@bp.get("", needs=Permission.ADMIN)
@bp.arguments(whole(schemas.UserQuery), location="query")
@bp.response(200, schemas.UserList)
def index(query: dict[str, Any]) -> Page[Account]:
    """List users"""
    return accounts.search(AccountKind.PERSON, **query)


@bp.post("", needs=Permission.ADMIN, answers_with_secret=True)
@bp.arguments(schemas.Invitation, example={"username": "ada", "rootRole": 2})
@bp.response(201, schemas.CreatedUser)
def create(data: dict[str, Any]) -> tuple[Response, int, dict[str, str]]:
    """Create a user

    Without a password, the response contains a one-time link to set one. If the operator set a
    mail server, the person gets it by mail too, and `emailSent` is true.
    """
    by_mail, password = data.pop("send_email"), data.pop("password", None)
    account = accounts.create(current_actor, **data)
    body = schemas.UserDetail().dump(account)
    if password is None:
        link, is_sent = create_link(account, is_new=True, by_mail=by_mail)
        body |= {"inviteLink": link, "emailSent": is_sent}
    else:
        _set_password(account, password)
    shown = extended.shown(schemas.CreatedUser(), body)
    return jsonify(shown), 201, {"Location": url_for(".show", account_id=account.id)}


@bp.get("/<id:account_id>", needs=Permission.ADMIN)
@bp.response(200, schemas.UserDetail, etag=True)
def show(account_id: int) -> Account:
    """Read a user"""
    return accounts.get(account_id)


@bp.put("/<id:account_id>", needs=Permission.ADMIN, refuses=(409, 412))
@bp.arguments(schemas.UserChanges, example={"rootRole": 3})
@bp.response(200, schemas.UserDetail, etag=True)
def update(data: dict[str, Any], account_id: int) -> Account:
    """Update a user

    Fields that are left out keep their value. The last Admin who can sign in keeps that role.
    """
    account = accounts.get_for_change(account_id)
    check_if_match(schemas.UserDetail, account)
    accounts.update(current_actor, account, **data)
    return account


@bp.delete("/<id:account_id>", needs=Permission.ADMIN, refuses=(409, 412))
@bp.response(200)
def remove(account_id: int) -> Response:
    """Delete a user

    Their tokens stop working immediately, and the username and email become free. The user can be
    restored within 30 days.
    """
    account = accounts.get_for_change(account_id)
    check_if_match(schemas.UserDetail, account)
    accounts.remove(current_actor, account)
    return no_body()


@bp.post("/<id:account_id>/restore", needs=Permission.ADMIN)
@bp.response(200, schemas.UserDetail)
def restore(account_id: int) -> Account:
    """Restore a user who was deleted in the last 30 days

    Roles come back, tokens do not.
    """
    return accounts.restore(current_actor, account_id)


@bp.post("/<id:account_id>/deactivate", needs=Permission.ADMIN, refuses=(409,))
@bp.response(200, schemas.UserDetail)
def deactivate(account_id: int) -> Account:
    """Keep a user from signing in

    Their sessions and tokens end. Names, roles and history stay, until the user is reactivated or
    deleted. Again for the same user, it changes nothing.
    """
    accounts.deactivate_all(current_actor, [account_id])
    return accounts.get(account_id)


@bp.post("/deactivate", needs=Permission.ADMIN, refuses=(404, 409))
@bp.arguments(schemas.UserIds, example={"ids": [12, 15]})
@bp.response(200, schemas.ChangedUsers)
def deactivate_several(data: dict[str, list[int]]) -> dict[str, Any]:
    """Keep several users from signing in

    All of them or none. Lists those who were not deactivated yet.
    """
    return {"users": accounts.deactivate_all(current_actor, data["ids"])[0]}


@bp.post("/reactivate", needs=Permission.ADMIN, refuses=(404, 409))
@bp.arguments(schemas.UserIds, example={"ids": [12, 15]})
@bp.response(200, schemas.ChangedUsers)
def reactivate_several(data: dict[str, list[int]]) -> dict[str, Any]:
    """Let several deactivated users sign in again

    All of them or none. Lists those who were deactivated. Their roles are back, their tokens are
    not.
    """
    return {"users": accounts.reactivate_all(current_actor, data["ids"])}


@bp.post("/<id:account_id>/reactivate", needs=Permission.ADMIN)
@bp.response(200, schemas.UserDetail)
def reactivate(account_id: int) -> Account:
    """Let a deactivated user sign in again

    409 for one who is not deactivated, and while a directory manages them.
    """
    account = accounts.get_for_change(account_id)
    accounts.reactivate(current_actor, account)
    return account


@bp.get("/<id:account_id>/token", needs=Permission.ADMIN)
@bp.arguments(PageQuery, location="query")
@bp.response(200, TokenList)
def index_tokens(page: dict[str, int], account_id: int) -> Page[Token]:
    """List the personal tokens of a user"""
    return tokens.search(accounts.get(account_id).id, **page)


@bp.delete("/<id:account_id>/token/<id:token_id>", needs=Permission.ADMIN)
@bp.response(200)
def revoke_token(account_id: int, token_id: int) -> Response:
    """Revoke a personal token of a user

    It stops working immediately.
    """
    tokens.revoke(current_actor, accounts.get(account_id).id, token_id)
    return no_body()


@bp.post("/<id:account_id>/change-password", needs=Permission.ADMIN, refuses=(409,))
@bp.arguments(schemas.Password, example={"password": "four words no one can guess"})
@bp.response(200)
def set_password(data: dict[str, str], account_id: int) -> Response:
    """Set the password of a user

    Their sessions end. A link, which only they use, is safer.
    """
    _set_password(accounts.get_for_change(account_id), data["password"])
    return no_body()


@bp.post("/reset-password", needs=Permission.ADMIN, refuses=(404,), answers_with_secret=True)
@bp.arguments(schemas.UserId, example={"id": 12})
@bp.response(200, schemas.PasswordLink)
def reset_password(data: dict[str, int]) -> dict[str, str]:
    """Create a link with which a user sets a new password"""
    link = create_link(accounts.get_for_change(data["id"]), is_new=False)
    return {"reset_password_url": link.address}


@bp.post("/validate-password", needs=Access.SIGNED_IN, keeps=NOTHING, writes=False)
@bp.arguments(schemas.Password, example={"password": "four words no one can guess"})
@bp.response(200)
def check_password(data: dict[str, str]) -> Response:
    """Check whether a password is good enough"""
    passwords.refuse_weak(Account(), data["password"], current_settings().password_min)
    return no_body()


@bp.get("/search", needs=Permission.ADMIN)
@bp.arguments(schemas.UserSearch, location="query")
@bp.response(200, schemas.FoundUser(many=True))
def search(query: dict[str, str]) -> list[Account]:
    """Find users by a part of their username, name or email"""
    text = query["q"]
    return accounts.search(AccountKind.PERSON, limit=MAX_LIMIT, offset=0, text=text).items


@bp.get("/access", needs=Permission.ADMIN)
@bp.response(200, schemas.UsersAndGroups)
def index_with_groups() -> dict[str, Any]:
    """List users and groups by their names"""
    return {
        "users": accounts.search(AccountKind.PERSON, limit=MAX_ITEMS, offset=0).items,
        "groups": groups.search(limit=MAX_ITEMS, offset=0).items,
    }


@bp.get("/admin-count", needs=Permission.ADMIN)
@bp.response(200, schemas.AdminCount)
def count_admins() -> dict[str, int]:
    """Count Admins by how they sign in"""
    return admins.counts()


@bp.delete("/scim-users", needs=Permission.ADMIN, refuses=(409,))
@bp.response(200)
def remove_managed() -> Response:
    """Delete all users whom a directory manages

    They can be restored within 30 days. The directory creates them again when it next sends them.
    """
    for account in accounts.managed():
        accounts.remove(current_actor, account, by_directory=True)
    return no_body()


def _set_password(account: Account, password: str) -> None:
    shortest = current_settings().password_min
    try:
        passwords.set_by_admin(current_actor, account, password=password, shortest=shortest)
    except Invalid as error:
        raise error.moved("/newPassword", "/password") from None


@bp.get("/inactive", needs=Permission.ADMIN)
@bp.arguments(whole(PageQuery), location="query")
@bp.response(200, schemas.InactiveUserList)
def index_inactive(page: dict[str, int]) -> Page[Any]:
    """List inactive users

    People who have neither signed in nor used a personal token for the configured number of days
    (180 by default). For people who never signed in, counting starts when the account was created.
    """
    return inactive.search(
        after=current_settings().inactivity, limit=page["limit"], offset=page["offset"]
    )


@bp.post("/inactive/delete", needs=Permission.ADMIN)
@bp.arguments(schemas.UserIds, example={"ids": [12, 15]})
@bp.response(200)
def remove_inactive(data: dict[str, list[int]]) -> Response:
    """Delete inactive users

    Deletes the given users who are inactive at this moment. Skips everything else: unknown ids,
    active people, service accounts, the caller and the last Admin.
    """
    inactive.remove(current_actor, data["ids"], after=current_settings().inactivity)
    return no_body()
