"""The form of an access token: ``fst_<kind>_<43 base62><6 base62>``.

The 43 characters are 256 random bits, the 6 a CRC-32 of everything before them. Secret scanners
recognize the form, and mistyped tokens are refused without a query.
"""

import re
import secrets
import zlib
from enum import StrEnum

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
SECRET_LENGTH = 43
CHECK_LENGTH = 6
LONGEST = 512
PREFIX = "fst_"

SDK_MARK = ".fst_sdk_"
"""Part of every SDK token, and of no other."""

# SDK tokens are never valid where these are: app/catalogue/sdk_tokens
_shape = re.compile(r"fst_(?:pat|sa)_[0-9A-Za-z]{49}").fullmatch


_bearer = re.compile(r"\Abearer +", re.IGNORECASE)


class TokenKind(StrEnum):
    PERSONAL = "pat"
    SERVICE_ACCOUNT = "sa"
    SCIM = "scim"
    SDK = "sdk"


def sent_in(authorization: str) -> str:
    """The token in the header Authorization, with or without ``Bearer``."""
    return _bearer.sub("", authorization, count=1).strip()


def generate(kind: TokenKind) -> str:
    number = int.from_bytes(secrets.token_bytes(32))
    body = f"{PREFIX}{kind}_{_base62(number, SECRET_LENGTH)}"
    return body + _check(body)


def may_be_one(secret: str) -> bool:
    """Whether the text could be a token, so that a query is worthwhile.

    Operators choose the bootstrap token freely, so text without the prefix can be one too.
    """
    if secret.startswith(PREFIX):
        return _shape(secret) is not None and secret.endswith(_check(secret[:-CHECK_LENGTH]))
    return 0 < len(secret) <= LONGEST


def is_of(kind: TokenKind, secret: str) -> bool:
    """Whether the text has the form of a token of this kind."""
    random = secret.removeprefix(f"{PREFIX}{kind}_")
    has_shape = re.fullmatch(rf"[0-9A-Za-z]{{{SECRET_LENGTH + CHECK_LENGTH}}}", random)
    return has_shape is not None and secret.endswith(_check(secret[:-CHECK_LENGTH]))


def _check(body: str) -> str:
    return _base62(zlib.crc32(body.encode()), CHECK_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(ALPHABET))
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))
