"""Requests and responses of SCIM 2.0 (RFC 7644), for users and groups alike."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from flask import Blueprint, Flask, Response, g, json, request
from pydantic import ValidationError
from scim2_models import (
    Context,
    Error,
    Resource,
    ResponseParameters,
    SCIMException,
    SearchRequest,
)

from app.access.auth import identity
from app.access.scim import queries, schemas
from app.access.scim.schemas import SERVICE, Group, User
from app.access.scim_tokens import service as tokens
from app.access.scim_tokens.pages import SCIM
from app.accounts.tokens.secrets import sent_in
from app.core.actor import Actor
from app.core.errors import (
    DomainError,
    Invalid,
    NameExists,
    PreconditionFailed,
    UnsupportedContentType,
)
from app.web import refusals, strict_json
from app.web.current import current_settings
from app.web.http import SAFE_METHODS
from app.web.routes import Routes

TYPE = "application/scim+json"
TYPES = (TYPE, "application/json")
MOST_OPERATIONS = 1_000
"""In one PATCH. Members of a group are many values of one operation."""
PARAMETERS = {
    *("filter", "sortBy", "sortOrder", "startIndex", "count"),
    *("attributes", "excludedAttributes"),
}

# Made once: making such a class takes longer than reading a request with it.
PARTS: dict[type[Any], Any] = {User: ResponseParameters[User], Group: ResponseParameters[Group]}


class ScimRefused(DomainError):
    """A request that SCIM does not allow. ``scim_type``: the reason, by its name in RFC 7644."""

    name = "ScimError"
    when = "A directory sends what SCIM does not allow."
    remedy = "The message says what is wrong. RFC 7644 explains the word in scimType."

    def __init__(self, message: str, *, status: int, scim_type: str | None) -> None:
        super().__init__(message)
        self.status, self.scim_type = status, scim_type


class _Scim(Routes, Blueprint):  # type: ignore[misc] # route() asks for more
    """Routes of SCIM, for callers with a SCIM token."""

    answers_json = True

    def identify(self) -> Actor:
        secret = sent_in(request.headers.get("Authorization", ""))
        actor, used = tokens.actor_of(secret, request.remote_addr)
        if used is not None:
            g.used_scim_token = used
        return actor

    def answer(self, view: Callable[[], Any], *, is_change: bool) -> Any:  # noqa: ARG002 - SCIM goes by the method
        has_body = request.method in {"POST", "PUT", "PATCH"}
        if has_body and request.mimetype not in TYPES:
            raise UnsupportedContentType
        try:
            with SERVICE:
                return view()
        except SCIMException as error:
            raise _refusal(error.to_error()) from None
        except ValidationError as error:
            raise _refusal(Error.from_validation_errors(error)[0]) from None


bp = _Scim("scim", __name__, url_prefix=SCIM)


def init_app(app: Flask) -> None:
    refusals.render(app, SCIM + "/", _render)
    identity.store_after("used_scim_token", tokens.note_use)


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


def respond(content: dict[str, Any], status: int = HTTPStatus.OK) -> Response:
    return Response(json.dumps(content), int(status), content_type=TYPE)


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


def _render(error: DomainError) -> Response:
    """A refusal as an error response of RFC 7644."""
    kinds = {NameExists: "uniqueness", Invalid: "invalidValue"}
    by_kind = next((word for kind, word in kinds.items() if isinstance(error, kind)), None)
    body = Error(
        status=error.status,
        scim_type=getattr(error, "scim_type", by_kind),
        detail=error.message,
    )
    return respond(body.model_dump(), error.status)
