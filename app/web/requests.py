"""Options of every JSON request: a reason, a dry run, a retry, an unchanged state."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import Any

from flask import current_app, g, request
from marshmallow import ValidationError

from app.core.errors import Invalid, PreconditionFailed, UnsupportedContentType
from app.web import idempotency
from app.web.extended import PARAMETER
from app.web.schemas import Schema, SingleLine

REASON_HEADER = "X-Reason"
DRY_RUN_HEADER = "X-Dry-Run"
REASON = SingleLine(low=0, high=500)
ETAG_LENGTH = 32


def check_content_type() -> None:
    has_body = bool(request.content_length) or "Transfer-Encoding" in request.headers
    if not has_body:
        return
    charset = request.mimetype_params.get("charset", "utf-8").lower()
    if request.mimetype != "application/json" or charset != "utf-8":
        raise UnsupportedContentType


def is_dry_run(parameters: Collection[str] = ()) -> bool:
    """Whether a dry run is asked for: then the changes are rolled back before the response.

    ``X-Dry-Run: true`` and ``?dryRun=true`` both ask for it; the response then has the header.
    ``parameters``: others that the route takes.
    """
    asked = request.args.to_dict()
    wanted = {
        "?dryRun": asked.pop("dryRun", "false"),
        DRY_RUN_HEADER: request.headers.get(DRY_RUN_HEADER, "false"),
    }
    problems = [
        (f"?{name}", "Unknown parameter.") for name in asked if name not in {*parameters, PARAMETER}
    ]
    problems += [
        (place, "Must be true or false.")
        for place, value in wanted.items()
        if value not in {"true", "false"}
    ]
    if problems:
        raise Invalid.because([{"path": path, "message": message} for path, message in problems])
    g.is_dry_run = "true" in wanted.values()
    return bool(g.is_dry_run)


def take_reason() -> None:
    """Give the actor the reason that was sent, for their events."""
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
    """Refuse a change that was based on another state than ``current``; None: nothing exists yet.

    Applies only to requests with the header If-Match.
    """
    if "If-Match" not in request.headers:
        return
    if current is None or not request.if_match.contains(etag(schema, schema().dump(current))):
        raise PreconditionFailed(
            "Someone else changed this since you read it. Read it again, then send your change "
            "with the new ETag."
        )


def refuse_if_match() -> None:
    """Refuse the header If-Match where nothing has an ETag: ignoring it could lose an update."""
    if "If-Match" in request.headers:
        raise PreconditionFailed(
            "This request does not replace anything that has an ETag. Leave If-Match out."
        )


def etag(schema: type[Schema], dump: dict[str, Any]) -> str:
    """A digest of ``dump``, without the schema's volatile fields."""
    lasting = {key: value for key, value in dump.items() if key not in schema.volatile}
    for name in schema.volatile:
        outer, _, field = name.partition(".")
        if field:
            lasting[outer] = [
                {k: v for k, v in each.items() if k != field} for each in lasting[outer]
            ]
    return sha256(current_app.json.dumps(lasting).encode()).hexdigest()[:ETAG_LENGTH]
