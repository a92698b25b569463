"""Style sheets, scripts and pictures: named by their content, so that browsers keep them."""

import gzip
from functools import lru_cache
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path

from flask import Flask, Response, request

from app.core.files import STATIC

YEAR = 31_536_000
WORTH_COMPRESSING = 1_000
TEXTS = {"text/html", "text/css", "text/javascript", "image/svg+xml"}


def init_app(app: Flask) -> None:
    app.jinja_env.globals["asset"] = asset
    app.after_request(_deliver)


def asset(name: str) -> str:
    """The address of a file below ``static``, which changes when the file does."""
    path = STATIC / name
    return f"{request.script_root}/static/{name}?v={_version(path, path.stat().st_mtime_ns)}"


@lru_cache(256)
def _version(path: Path, _changed: int) -> str:
    """A digest of the content. ``_changed``: makes the cache read a changed file again."""
    return sha256(path.read_bytes()).hexdigest()[:12]


def _deliver(response: Response) -> Response:
    is_asset = request.endpoint == "static"
    if is_asset and "v" in request.args:
        response.cache_control.no_cache = None
        response.cache_control.public = True
        response.cache_control.immutable = True
        response.cache_control.max_age = YEAR
    if response.mimetype in TEXTS and not response.headers.get("Content-Encoding"):
        response.vary.add("Accept-Encoding")
        _compress(response, is_asset=is_asset)
    return response


def _compress(response: Response, *, is_asset: bool) -> None:
    """Compress the body with gzip, if that is worth it.

    Its length reveals nothing to another site, whose requests are anonymous: cookies are SameSite.
    """
    if response.status_code != HTTPStatus.OK or not request.accept_encodings["gzip"]:
        return
    response.direct_passthrough = False
    body = response.get_data()
    if len(body) < WORTH_COMPRESSING:
        return
    response.set_data(_compressed_once(body) if is_asset else gzip.compress(body, 5, mtime=0))
    response.headers["Content-Encoding"] = "gzip"
    if etag := response.get_etag()[0]:
        response.set_etag(f"{etag}-gzip")
        response.make_conditional(request)  # Flask has only seen the tag without the ending


@lru_cache(64)
def _compressed_once(body: bytes) -> bytes:
    return gzip.compress(body, 9, mtime=0)
