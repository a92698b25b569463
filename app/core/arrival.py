"""What of a request arrives when there is a reverse proxy in between; shown to the operator alone.

He proves himself by a signature with the secret key, which only this machine's programs can read.
"""

from typing import Any

from flask import Request
from itsdangerous import BadSignature, TimestampSigner

SECONDS = 60
_SALT = "arrival"
_WORD = "arrival"


def proof(key: str) -> str:
    """What to send as ``Authorization``, within a minute."""
    return TimestampSigner(key, _SALT).sign(_WORD).decode()


def is_asked_for(sent: str, key: str) -> bool:
    try:
        return TimestampSigner(key, _SALT).unsign(sent, SECONDS) == _WORD.encode()
    except BadSignature:
        return False


def seen(request: Request) -> dict[str, Any]:
    """Everything by which links, cookies and the log go; ``body`` in bytes."""
    return {
        "scheme": request.scheme,
        "host": request.host,
        "prefix": request.script_root,
        "path": request.path,
        "client": request.remote_addr,
        "forwardedFor": request.headers.get("X-Forwarded-For"),
        "body": len(request.get_data()),
    }
