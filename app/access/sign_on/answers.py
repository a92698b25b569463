"""What a provider answers, and how that fails; without the libraries that speak with it.

They take a quarter of a second to load, and most instances have no single sign-on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

SKEW_SECONDS = 60
"""How far the clocks may differ."""
ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "Ed25519"),
)
"""Asymmetric signatures only: with HS256, anyone who knows the client secret could sign."""


class ProviderError(Exception):
    """A failure of single sign-on. Its message is for people and for the log."""


class ProviderAway(ProviderError):
    """The provider doesn’t answer, or its answer can’t be used."""


class AnswerRefused(ProviderError):
    """An answer fails a check: someone else may have sent it in the provider’s name."""


@dataclass(frozen=True, slots=True)
class Request:
    """An authorization request. The browser goes to ``address``; the rest checks the answer."""

    address: str
    state: str
    nonce: str
    verifier: str


@dataclass(frozen=True, slots=True)
class Claims:
    """The provider’s claims about a person, and the ID token that they came in."""

    values: Mapping[str, Any]
    id_token: str

    @property
    def subject(self) -> str:
        return str(self.values["sub"])

    @property
    def session(self) -> str | None:
        return self.text("sid")

    @property
    def signed_in_at(self) -> float | None:
        """When the person last authenticated at the provider, in seconds since 1970."""
        at = self.values.get("auth_time")
        return float(at) if isinstance(at, int | float) else None

    def text(self, name: str, longest: int = 255) -> str | None:
        """The claim, if it is printable text of at most ``longest`` characters; else None."""
        value = self.values.get(name)
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            return None
        return value.strip() if len(value.strip()) <= longest else None


@dataclass(frozen=True, slots=True)
class LogoutToken:
    """Which sessions the provider ends: all of ``subject``, or only ``session``.

    Only those that began before ``begun_before``: the same token ends no later one.
    """

    subject: str | None
    session: str | None
    begun_before: datetime
