"""What every JSON request may ask for: a reason, a rehearsal, a repetition, an unchanged state."""

from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import Any

from flask import current_app, g, request
from marshmallow import ValidationError

from app.core import idempotency
from app.core.errors import Invalid, PreconditionFailed, UnsupportedContentType
from app.core.schemas import Line, Schema

REASON_HEADER = "X-Reason"
REASON = Line(low=0, high=500)
ETAG_LENGTH = 32


def check_content_type() -> None:
    has_body = bool(request.content_length) or "Transfer-Encoding" in request.headers
    if not has_body:
        return
    charset = request.mimetype_params.get("charset", "utf-8").lower()
    if request.mimetype != "application/json" or charset != "utf-8":
        raise UnsupportedContentType


def is_rehearsal() -> bool:
    """Whether ``?dryRun=true`` came along: then the answer is given and the work undone."""
    asked = request.args.to_dict()
    wanted = asked.pop("dryRun", "false")
    problems = [(f"?{name}", "Unknown parameter.") for name in asked]
    if wanted not in {"true", "false"}:
        problems.append(("?dryRun", "Must be true or false."))
    if problems:
        raise Invalid.because([{"path": path, "message": message} for path, message in problems])
    return wanted == "true"


def take_reason() -> None:
    """Give the actor the reason that came with the request, for its events."""
    sent = request.headers.get(REASON_HEADER)
    if sent is None or "actor" not in g:
        return
    with suppress(UnicodeError):
        sent = sent.encode("latin-1").decode("utf-8")  # a header is bytes; clients mean UTF-8
    try:
        reason = REASON.deserialize(sent)
    except ValidationError as error:
        raise Invalid.because(
            [{"path": REASON_HEADER, "message": str(message)} for message in error.messages]
        ) from None
    g.actor = replace(g.actor, reason=reason or None)


def claim() -> idempotency.FirstAnswer | None:
    if request.method != "POST" or "actor" not in g:
        return None
    return idempotency.begin(g.actor.token_id)


def check_if_match(schema: type[Schema], current: Any) -> None:
    """Refuse a change whose sender has seen another state than the present one.

    Without the header If-Match nobody asked.
    """
    if "If-Match" in request.headers and not request.if_match.contains(
        etag(schema, schema().dump(current))
    ):
        raise PreconditionFailed(
            "Somebody changed it since you read it. Read it again, then send your change "
            "with the new ETag."
        )


def etag(schema: type[Schema], dump: dict[str, Any]) -> str:
    """A digest of what the schema shows, without what changes by mere use."""
    lasting = {key: value for key, value in dump.items() if key not in schema.volatile}
    return sha256(current_app.json.dumps(lasting).encode()).hexdigest()[:ETAG_LENGTH]
