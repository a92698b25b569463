"""CORS: headers that let pages of other origins read features, and preflight requests."""

import re
from wsgiref.types import WSGIEnvironment

from app.core.errors import Unavailable
from app.delivery.origins.service import ANY
from app.delivery.sdk.http import NOTHING, Answer, Header
from app.delivery.sdk.source import Source

MAX_AGE = ("Access-Control-Max-Age", "86400")
METHODS = ("Access-Control-Allow-Methods", "GET, HEAD, POST")
EXPOSED = ("Access-Control-Expose-Headers", "ETag")
VARY = ("Vary", "Origin, Accept-Encoding, Authorization")
MOST_ECHOED = 100

_name = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


def preflight(environ: WSGIEnvironment) -> Answer:
    """Answer a preflight request. It needs no token, since browsers send none with it."""
    names = _name.findall(environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS", ""))
    headers = [METHODS, MAX_AGE, NOTHING]
    if names:
        headers.append(("Access-Control-Allow-Headers", ", ".join(names[:MOST_ECHOED])))
    return Answer("204 No Content", headers)


def headers(source: Source, environ: WSGIEnvironment) -> list[Header]:
    """Return the headers that let allowed pages read a response, also an error."""
    found = [VARY]
    origin = environ.get("HTTP_ORIGIN")
    if origin is None:
        return found
    try:
        allowed = source.origins()
    except Unavailable:  # the answer is 503 as well
        return found
    if ANY in allowed:
        return [*found, ("Access-Control-Allow-Origin", ANY), EXPOSED]
    if origin in allowed:
        return [*found, ("Access-Control-Allow-Origin", origin), EXPOSED]
    return found
