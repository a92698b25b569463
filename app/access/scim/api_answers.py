"""Answers and refusals of SCIM, for which nothing has to be loaded."""

from typing import Any

from flask import Response, json

from app.core.errors import DomainError

TYPE = "application/scim+json"
TYPES = (TYPE, "application/json")


class ScimRefused(DomainError):
    """A request that SCIM does not allow. ``scim_type``: the reason, by its name in RFC 7644."""

    name = "ScimError"
    when = "A directory sends what SCIM does not allow."
    remedy = "The message says what is wrong. RFC 7644 explains the word in scimType."

    def __init__(self, message: str, *, status: int, scim_type: str | None) -> None:
        super().__init__(message)
        self.status, self.scim_type = status, scim_type


def respond(content: dict[str, Any], status: int = 200) -> Response:
    return Response(json.dumps(content), int(status), content_type=TYPE)
