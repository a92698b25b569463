"""SCIM 2.0 (RFC 7644): how a directory manages users and groups.

Its models take half a second to load, and most instances have no directory. So the views are loaded
with the first request of one, or when the server starts if there is a SCIM token.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from flask import Blueprint, Flask, Response, g, request

from app.access.auth import identity
from app.access.scim.api_answers import TYPES, respond
from app.access.scim_tokens import service as tokens
from app.access.scim_tokens.pages import SCIM
from app.accounts.tokens.secrets import sent_in
from app.core.actor import Actor
from app.core.errors import DomainError, Invalid, NameExists, UnsupportedContentType
from app.core.permissions import Permission
from app.web import refusals
from app.web.routes import Routes

ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
ROUTES = (
    ("GET", "/ServiceProviderConfig", "show_config"),
    ("GET", "/ResourceTypes", "index_resource_types"),
    ("GET", "/ResourceTypes/<name>", "show_resource_type"),
    ("GET", "/Schemas", "index_schemas"),
    ("GET", "/Schemas/<name>", "show_schema"),
    ("POST", "/.search", "search_all"),
    ("GET", "/Users", "index_users"),
    ("POST", "/Users", "create_user"),
    ("POST", "/Users/.search", "search_users"),
    ("GET", "/Users/<id>", "show_user"),
    ("PUT", "/Users/<id>", "replace_user"),
    ("PATCH", "/Users/<id>", "patch_user"),
    ("DELETE", "/Users/<id>", "remove_user"),
    ("GET", "/Groups", "index_groups"),
    ("POST", "/Groups", "create_group"),
    ("POST", "/Groups/.search", "search_groups"),
    ("GET", "/Groups/<id>", "show_group"),
    ("PUT", "/Groups/<id>", "replace_group"),
    ("PATCH", "/Groups/<id>", "patch_group"),
    ("DELETE", "/Groups/<id>", "remove_group"),
)
"""Method, address and view of each."""


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
        from app.access.scim.api_base import answer  # noqa: PLC0415 - see above

        return answer(view)


bp = _Scim("scim", __name__, url_prefix=SCIM)


@cache
def views() -> Mapping[str, Callable[..., Response]]:
    """The views by name."""
    from app.access.scim import (  # noqa: PLC0415 - see above
        api_discovery,
        api_groups,
        api_search,
        api_users,
    )

    modules = api_discovery, api_groups, api_search, api_users
    return {name: view for module in modules for name, view in vars(module).items()}


def _declare(method: str, rule: str, name: str) -> None:
    def view(**values: str) -> Response:
        return views()[name](**values)

    route = bp.route(
        rule,
        needs=Permission.ADMIN,
        writes=not rule.endswith("/.search"),
        methods=[method],
        endpoint=name,
    )
    route(view)


for _route in ROUTES:
    _declare(*_route)


def load_if_used() -> None:
    """Load the views if a directory has a token. Before the fork, all workers share them."""
    if tokens.list_all():
        views()


def init_app(app: Flask) -> None:
    refusals.render(app, SCIM + "/", _render)
    identity.store_after("used_scim_token", tokens.note_use)


def _render(error: DomainError) -> Response:
    """A refusal as an error response of RFC 7644."""
    kinds = {NameExists: "uniqueness", Invalid: "invalidValue"}
    by_kind = next((word for kind, word in kinds.items() if isinstance(error, kind)), None)
    scim_type = getattr(error, "scim_type", by_kind)
    body = {"schemas": [ERROR], "status": str(error.status)}
    body |= {"scimType": scim_type} if scim_type else {}
    return respond(body | {"detail": error.message}, error.status)
