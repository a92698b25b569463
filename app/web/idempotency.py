"""A repeated POST gets the first response, so that a client can retry after a lost connection."""

import hmac
import re
from datetime import datetime, timedelta

import sqlalchemy as sa
from flask import Response, request
from sqlalchemy import LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import utcnow
from app.core.db import Model, RetryTransaction, db, save
from app.core.errors import Conflict, Invalid
from app.core.quotas import Quota
from app.web.current import current_key

HEADER = "Idempotency-Key"
RETENTION = timedelta(hours=24)

_is_key = re.compile(r"[\x21-\x7e]{1,255}").fullmatch


class FirstAnswer(Model):
    """The first request with a key, as a digest, and its response."""

    __tablename__ = "first_answers"

    token_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    request_digest: Mapped[bytes] = mapped_column(LargeBinary(32))
    status: Mapped[int | None]
    location: Mapped[str | None] = mapped_column(String(500))
    etag: Mapped[str | None] = mapped_column(String(100))
    body: Mapped[bytes | None]
    """None if it has a secret, which is never stored, or is too long."""
    created_at: Mapped[datetime] = mapped_column(default=utcnow, index=True)


FIRST_ANSWERS = Quota(
    FirstAnswer, "responses to requests with an Idempotency-Key", "token", rows=1_000, bytes=64_000
)


def begin(token_id: int | None) -> FirstAnswer | None:
    """Claim the request's key; None without one. If it has a status, call ``repeat``."""
    key = request.headers.get(HEADER)
    if key is None:
        return None
    if not _is_key(key):
        message = "Must have 1 to 255 printable ASCII characters."
        raise Invalid.at(HEADER, message)
    if token_id is None:
        raise Invalid.at(HEADER, "Only a request with a token can have one.")
    db.session.execute(sa.delete(FirstAnswer).where(FirstAnswer.created_at < utcnow() - RETENTION))
    digest = _digest_of_request()
    known = db.session.get(FirstAnswer, (token_id, key))
    if known is None:
        claimed = FirstAnswer(token_id=token_id, key=key, request_digest=digest)
        # Another request with this key may be running or have just ended: then start again.
        save(claimed, if_taken=RetryTransaction())
        FIRST_ANSWERS.drop_oldest(FirstAnswer.token_id == token_id, by=FirstAnswer.created_at)
        return claimed
    if known.request_digest != digest:
        raise Conflict(f"This {HEADER} was used for a different request. Choose another.")
    return known


def repeat(first: FirstAnswer) -> Response:
    """The first response again."""
    if first.body is None:
        raise Conflict(
            "This request has already succeeded. Its response is not stored, since it had a secret "
            "or is too long. If you lost a secret, revoke the token and create another. Otherwise "
            "read what the request has made."
        )
    headers = {"Location": first.location, "ETag": first.etag, "Idempotent-Replay": "true"}
    answer = Response(
        first.body,
        status=first.status,
        headers={name: value for name, value in headers.items() if value is not None},
        mimetype="application/json",
    )
    if not first.body:
        del answer.headers["Content-Type"]  # an empty body has no type
    return answer


def keep(first: FirstAnswer, answer: Response, *, has_secret: bool) -> None:
    """Store the response in the transaction of the work itself."""
    first.status = answer.status_code
    first.location = answer.headers.get("Location")
    first.etag = answer.headers.get("ETag")
    body = answer.get_data()
    first.body = None if has_secret or len(body) > FIRST_ANSWERS.bytes else body


def _digest_of_request() -> bytes:
    """A keyed digest of the request: a password in it could be guessed from a plain one."""
    head = f"{request.method}\n{request.full_path}\n".encode()
    return hmac.digest(current_key().encode(), head + request.get_data(), "sha256")
