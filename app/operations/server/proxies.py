"""Reverse proxies: what they say of a request is believed, if the operator trusts them."""

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from waitress.proxy_headers import proxy_headers_middleware

from app.core.config.kinds import Network
from app.core.networks import is_in

FOR = "HTTP_X_FORWARDED_FOR"
BELIEVED = {"x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"}


def behind_proxies(app: WSGIApplication, trusted: tuple[Network, ...]) -> WSGIApplication:
    """``app`` with the address, host and scheme of the client as trusted proxies name them.

    If several proxies forwarded a request, the client is the last one that isn't trusted. The
    headers of others are removed.
    """
    believing = proxy_headers_middleware(app, trusted_proxy="*", trusted_proxy_headers=BELIEVED)
    ignoring = proxy_headers_middleware(app)

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not is_in(environ["REMOTE_ADDR"], trusted):
            ignored: Iterable[bytes] = ignoring(environ, start_response)
            return ignored
        if FOR in environ:
            hops = environ[FOR].split(",")
            while len(hops) > 1 and is_in(hops[-1].strip(), trusted):
                hops.pop()
            environ[FOR] = ",".join(hops)
        believed: Iterable[bytes] = believing(environ, start_response)
        return believed

    return answer
