"""The lists with filters that can be saved, and the parts of an address that are saved."""

from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from flask import current_app, request
from werkzeug.exceptions import HTTPException

from app.web.redirects import own_path
from app.web.rooms import current_rooms
from app.web.schemas import SingleLine

PASSING = {"offset", "before", "limit", "selection", "all", "kept", "format"}
"""Parameters that aren't saved: they choose a page or rows."""


class ListAddress(SingleLine):
    """The address of a list with filters, on this server. Gives its path and its filters."""

    default_error_messages = {  # noqa: RUF012 - as marshmallow has it
        "address": "Must be the address of a list with filters, such as /features?stale=true.",
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(high=2_000, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        parts = urlsplit(own_path(super()._deserialize(value, *args, **kwargs)))
        filters = filters_in(parts.query)
        if title_of(parts.path) is None or not filters:
            raise self.make_error("address")
        return parts.path, filters


def lists() -> dict[str, str]:
    """Return the titles of lists by endpoint."""
    return {endpoint: title for room in current_rooms() for endpoint, title in room.lists.items()}


def title_of(path: str) -> str | None:
    """Return the title of the list at a path of this server; None if there is no list."""
    adapter = current_app.create_url_adapter(request)
    try:
        endpoint, values = adapter.match(path, method="GET") if adapter else ("", {})
    except HTTPException:
        return None
    title = lists().get(endpoint)
    return title and title.format(**values)


def filters_in(query: str) -> str:
    """Return the filters and the order from the query of an address, in a fixed order."""
    given = parse_qsl(query)
    return urlencode(sorted((name, value) for name, value in given if name not in PASSING))
