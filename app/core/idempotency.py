"""A repeated POST gives the first answer: what a client may rely on when a connection broke."""

import re
from datetime import datetime, timedelta
from hashlib import sha256

import sqlalchemy as sa
from flask import Response, request
from sqlalchemy import LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Again, Model, db, save, utcnow
from app.core.errors import Conflict, Invalid

HEADER = "Idempotency-Key"
KEPT = timedelta(hours=24)

_is_key = re.compile(r"[\x21-\x7e]{1,255}").fullmatch


class FirstAnswer(Model):
    """What the first request with a key was, by digest, and what it was answered."""

    __tablename__ = "first_answers"

    token_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    request_digest: Mapped[bytes] = mapped_column(LargeBinary(32))
    status: Mapped[int | None]
    location: Mapped[str | None] = mapped_column(String(500))
    etag: Mapped[str | None] = mapped_column(String(100))
    body: Mapped[bytes | None]
    """None where it held a secret, which is kept nowhere."""
    created_at: Mapped[datetime] = mapped_column(default=utcnow, index=True)


def begin(token_id: int) -> FirstAnswer | None:
    """Claim the request's key; None without one. Call ``repeat`` on what has a status already."""
    key = request.headers.get(HEADER)
    if key is None:
        return None
    if not _is_key(key):
        message = "Must have 1 to 255 printable ASCII characters."
        raise Invalid.at(HEADER, message)
    db.session.execute(sa.delete(FirstAnswer).where(FirstAnswer.created_at < utcnow() - KEPT))
    digest = _digest_of_request()
    known = db.session.get(FirstAnswer, (token_id, key))
    if known is None:
        claimed = FirstAnswer(token_id=token_id, key=key, request_digest=digest)
        # Another request with this key is at work or has just ended: then look again.
        save(claimed, if_taken=Again())
        return claimed
    if known.request_digest != digest:
        raise Conflict(f"The {HEADER} was used for a different request; choose another.")
    return known


def repeat(first: FirstAnswer) -> Response:
    """The first answer once more."""
    if first.body is None:
        raise Conflict(
            "This request was done already. Its answer held a secret, which is kept nowhere; "
            "revoke that token and make another one if the answer was lost."
        )
    headers = {"Location": first.location, "ETag": first.etag, "Idempotent-Replay": "true"}
    answer = Response(
        first.body,
        status=first.status,
        headers={name: value for name, value in headers.items() if value is not None},
        mimetype="application/json",
    )
    if not first.body:
        del answer.headers["Content-Type"]  # zero bytes have no type, as in the first answer
    return answer


def keep(first: FirstAnswer, answer: Response, *, has_secret: bool) -> None:
    """Remember the answer in the transaction of the work itself."""
    first.status = answer.status_code
    first.location = answer.headers.get("Location")
    first.etag = answer.headers.get("ETag")
    first.body = None if has_secret else answer.get_data()


def _digest_of_request() -> bytes:
    parts = (request.method, request.full_path)
    return sha256("\n".join(parts).encode() + b"\n" + request.get_data()).digest()
