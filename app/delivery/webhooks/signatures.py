"""Secrets of webhooks, in the form of Standard Webhooks, whose library signs with them.

A secret is not stored. It is derived from the operator's secret key and a salt, so the database
alone isn't enough to sign anything.
"""

import hmac
from base64 import b64encode
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
