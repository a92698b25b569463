"""Discovery (RFC 7644, 4): what this SCIM server can do, and its schemas of users and groups."""

from collections.abc import Callable
from typing import Any

from flask import Response, request
from scim2_models import Context, ListResponse, ResourceType, Schema

from app.access.scim import schemas
from app.access.scim.api_answers import ScimRefused, respond
from app.access.scim.schemas import SERVICE
from app.core.errors import NotFound


def show_config() -> Response:
    """What this server can do."""
    config = schemas.CONFIG.model_copy()
    return respond(config.model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE))


def index_resource_types() -> Response:
    """Users and groups."""
    return _whole_list(list(SERVICE.resource_types), ListResponse[ResourceType])


def show_resource_type(name: str) -> Response:
    return _one_of(SERVICE.resource_types, name)


def index_schemas() -> Response:
    """What users and groups consist of."""
    return _whole_list(list(SERVICE.schemas), ListResponse[Schema])


def show_schema(name: str) -> Response:
    return _one_of(SERVICE.schemas, name)


def _whole_list(resources: list[Any], make: Callable[..., Any]) -> Response:
    if "filter" in request.args:
        raise ScimRefused("These lists can’t be filtered.", status=403, scim_type=None)
    listed = make(
        total_results=len(resources),
        start_index=1,
        items_per_page=len(resources),
        resources=resources,
    )
    return respond(listed.model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE))


def _one_of(resources: Any, name: str) -> Response:
    for each in resources:
        if str(each.id).casefold() == name.casefold():
            return respond(each.model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE))
    raise NotFound(f"There is no {name} here.")
