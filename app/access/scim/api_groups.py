from functools import partial
from http import HTTPStatus

from flask import Response, request
from scim2_models import Context, ListResponse, PatchOp, PatchOperation, SearchRequest

from app.access.groups.models import Group as StoredGroup
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
from app.access.scim.schemas import Group
from app.accounts.models import key_of
from app.web.current import current_actor

# Made once: making such a class takes longer than reading a request with it.
GroupPatch, GroupSearch, GroupList = PatchOp[Group], SearchRequest[Group], ListResponse[Group]


def index_groups() -> Response:
    """Find groups."""
    return found_groups(GroupSearch.model_validate(query()))


def search_groups() -> Response:
    """Find groups, by a request that is too long for an address."""
    asked = GroupSearch.model_validate(body(), scim_ctx=Context.SEARCH_REQUEST)
    return found_groups(asked)


def create_group() -> Response:
    """Create a group."""
    sent = Group.model_validate(body(), scim_ctx=Context.RESOURCE_CREATION_REQUEST)
    group = service.create_group(current_actor, schemas.group_facts(sent))
    return respond_with(shown_group(group), Context.RESOURCE_CREATION_RESPONSE, HTTPStatus.CREATED)


def show_group(id: str) -> Response:
    """Read a group."""
    return respond_with(shown_group(service.group(id)), Context.RESOURCE_QUERY_RESPONSE)


def replace_group(id: str) -> Response:
    """Replace the name and the members of a group."""
    group = service.group(id, for_change=True)
    present = shown_group(group)
    check_version(present)
    sent = Group.model_validate(body(), scim_ctx=Context.RESOURCE_REPLACEMENT_REQUEST)
    service.change_group(current_actor, group, schemas.group_facts(sent))
    return respond_with(shown_group(group), Context.RESOURCE_REPLACEMENT_RESPONSE)


def patch_group(id: str) -> Response:
    """Change the name of a group, add members or remove some."""
    group = service.group(id, for_change=True)
    patch = GroupPatch.model_validate(patch_body(), scim_ctx=Context.RESOURCE_PATCH_REQUEST)
    only_members = _members_alone(patch.operations or [])
    if only_members is not None and "If-Match" not in request.headers:
        added, removed = only_members
        service.change_members(current_actor, group, added=added, removed=removed)
        return nothing()
    present = shown_group(group)
    check_version(present)
    patch.patch(present)
    service.change_group(current_actor, group, schemas.group_facts(present))
    return respond_with(shown_group(group), Context.RESOURCE_PATCH_RESPONSE)


def remove_group(id: str) -> Response:
    """Delete a group. Its members lose what it gave."""
    group = service.group(id, for_change=True)
    check_version(shown_group(group))
    service.remove_group(current_actor, group)
    return nothing()


def found_groups(asked: SearchRequest[Group]) -> Response:
    known: queries.Conditions = {
        "id": lambda value: StoredGroup.id == service.number(value),
        "displayname": lambda value: StoredGroup.name_key == key_of(value),
        "externalid": lambda value: StoredGroup.external_id == value,
    }
    excluded = {str(path).casefold() for path in asked.excluded_attributes or ()}
    groups = partial(shown_groups, with_members="members" not in excluded)
    return list_response(asked, known, service.groups_of_directory, groups, GroupList)


def shown_groups(groups: list[StoredGroup], *, with_members: bool = True) -> list[Group]:
    if not with_members:
        return [schemas.group_of(group, [], root()) for group in groups]
    members = service.members([group.id for group in groups])
    return [schemas.group_of(group, members[group.id], root()) for group in groups]


def shown_group(group: StoredGroup) -> Group:
    return shown_groups([group])[0]


def _members_alone(
    operations: list[PatchOperation[Group]],
) -> tuple[set[int], set[int]] | None:
    """The ids to add and to remove, or None if the patch does anything else.

    Directories often change a few members of a large group. This needs no list of all members.
    """
    added: set[int] = set()
    removed: set[int] = set()
    for each in operations:
        if each.op is PatchOperation.Op.replace_ or str(each.path).casefold() != "members":
            return None
        values = each.value if isinstance(each.value, list) else [each.value]
        if not all(isinstance(value, dict) for value in values):
            return None
        ids = {schemas.member_id(dict(value or {}).get("value")) for value in values}
        if each.op is PatchOperation.Op.add:
            added, removed = added | ids, removed - ids
        else:
            added, removed = added - ids, removed | ids
    return added, removed
