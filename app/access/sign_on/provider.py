"""The organisation’s OpenID Connect provider: where people are sent to sign in, and what it says.

OpenID Connect Core 1.0, Discovery 1.0, RP-Initiated Logout 1.0, Back-Channel Logout 1.0, PKCE (RFC
7636) and the issuer in the response (RFC 9207).
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus, urlsplit

import requests
from authlib.common.security import generate_token
from authlib.common.urls import add_params_to_uri
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.claims import JWTClaims
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet

from app.core.config import Settings
from app.core.config.kinds import is_loopback

WELL_KNOWN = "/.well-known/openid-configuration"
SECONDS = (3.05, 8.0)
"""To connect, and between two bytes of an answer."""
FRESH_SECONDS = 3_600.0
RENEW_SECONDS = 10.0
"""Strangers can send tokens with unknown keys: the keys are read again at most this often."""
SKEW_SECONDS = 60
"""How far the clocks may differ."""
ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "Ed25519"),
)
"""Signatures that only the provider can make: with HS256 everyone could who knows the secret."""
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
LONGEST_SUBJECT = 255
LONGEST_STATE = 40


class ProviderError(Exception):
    """What is wrong, in words for people and for the log."""


class ProviderAway(ProviderError):
    """The provider gives no answer, or none that can be used."""


class AnswerRefused(ProviderError):
    """The provider, or someone in its name, gave an answer that can’t be believed."""


@dataclass(frozen=True, slots=True)
class Request:
    """A browser that is sent to the provider: ``state``, ``nonce`` and ``verifier`` stay here."""

    address: str
    state: str
    nonce: str
    verifier: str


@dataclass(frozen=True, slots=True)
class Claims:
    """What the provider says about someone, with the ID token that says so."""

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
        """When they last proved there who they are, in seconds since 1970."""
        at = self.values.get("auth_time")
        return float(at) if isinstance(at, int | float) else None

    def text(self, name: str, longest: int = 255) -> str | None:
        """A claim that is a usable text, else None."""
        value = self.values.get(name)
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            return None
        return value.strip() if len(value.strip()) <= longest else None


@dataclass(frozen=True, slots=True)
class LogoutToken:
    """Whose sessions the provider ends: those of ``subject``, or only ``session``."""

    subject: str | None
    session: str | None


class Provider:
    """What it says about itself is read when it is needed, and again after an hour."""

    def __init__(self, settings: Settings) -> None:
        self.issuer = settings.oidc_issuer or ""
        self._client_id = settings.oidc_client_id or ""
        self._secret = settings.oidc_client_secret
        self._scopes = settings.oidc_scopes
        self._callback = settings.address("/sign-in/callback")
        self._wanted = {"email", "name", "preferred_username", settings.oidc_groups_claim}
        self._metadata: dict[str, Any] = {}
        self._metadata_at = self._keys_at = float("-inf")
        self._keys: KeySet | None = None

    def request(self, *, again: bool = False) -> Request:
        """Where to send a browser. ``again``: people who are signed in there sign in once more.

        Raises:
            ProviderAway: if the provider can’t be asked where that is.

        """
        verifier, nonce = generate_token(48), generate_token(32)
        extra: dict[str, Any] = {"prompt": "login", "max_age": 0} if again else {}
        with self._client() as client:
            address, state = client.create_authorization_url(
                self._endpoint("authorization_endpoint"),
                state=generate_token(LONGEST_STATE),
                code_verifier=verifier,
                nonce=nonce,
                **extra,
            )
        return Request(address, state, nonce, verifier)

    def claims(self, answer: Mapping[str, str], *, nonce: str, verifier: str) -> Claims:
        """Who signed in, by the parameters with which the browser came back.

        Raises:
            AnswerRefused: if they are not the provider’s answer to this request.
            ProviderAway: if the provider can’t be asked.

        """
        self._check_issuer(answer.get("iss"))
        if "error" in answer:
            raise AnswerRefused(_refusal(answer["error"], answer.get("error_description")))
        token = self._exchange(answer.get("code", ""), verifier)
        id_token, access_token = token.get("id_token"), token.get("access_token")
        if not isinstance(id_token, str):
            raise AnswerRefused("The provider sent no ID token. Is openid among the scopes?")
        checked = CodeIDToken(
            *self._decoded(id_token),
            self._expected(),
            {"nonce": nonce, "client_id": self._client_id, "access_token": access_token},
        )
        _validate(checked)
        values = dict(checked)
        _check_subject(values)
        if isinstance(access_token, str) and self._wanted - values.keys():
            values = self._user_info(access_token, values["sub"]) | values
        return Claims(values, id_token)

    def logout_token(self, token: str) -> LogoutToken:
        """What a token of the back channel says.

        Raises:
            AnswerRefused: if it is not the provider’s.
            ProviderAway: if its keys can’t be read.

        """
        claims = JWTClaims(*self._decoded(token), self._expected())
        _validate(claims)
        recent = time.time() - FRESH_SECONDS <= claims.get("iat", 0) <= time.time() + SKEW_SECONDS
        events = claims.get("events")
        if not recent or not isinstance(events, dict) or LOGOUT_EVENT not in events:
            raise AnswerRefused("This is not a logout token.")
        if "nonce" in claims:
            raise AnswerRefused("This is an ID token, not a logout token.")
        found = LogoutToken(*(_text_or_none(claims.get(name)) for name in ("sub", "sid")))
        if found == LogoutToken(None, None):
            raise AnswerRefused("The logout token names neither a person nor a session.")
        return found

    def sign_out_address(self, id_token: str, back: str) -> str | None:
        """Where a browser signs out of the provider too; None if it offers no such page."""
        try:
            address = self._endpoint("end_session_endpoint")
        except ProviderError:
            return None
        params = {
            "id_token_hint": id_token,
            "client_id": self._client_id,
            "post_logout_redirect_uri": back,
        }
        return str(add_params_to_uri(address, list(params.items())))

    def metadata(self, *, renew: bool = False) -> dict[str, Any]:
        """What the provider says about itself.

        Raises:
            ProviderAway: if it doesn’t, or not in a way that can be used.

        """
        if not renew and time.monotonic() - self._metadata_at < FRESH_SECONDS:
            return self._metadata
        found = self._read(self.issuer.rstrip("/") + WELL_KNOWN)
        if found.get("issuer") != self.issuer:
            raise ProviderAway(
                f"The provider calls itself {found.get('issuer')!r}, and FLAGSTAFF_OIDC_ISSUER is "
                f"{self.issuer!r}. They must be the same to the letter."
            )
        self._metadata, self._metadata_at = found, time.monotonic()
        return found

    def keys(self, *, renew: bool = False) -> KeySet:
        """The keys that the provider signs with.

        Raises:
            ProviderAway: if they can’t be read.

        """
        age = time.monotonic() - self._keys_at
        if self._keys is None or age > FRESH_SECONDS or (renew and age > RENEW_SECONDS):
            try:
                self._keys = KeySet.import_key_set(self._read(self._endpoint("jwks_uri")))  # type: ignore[arg-type] # checked by it
            except (JoseError, ValueError, KeyError, TypeError) as error:
                raise ProviderAway(f"The provider’s keys can’t be read: {error}.") from None
            self._keys_at = time.monotonic()
        return self._keys

    def _exchange(self, code: str, verifier: str) -> Mapping[str, Any]:
        try:
            with self._client() as client:
                token: Mapping[str, Any] = client.fetch_token(
                    self._endpoint("token_endpoint"),
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=verifier,
                    allow_redirects=False,
                )
        except OAuthError as error:
            raise AnswerRefused(_refusal(error.error, error.description)) from None
        except (requests.RequestException, ValueError) as error:
            raise ProviderAway(f"The provider gave no token: {_short(error)}.") from None
        return token

    def _user_info(self, access_token: str, subject: str) -> dict[str, Any]:
        """What the ID token leaves out. Providers that offer no more are believed without it."""
        if "userinfo_endpoint" not in self.metadata():
            return {}
        address = self._endpoint("userinfo_endpoint")
        found = self._read(address, headers={"Authorization": f"Bearer {access_token}"})
        if found.get("sub") != subject:
            raise AnswerRefused("The provider’s user information is about someone else.")
        return found

    def _decoded(self, token: str) -> tuple[Any, Any]:
        """The claims and the header of a token that the provider signed."""
        allowed = self.metadata().get("id_token_signing_alg_values_supported") or ["RS256"]
        algorithms = [each for each in ALGORITHMS if each in allowed]
        try:
            try:
                found = jwt.decode(token, self.keys(), algorithms=algorithms)
            except (InvalidKeyIdError, BadSignatureError):  # the keys may be new
                found = jwt.decode(token, self.keys(renew=True), algorithms=algorithms)
        except (JoseError, ValueError, TypeError, KeyError, AttributeError) as error:
            # joserfc checks the form of a header only as far as it reads it.
            raise AnswerRefused(
                f"The token is not signed by the provider: {_short(error)}."
            ) from None
        return found.claims, found.header

    def _check_issuer(self, issuer: str | None) -> None:
        """Another provider that the person uses may answer in this one’s name."""
        is_required = self.metadata().get("authorization_response_iss_parameter_supported") is True
        if (issuer is None and is_required) or issuer not in (None, self.issuer):
            raise AnswerRefused(f"The answer is of another provider: {issuer or 'it has no name'}.")

    def _expected(self) -> dict[str, Any]:
        """From whom a token must be, and for whom."""
        return {
            "iss": {"essential": True, "value": self.issuer},
            "aud": {"essential": True, "value": self._client_id},
        }

    def _endpoint(self, name: str) -> str:
        address = self.metadata().get(name)
        if not isinstance(address, str) or not _is_safe(address):
            raise ProviderAway(f"The provider has no usable {name}: {address!r}.")
        return address

    def _read(self, address: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
        try:
            answer = requests.get(address, headers=headers, timeout=SECONDS, allow_redirects=False)
            answer.raise_for_status()
            if answer.is_redirect:  # perhaps to where others can read it
                raise ProviderAway(f"{address} redirects to {answer.headers['Location']}.")
            found = answer.json()
        except (requests.RequestException, ValueError) as error:
            raise ProviderAway(f"{address} can’t be read: {_short(error)}.") from None
        if not isinstance(found, dict):
            raise ProviderAway(f"{address} gives no JSON object.")
        return found

    def _client(self) -> OAuth2Session:
        offered = self.metadata().get("token_endpoint_auth_methods_supported")
        method, secret = "client_secret_basic", self._secret
        if secret is None:
            method = "none"
        elif offered and method not in offered:
            method = "client_secret_post"
        else:
            secret = quote_plus(secret)  # RFC 6749, 2.3.1; Authlib leaves it to us
        return OAuth2Session(
            self._client_id,
            secret,
            token_endpoint_auth_method=method,
            scope=self._scopes,
            redirect_uri=self._callback,
            code_challenge_method="S256",
            default_timeout=SECONDS,
        )


def _validate(claims: JWTClaims | CodeIDToken) -> None:
    try:
        claims.validate(leeway=SKEW_SECONDS)
    except (JoseError, ValueError, TypeError) as error:
        raise AnswerRefused(f"The token can’t be believed: {_short(error)}.") from None


def _check_subject(values: Mapping[str, Any]) -> None:
    subject = values.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT:
        raise AnswerRefused("The provider doesn’t say who signed in: sub is missing or too long.")


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _is_safe(address: str) -> bool:
    """Whether no one can read or change what is sent there."""
    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))


def _refusal(error: str, description: str | None) -> str:
    said = f"{error}: {description}" if description else error
    return f"The provider refused: {''.join(c for c in said if c.isprintable())[:200]}."


def _short(error: Exception) -> str:
    """What went wrong, without the objects that it went wrong in."""
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    return str(error).rstrip(".").splitlines()[0][:200] if str(error) else type(error).__name__
