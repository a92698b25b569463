"""Requests and responses of SCIM 2.0 (RFC 7644), for users and groups alike."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from flask import Response, request
from pydantic import ValidationError
from scim2_models import (
    Context,
    Error,
    Resource,
    ResponseParameters,
    SCIMException,
    SearchRequest,
)

from app.access.scim import queries, schemas
from app.access.scim.api_answers import ScimRefused, respond
from app.access.scim.schemas import SERVICE, Group, User
from app.access.scim_tokens.pages import SCIM
from app.core.errors import PreconditionFailed
from app.web import strict_json
from app.web.current import current_settings
from app.web.http import SAFE_METHODS

MOST_OPERATIONS = 1_000
"""In one PATCH. Members of a group are many values of one operation."""
PARAMETERS = {
    *("filter", "sortBy", "sortOrder", "startIndex", "count"),
    *("attributes", "excludedAttributes"),
}

# Made once: making such a class takes longer than reading a request with it.
PARTS: dict[type[Any], Any] = {User: ResponseParameters[User], Group: ResponseParameters[Group]}


def answer(view: Callable[[], Any]) -> Any:
    """What the view answers, or the refusal of what is not as SCIM wants it."""
    try:
        with SERVICE:
            return view()
    except SCIMException as error:
        raise _refusal(error.to_error()) from None
    except ValidationError as error:
        raise _refusal(Error.from_validation_errors(error)[0]) from None


def list_response(
    asked: SearchRequest[Any],
    known: queries.Conditions,
    search: Callable[..., Any],
    shown: Callable[[list[Any]], list[Any]],
    make: Callable[..., Any],
) -> Response:
    """A page of the matching resources.

    The database filters, unless only Python can apply the filter or the order. ``search``: reads
    rows. ``shown``: turns rows into resources. ``make``: makes the response from them.
    """
    wanted = None if asked.filter is None else queries.condition(asked.filter.ast, known)
    conditions = [] if wanted is None else [wanted]
    if asked.sort_by is None and (asked.filter is None or wanted is not None):
        page = search(*conditions, limit=_count(asked), offset=asked.start_index_0 or 0)
        return _listed(asked, shown(page.items), page.total, make)
    every = shown(search(*conditions, limit=None).items)
    return page_of(asked, matching(asked, every), make)


def matching(asked: SearchRequest[Any], resources: list[Any]) -> list[Any]:
    matches = [each for each in resources if asked.filter is None or asked.filter.match(each)]
    return asked.sort(matches)


def page_of(asked: SearchRequest[Any], resources: list[Any], make: Callable[..., Any]) -> Response:
    start = asked.start_index_0 or 0
    return _listed(asked, resources[start : start + _count(asked)], len(resources), make)


def _listed(
    asked: SearchRequest[Any], resources: list[Any], total: int, make: Callable[..., Any]
) -> Response:
    listed = make(
        total_results=total,
        start_index=(asked.start_index_0 or 0) + 1,
        items_per_page=len(resources),
        resources=resources,
    )
    return respond(
        listed.model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE, response_parameters=asked)
    )


def _count(asked: SearchRequest[Any]) -> int:
    usual = schemas.USUAL_RESULTS if asked.count is None else asked.count
    return min(usual, schemas.MOST_RESULTS)


def check_version(resource: Resource[Any]) -> None:
    """Refuse to change a resource that has changed since the directory read it."""
    sent = request.headers.get("If-Match", "*").strip()
    version = resource.meta.version if resource.meta else None
    if sent != "*" and version not in [each.strip() for each in sent.split(",")]:
        raise PreconditionFailed("This has changed since you read it. Read it again.")


def respond_with(resource: Any, context: Context, status: int = HTTPStatus.OK) -> Response:
    version = resource.meta.version
    if request.method in SAFE_METHODS and request.headers.get("If-None-Match") == version:
        answer = Response(status=HTTPStatus.NOT_MODIFIED)
    else:
        asked = PARTS[type(resource)].model_validate(query())
        answer = respond(
            resource.model_dump(scim_ctx=context, response_parameters=asked), int(status)
        )
        answer.headers["Location"] = resource.meta.location
    answer.headers["ETag"] = version
    return answer


def query() -> dict[str, str]:
    return {name: value for name, value in request.args.items() if name in PARAMETERS}


def body() -> Any:
    try:
        return strict_json.loads(request.get_data())
    except strict_json.NotStrictJson as error:
        raise ScimRefused(str(error), status=400, scim_type="invalidSyntax") from None


def patch_body() -> Any:
    """The body of a PATCH. Each operation goes through the resource, so their number is bound."""
    sent = body()
    operations = sent.get("Operations") if isinstance(sent, dict) else None
    if isinstance(operations, list) and len(operations) > MOST_OPERATIONS:
        message = f"Send at most {MOST_OPERATIONS:,} operations at once, and the others after them."
        status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        raise ScimRefused(message, status=status, scim_type=None)
    return sent


def root() -> str:
    return current_settings().address(SCIM)


def nothing() -> Response:
    answer = Response(status=HTTPStatus.NO_CONTENT)
    del answer.headers["Content-Type"]
    return answer


def _refusal(error: Error) -> ScimRefused:
    return ScimRefused(
        error.detail or "The request is not valid.",
        status=error.status or 400,
        scim_type=error.scim_type,
    )
