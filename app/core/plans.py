"""What a review page showed, sealed, so that exactly that is done or nothing.

The seal holds the facts themselves: when they have changed meanwhile, the page can say how.
"""

import zlib
from typing import Any

from flask import json
from itsdangerous import BadSignature, URLSafeSerializer

from app.core.actor import Actor
from app.core.errors import Invalid
from app.core.settings import current_key


def seal(actor: Actor, subject: str, facts: Any) -> str:
    """A text for a hidden field: the JSON ``facts`` that ``actor`` was shown about ``subject``."""
    return _signer(actor, subject).dumps(_plain(facts))


def opened(actor: Actor, subject: str, sealed: str) -> Any:
    """The facts that were sealed for this actor and subject.

    Raises:
        Invalid: for whatever was not made by ``seal`` with the same two.

    """
    try:
        return _signer(actor, subject).loads(sealed)
    except (BadSignature, zlib.error):
        raise Invalid("The review that this came from is not known here; open it again.") from None


def still_holds(actor: Actor, subject: str, sealed: str, facts: Any) -> bool:
    """Whether what was shown is what holds now."""
    return bool(opened(actor, subject, sealed) == _plain(facts))


def _signer(actor: Actor, subject: str) -> URLSafeSerializer:
    return URLSafeSerializer(current_key(), salt=f"plan of {actor.id}: {subject}")


def _plain(facts: Any) -> Any:
    """As JSON gives it back: tuples and enumerations are lists and texts there."""
    return json.loads(json.dumps(facts))
