"""Secrets of ours, of which the database knows the digest alone."""

import secrets
from hashlib import sha256


def generate() -> str:
    """256 random bits, fit for an address."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """A plain hash is enough: nobody guesses 256 bits, so there is nothing to slow down."""
    return sha256(secret.encode()).digest()
