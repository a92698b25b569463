"""Secrets that Flagstaff creates. The database has only their digests.

A proof needs no database: ``flagstaff doctor --proxy`` sends one to learn how its requests arrive.
It is signed with the secret key, which only the operator of this instance can read.
"""

import secrets
from hashlib import sha256

from itsdangerous import BadSignature, TimestampSigner


def generate() -> str:
    """256 random bits, fit for an address."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """A plain hash is enough: 256 bits can't be guessed, so there is nothing to slow down."""
    return sha256(secret.encode()).digest()


PROOF_SECONDS = 60
_SALT = "arrival"
_VALUE = "arrival"


def create_proof(key: str) -> str:
    """A value for ``Authorization``, valid for a minute."""
    return TimestampSigner(key, _SALT).sign(_VALUE).decode()


def is_valid_proof(sent: str, key: str) -> bool:
    try:
        return TimestampSigner(key, _SALT).unsign(sent, PROOF_SECONDS) == _VALUE.encode()
    except BadSignature:
        return False
