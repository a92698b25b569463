"""Event streams of OFREP, by which clients learn when to ask for features again.

Browsers can send no token with the request that opens one. So its address has a token of its own,
which is signed, and valid for a short time only.
"""

import json
import time
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, quote
from wsgiref.types import WSGIEnvironment

from itsdangerous import BadSignature, Signer

from app.core.errors import NotAuthenticated
from app.core.streaming import COMMENT, STREAM
from app.delivery.sdk.http import Answer, remote_address
from app.delivery.sdk.payloads import Answers, FeatureQuery
from app.delivery.sdk.source import Reader, Source
from app.delivery.sdk.streams import Streams, Subscription, event

STREAM_PATH = "/ofrep/v1/stream"
PERIOD_SECONDS = 3_600
"""The address of a stream is valid in the period in which it was made, and in the next one."""
INACTIVE_SECONDS = 120
"""A page that was hidden for so long closes its stream until it is shown again."""
CONFIG_ETAG = "flagConfigEtag"
"""The parameter in which a client says which change it has heard of."""


class OfrepStreams:
    def __init__(self, source: Source, streams: Streams, secret_key: str) -> None:
        self._source, self._streams = source, streams
        self._signer = Signer(secret_key, salt=STREAM_PATH, digest_method=sha256)

    def offered(self, environ: WSGIEnvironment, reader: Reader) -> dict[str, Any]:
        """Return where a client learns of changes. The address is the same for an hour."""
        if STREAM not in environ:
            return {}
        signed = self._signer.sign(f"{reader.token_id}.{_period()}").decode()
        uri = f"{environ.get('SCRIPT_NAME', '')}{STREAM_PATH}?token={quote(signed)}"
        endpoint = {"requestUri": uri}
        stream = {"type": "sse", "endpoint": endpoint, "inactivityDelaySec": INACTIVE_SECONDS}
        return {"eventStreams": [stream]}

    def open(self, environ: WSGIEnvironment) -> Answer:
        """Return a response that stays open, with an event when its client must ask again."""
        reader = self._reader(environ)
        query = configuration(reader)
        answers = self._source.answers(reader.environment)
        etag, held = answers.all(query).etag, environ.get("HTTP_LAST_EVENT_ID", "")
        # It is not known what a new client has: features may have changed since it asked.
        first = COMMENT if held == etag else _refetch(answers, query, held)
        asked = Subscription(reader, None, remote_address(environ), query, _refetch, etag)
        return self._streams.open(environ, asked, first)

    def _reader(self, environ: WSGIEnvironment) -> Reader:
        """Return what the SDK token grants for which a stream's address was made.

        Raises:
            NotAuthenticated: if the address is no longer valid, or the SDK token.

        """
        sent = parse_qs(environ.get("QUERY_STRING", "")).get("token", [""])[0]
        try:
            id, _, period = self._signer.unsign(sent).decode().partition(".")
        except BadSignature:
            raise NotAuthenticated from None
        reader = self._source.reader_with_id(int(id))
        if reader is None or not 0 <= _period() - int(period) <= 1:
            raise NotAuthenticated
        return reader


def _period() -> int:
    """Number of the present hour."""
    return int(time.time() // PERIOD_SECONDS)


def configuration(reader: Reader) -> FeatureQuery:
    """The features of a token, which its stream is about."""
    return FeatureQuery(reader.projects, is_inlined=False)


def _refetch(answers: Answers, query: FeatureQuery, _etag: str) -> bytes:
    etag, at = answers.all(query).etag, answers.state.changed_at
    notice = {"type": "refetchEvaluation", "etag": etag, "lastModified": int(at.timestamp())}
    return event(b"message", etag, json.dumps(notice, separators=(",", ":")).encode())
