"""Client of the organisation’s OpenID Connect provider: sign-in, sign-out and its tokens.

OpenID Connect Core 1.0, Discovery 1.0, RP-Initiated Logout 1.0, Back-Channel Logout 1.0, PKCE (RFC
7636) and the issuer in the response (RFC 9207).
"""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
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

from app.access.sign_on.answers import (
    ALGORITHMS,
    SKEW_SECONDS,
    AnswerRefused,
    Claims,
    LogoutToken,
    ProviderAway,
    ProviderError,
    Request,
)
from app.core.config import Settings
from app.core.config.kinds import is_loopback

WELL_KNOWN = "/.well-known/openid-configuration"
SECONDS = (3.05, 8.0)
"""Timeouts: to connect, and between two bytes of a response.

3.05: requests advises a little more than 3 seconds, after which TCP sends a lost packet again.
"""
FRESH_SECONDS = 3_600.0
RENEW_SECONDS = 10.0
"""Shortest time between two reads of the keys: strangers can send tokens with unknown keys."""
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
LONGEST_SUBJECT = 255
LONGEST_STATE = 40


class Provider:
    """Reads the provider’s metadata and keys on demand, and caches them for an hour."""

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
        """Where to send a browser. ``again``: people sign in there even if they are signed in.

        Raises:
            ProviderAway: if the provider’s metadata can’t be read.

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
        """Who signed in. ``answer``: the parameters with which the browser came back.

        Raises:
            AnswerRefused: if it is not the provider’s answer to this request.
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
        """Check and read a logout token of the back channel.

        Raises:
            AnswerRefused: if it is no logout token of the provider.
            ProviderAway: if the provider’s keys can’t be read.

        """
        claims = JWTClaims(*self._decoded(token), self._expected())
        _validate(claims)
        recent = time.time() - FRESH_SECONDS <= claims.get("iat", 0) <= time.time() + SKEW_SECONDS
        events = claims.get("events")
        if not recent or not isinstance(events, dict) or LOGOUT_EVENT not in events:
            raise AnswerRefused("This is not a logout token.")
        if "exp" not in claims:
            raise AnswerRefused("The logout token doesn’t say when it expires.")
        if "nonce" in claims:
            raise AnswerRefused("This is an ID token, not a logout token.")
        subject, session = (
            value if isinstance(value, str) and value else None
            for value in (claims.get("sub"), claims.get("sid"))
        )
        if subject is None and session is None:
            raise AnswerRefused("The logout token names neither a person nor a session.")
        return LogoutToken(
            subject, session, datetime.fromtimestamp(claims["iat"] + SKEW_SECONDS, UTC)
        )

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
        """The provider’s discovery document, from the cache unless ``renew``.

        Raises:
            ProviderAway: if it can’t be read, or is about another issuer.

        """
        if not renew and time.monotonic() - self._metadata_at < FRESH_SECONDS:
            return self._metadata
        metadata = self._read(self.issuer.rstrip("/") + WELL_KNOWN)
        if metadata.get("issuer") != self.issuer:
            raise ProviderAway(
                f"The provider calls itself {metadata.get('issuer')!r}, and FLAGSTAFF_OIDC_ISSUER "
                f"is {self.issuer!r}. They must be the same to the letter."
            )
        self._metadata, self._metadata_at = metadata, time.monotonic()
        return metadata

    def keys(self, *, renew: bool = False) -> KeySet:
        """The keys that the provider signs with, cached.

        ``renew``: read them again, unless that was done in the last RENEW_SECONDS.

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
                    allow_redirects=False,  # see _read
                )
        except OAuthError as error:
            raise AnswerRefused(_refusal(error.error, error.description)) from None
        except (requests.RequestException, ValueError) as error:
            raise ProviderAway(f"The provider gave no token: {_short(error)}.") from None
        return token

    def _user_info(self, access_token: str, subject: str) -> dict[str, Any]:
        """Claims that the ID token leaves out; empty if the provider has no such endpoint."""
        if "userinfo_endpoint" not in self.metadata():
            return {}
        address = self._endpoint("userinfo_endpoint")
        claims = self._read(address, headers={"Authorization": f"Bearer {access_token}"})
        if claims.get("sub") != subject:
            raise AnswerRefused("The provider’s user information is about someone else.")
        return claims

    def _decoded(self, token: str) -> tuple[Any, Any]:
        """The claims and the header of a token that the provider signed."""
        allowed = self.metadata().get("id_token_signing_alg_values_supported") or ["RS256"]
        algorithms = [name for name in ALGORITHMS if name in allowed]
        try:
            try:
                decoded = jwt.decode(token, self.keys(), algorithms=algorithms)
            except (InvalidKeyIdError, BadSignatureError):  # the provider may have new keys
                decoded = jwt.decode(token, self.keys(renew=True), algorithms=algorithms)
        except (JoseError, ValueError, TypeError, KeyError, AttributeError) as error:
            # joserfc doesn't check all of a header's form: some faults raise Python's own errors.
            raise AnswerRefused(
                f"The token is not signed by the provider: {_short(error)}."
            ) from None
        return decoded.claims, decoded.header

    def _check_issuer(self, issuer: str | None) -> None:
        """Refuse the answer of another provider that the person uses (RFC 9207)."""
        is_required = self.metadata().get("authorization_response_iss_parameter_supported") is True
        if (issuer is None and is_required) or issuer not in (None, self.issuer):
            raise AnswerRefused(f"The answer is of another provider: {issuer or 'it has no name'}.")

    def _expected(self) -> dict[str, Any]:
        """The issuer and the audience that a token must have."""
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
            if answer.is_redirect:  # not followed: others may be able to read what is sent there
                raise ProviderAway(f"{address} redirects to {answer.headers['Location']}.")
            content = answer.json()
        except (requests.RequestException, ValueError) as error:
            raise ProviderAway(f"{address} can’t be read: {_short(error)}.") from None
        if not isinstance(content, dict):
            raise ProviderAway(f"{address} gives no JSON object.")
        return content

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


def _is_safe(address: str) -> bool:
    """Whether no one else can read what is sent there: HTTPS, or HTTP on this machine."""
    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))


def _refusal(error: str, description: str | None) -> str:
    said = f"{error}: {description}" if description else error
    return f"The provider refused: {''.join(c for c in said if c.isprintable())[:200]}."


def _short(error: Exception) -> str:
    """The error in one line, without the objects that requests puts into its messages."""
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    return str(error).rstrip(".").splitlines()[0][:200] if str(error) else type(error).__name__
