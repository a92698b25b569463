"""Another Flagstaff, reached over HTTP: for commands that run where Flagstaff has no data."""

import json
import os
import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from importlib.metadata import version
from typing import Any
from urllib.parse import urlencode
from urllib.request import getproxies, proxy_bypass

import click
import urllib3
from urllib3.exceptions import HTTPError, ProtocolError, ReadTimeoutError, SSLError

from app.core.targets import PATTERN, parse

TOKEN = "FLAGSTAFF_TOKEN"  # noqa: S105 - its name
TIMEOUT = urllib3.Timeout(connect=10, read=300)
"""A large document takes a server minutes, as it would take the command there."""
CONFIGURATION = "/api/admin/configuration"
YAML = "application/yaml"
BY_ADMINS = "Documents can change accounts and every project, so it takes the token of an Admin."
AGAIN = "It may have been applied. Run the command again: it does nothing twice."

Command = Callable[..., Any]


def server_option(command: Command) -> Command:
    help = (
        "Work on the Flagstaff at URL instead of the one on this machine. Also as "
        f"FLAGSTAFF_SERVER. Put the token of an Admin into {TOKEN}."
    )
    return click.option("--server", metavar="URL", help=help)(command)


class Remote:
    """The configuration of another Flagstaff, with the token in FLAGSTAFF_TOKEN.

    All methods raise ``click.ClickException`` with one line that says what to do.
    """

    def __init__(self, url: str) -> None:
        self.url = re.sub(r"/api(/admin)?$", "", url.strip().rstrip("/"))
        try:
            target = parse(self.url) if re.fullmatch(PATTERN, self.url) else None
        except ValueError:
            target = None
        if target is None:
            example = "an address like https://flags.example.org"
            raise click.ClickException(f"The server {url!r} is not {example}.")
        token = os.environ.get(TOKEN, "").strip()
        if not re.fullmatch(r"[!-~]+", token):
            is_set = "has characters that no token has" if token else "is not set"
            raise click.ClickException(
                f"{TOKEN} {is_set}. Put the token of an Admin of {self.url} into it."
            )
        self._headers = {
            "Authorization": f"Bearer {token}",
            "User-Agent": f"flagstaff/{version('flagstaff')}",
        }
        proxy = None if proxy_bypass(target.host) else getproxies().get(target.scheme)
        try:
            self._pool = urllib3.ProxyManager(proxy) if proxy else urllib3.PoolManager()
        except HTTPError:
            name = f"{target.scheme}_proxy".upper()
            raise click.ClickException(f"{name} is not an address of a proxy.") from None

    def export(self, project: str | None, form: str) -> str:
        """The configuration in this form, as text."""
        query = {"project": project} if project else {}
        if form == "yaml":
            return self._ask("", query=query, accept=YAML).decode()
        found = self._json("version", "", query=query)
        return json.dumps(found, indent=2, ensure_ascii=False) + "\n"

    def plan(self, content: Any) -> dict[str, Any]:
        return self._json("digest", "/plan", body=content)

    def apply(self, content: Any, shown: str, reason: str | None) -> dict[str, Any]:
        """Apply exactly the plan with the digest ``shown``."""
        return self._json(
            "batchId", "/apply", query={"plan": shown}, body=content, reason=reason or ""
        )

    def _json(self, key: str, path: str, **request: Any) -> dict[str, Any]:
        """The answer, which has the key."""
        found = _object(self._ask(path, **request))
        if key not in found:
            raise click.ClickException(self._not_flagstaff("other JSON"))
        return found

    def _ask(
        self,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        reason: str = "",
        accept: str = "application/json",
    ) -> bytes:
        """The answer to a GET, or with a body to a POST."""
        sent = {**self._headers, "Accept": accept}
        if reason:
            sent["X-Reason"] = reason.encode().decode("latin-1")
        data = None
        if body is not None:
            sent["Content-Type"] = "application/json"
            data = _as_json(body)
        address = f"{self.url}{CONFIGURATION}{path}" + (f"?{urlencode(query)}" if query else "")
        try:
            answer = self._pool.request(
                "GET" if data is None else "POST",
                address,
                body=data,
                headers=sent,
                retries=False,
                timeout=TIMEOUT,
            )
        except HTTPError as error:
            raise click.ClickException(self._unreachable(error, path)) from None
        if 300 <= answer.status < 400:  # noqa: PLR2004 - redirects
            to = answer.headers.get("Location", "another address")
            raise click.ClickException(
                f"{address} redirects to {to}. Give the address that it leads to as --server."
            )
        kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if answer.status == HTTPStatus.OK and kind == accept:
            return answer.data
        raise click.ClickException(self._refusal(answer, kind, path))

    def _refusal(self, answer: urllib3.BaseHTTPResponse, kind: str, path: str) -> str:
        """What an answer other than the wanted one means, and what to do about it."""
        message = _object(answer.data).get("message") if kind == "application/json" else None
        match answer.status:
            case HTTPStatus.UNAUTHORIZED if message:
                return (
                    f"{self.url} does not accept the token in {TOKEN}: it is unknown, expired or "
                    "revoked. Put the token of an Admin into it."
                )
            case HTTPStatus.FORBIDDEN if message:
                return f"{self.url} refuses this. {message} {BY_ADMINS}"
            case HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
                by_proxy = "Apply it in parts, or raise the limit of the proxy in front of it."
                return f"The document is too large for {self.url}. {message or by_proxy}"
            case status if message and status >= HTTPStatus.BAD_REQUEST:
                return str(message)
            case status if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                advice = AGAIN if path == "/apply" else "Try again later."
                return f"A proxy in front of {self.url} answers {status}. {advice}"
        return self._not_flagstaff(f"{answer.status}, {kind or 'without content'}")

    def _not_flagstaff(self, answer: str) -> str:
        return (
            f"{self.url} does not answer as this version of Flagstaff does ({answer}). Check the "
            "address, with its path if it has one. If a page to sign in is in front of it, let "
            "/api/ through."
        )

    def _unreachable(self, error: Exception, path: str) -> str:
        advice = "Check the address, the network, and whether the server runs."
        if isinstance(error, SSLError):
            advice = (
                "Check the address. If its certificate is from your own authority, name the file "
                "of that in SSL_CERT_FILE."
            )
        elif path == "/apply" and isinstance(error, ReadTimeoutError | ProtocolError):
            advice = AGAIN
        return f"{self.url} can’t be reached: {_reason(error)}. {advice}"


def _as_json(content: Any) -> bytes:
    try:
        text = json.dumps(content, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        return text.encode()
    except (TypeError, ValueError) as error:
        raise click.ClickException(
            f"The file has a value that JSON does not have: {error}. Put quotes around it."
        ) from None


def _object(data: bytes) -> dict[str, Any]:
    """The JSON object; empty for anything else."""
    try:
        found = json.loads(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _reason(error: BaseException) -> str:
    """What the operating system or TLS says, which is somewhere inside."""
    found: list[BaseException] = [error]
    for each in found:
        if reason := getattr(each, "verify_message", None) or getattr(each, "strerror", None):
            return str(reason).rstrip(".")
        found += [arg for arg in (each.__cause__, *each.args) if isinstance(arg, BaseException)]
    return "it took too long" if isinstance(error, urllib3.exceptions.TimeoutError) else str(error)
