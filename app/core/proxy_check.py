"""The proof with which ``flagstaff doctor --proxy`` asks how its requests arrived.

It is signed with the secret key, which only the operator of this instance can read.
"""

from itsdangerous import BadSignature, TimestampSigner

SECONDS = 60
_SALT = "arrival"
_VALUE = "arrival"


def create_proof(key: str) -> str:
    """A value for ``Authorization``, valid for a minute."""
    return TimestampSigner(key, _SALT).sign(_VALUE).decode()


def is_valid_proof(sent: str, key: str) -> bool:
    try:
        return TimestampSigner(key, _SALT).unsign(sent, SECONDS) == _VALUE.encode()
    except BadSignature:
        return False
