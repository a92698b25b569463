"""Facts that a page showed, in a hidden field that only this server could have written.

So a review is confirmed exactly as it was shown or not at all. The field holds the facts
themselves: if they have changed since, the page can say how.
"""

import zlib
from typing import Any, Literal

from flask import json
from itsdangerous import BadSignature, URLSafeSerializer

from app.core.errors import Invalid
from app.web.current import current_actor, current_key

Purpose = Literal["form", "review"]
"""What a field is for. A field of one purpose is not valid for the other."""


def sign(purpose: Purpose, subject: str, facts: Any) -> str:
    """The hidden field for the JSON ``facts`` that the caller sees about ``subject``."""
    return _signer(purpose, subject).dumps(_plain(facts))


def read(purpose: Purpose, subject: str, signed: str) -> Any:
    """The facts of a field that was signed for the same caller, purpose and subject.

    Raises:
        Invalid: if it was not.

    """
    try:
        return _signer(purpose, subject).loads(signed)
    except (BadSignature, zlib.error):
        raise Invalid("This page is no longer valid. Open it again.") from None


def matches(purpose: Purpose, subject: str, signed: str, facts: Any) -> bool:
    """Whether the facts of a field equal ``facts``."""
    return bool(read(purpose, subject, signed) == _plain(facts))


def _signer(purpose: Purpose, subject: str) -> URLSafeSerializer:
    return URLSafeSerializer(current_key(), salt=f"{purpose} of {current_actor.id}: {subject}")


def _plain(facts: Any) -> Any:
    """As JSON returns it: tuples become lists, enumerations texts."""
    return json.loads(json.dumps(facts))
