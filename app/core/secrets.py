"""Secrets that Flagstaff creates. The database has only their digests."""

import secrets
from hashlib import sha256


def generate() -> str:
    """256 random bits, fit for an address."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """A plain hash is enough: 256 bits can't be guessed, so there is nothing to slow down."""
    return sha256(secret.encode()).digest()
