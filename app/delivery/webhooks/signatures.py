"""Secrets and signatures of Standard Webhooks, so that its libraries can verify them.

A secret is not stored. It is derived from the operator's secret key and a salt, so the database
alone isn't enough to sign anything.
"""

import hmac
from base64 import b64decode, b64encode
from datetime import datetime
from secrets import token_bytes

PREFIX = "whsec_"
SALT_BYTES = 32
HINT_LENGTH = 4


def new_salt() -> bytes:
    return token_bytes(SALT_BYTES)


def secret_of(salt: bytes, key: str) -> str:
    """Derive the secret of a webhook. ``key``: the operator's secret key."""
    derived = hmac.digest(key.encode(), b"webhook: " + salt, "sha256")
    return PREFIX + b64encode(derived).decode()


def hint_of(secret: str) -> str:
    """Return the last characters of a secret, without the padding ``=``."""
    return secret.rstrip("=")[-HINT_LENGTH:]


def sign(secret: str, message_id: str, at: datetime, body: bytes) -> str:
    """Return one signature for the header ``webhook-signature``."""
    signed = f"{message_id}.{int(at.timestamp())}.".encode() + body
    digest = hmac.digest(b64decode(secret.removeprefix(PREFIX)), signed, "sha256")
    return f"v1,{b64encode(digest).decode()}"
