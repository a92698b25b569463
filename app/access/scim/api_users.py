from http import HTTPStatus

from flask import Response
from scim2_models import Context, ListResponse, PatchOp, SearchRequest

from app.access.scim import queries, schemas, service
from app.access.scim.api_base import (
    body,
    check_version,
    list_response,
    nothing,
    patch_body,
    query,
    respond_with,
    root,
)
from app.access.scim.schemas import User
from app.accounts.models import Account, key_of
from app.web.current import current_actor

# Made once: making such a class takes longer than reading a request with it.
UserPatch, UserSearch, UserList = PatchOp[User], SearchRequest[User], ListResponse[User]


def index_users() -> Response:
    """Find users."""
    return found_users(UserSearch.model_validate(query()))


def search_users() -> Response:
    """Find users, by a request that is too long for an address."""
    asked = UserSearch.model_validate(body(), scim_ctx=Context.SEARCH_REQUEST)
    return found_users(asked)


def create_user() -> Response:
    """Create a user."""
    sent = User.model_validate(body(), scim_ctx=Context.RESOURCE_CREATION_REQUEST)
    account = service.create_user(current_actor, schemas.user_facts(sent))
    return respond_with(shown_user(account), Context.RESOURCE_CREATION_RESPONSE, HTTPStatus.CREATED)


def show_user(id: str) -> Response:
    """Read a user."""
    return respond_with(shown_user(service.user(id)), Context.RESOURCE_QUERY_RESPONSE)


def replace_user(id: str) -> Response:
    """Replace what the directory says about a user."""
    account = service.user(id, for_change=True)
    present = shown_user(account)
    check_version(present)
    sent = User.model_validate(body(), scim_ctx=Context.RESOURCE_REPLACEMENT_REQUEST)
    sent.replace(present)
    sent.active = present.active if sent.active is None else sent.active
    service.change_user(current_actor, account, schemas.user_facts(sent))
    return respond_with(shown_user(account), Context.RESOURCE_REPLACEMENT_RESPONSE)


def patch_user(id: str) -> Response:
    """Change some of what the directory says about a user."""
    account = service.user(id, for_change=True)
    user = shown_user(account)
    check_version(user)
    UserPatch.model_validate(patch_body(), scim_ctx=Context.RESOURCE_PATCH_REQUEST).patch(user)
    service.change_user(current_actor, account, schemas.user_facts(user))
    return respond_with(shown_user(account), Context.RESOURCE_PATCH_RESPONSE)


def remove_user(id: str) -> Response:
    """Delete a user. Their sessions and tokens end at once."""
    account = service.user(id, for_change=True)
    check_version(shown_user(account))
    service.remove_user(current_actor, account)
    return nothing()


def found_users(asked: SearchRequest[User]) -> Response:
    known: queries.Conditions = {
        "id": lambda value: Account.id == service.number(value),
        "username": service.is_called,
        "externalid": lambda value: Account.external_id == value,
        "emails": lambda value: Account.email_key == key_of(value),
        "emails.value": lambda value: Account.email_key == key_of(value),
    }
    return list_response(asked, known, service.users, shown_users, UserList)


def shown_users(accounts: list[Account]) -> list[User]:
    groups = service.groups_of([account.id for account in accounts])
    return [schemas.user_of(account, groups[account.id], root()) for account in accounts]


def shown_user(account: Account) -> User:
    return shown_users([account])[0]
