"""Every setting, read from the environment once and strictly: a wrong value stops the start."""

import os
import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from ipaddress import ip_address
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

DAY_HOURS = 24
MIN_SECRET = 32
KEY_FILE = "secret_key"
MAX_PORT = 65_535
HOST_NAME = r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}"
PATH = r"(/[A-Za-z0-9_~.-]+)*"

T = TypeVar("T")

API_DESCRIPTION = """\
Administers feature toggles: service accounts, projects, features and their tags, people, and
what archiving would do. Requests and answers are JSON; every request is one transaction.
"""


class WrongSetting(Exception):
    """One line for the operator: which variable, what was found, what is allowed."""

    def __init__(self, name: str, found: str, allowed: str) -> None:
        super().__init__(f"FLAGSTAFF_{name} is {found!r}; {allowed}.")


@dataclass(frozen=True, slots=True)
class Settings:
    """What an operator can choose; README.md says it in words."""

    home: Path
    database_url: str
    host: str
    port: int
    threads: int
    base_url: str
    bootstrap_token: str | None
    secret_key: str | None
    trusted_proxy: str | None
    url_prefix: str
    inactivity_days: int
    max_request_bytes: int
    session_hours: int
    password_min: int
    log_format: str

    def address(self, path: str) -> str:
        """The address of a path of ours, as people reach it."""
        return f"{self.base_url}{self.url_prefix}{path}"

    @property
    def inactivity(self) -> timedelta:
        """After so long without a sign of a person he may be deleted."""
        return timedelta(days=self.inactivity_days)

    @property
    def is_https(self) -> bool:
        return self.base_url.startswith("https:")

    @property
    def base_is_loopback(self) -> bool:
        """Whether people reach it on this machine alone."""
        return _is_loopback(urlsplit(self.base_url).hostname or "")

    @property
    def listens_on_loopback(self) -> bool:
        return _is_loopback(self.host)


def from_environment(environ: Mapping[str, str]) -> Settings:
    """Read and check all settings.

    Raises:
        WrongSetting: at the first one that can't be used.

    """

    def read(name: str, parse: Callable[[str, str], T], default: str) -> T:
        # An empty variable means "not set": compose files and unit files write it so.
        return parse(name, environ.get(f"FLAGSTAFF_{name}", "").strip() or default)

    home = read("HOME", _path, "instance")
    settings = Settings(
        home=home,
        database_url=read("DATABASE_URL", _database_url, f"sqlite:///{home / 'flagstaff.db'}"),
        host=read("HOST", _host, "127.0.0.1"),
        port=read("PORT", _number(1, MAX_PORT), "4242"),
        threads=read("THREADS", _number(1, 64), "4"),
        base_url=read("BASE_URL", _base_url, "http://127.0.0.1:4242"),
        bootstrap_token=read("BOOTSTRAP_TOKEN", _secret, ""),
        secret_key=read("SECRET_KEY", _secret, ""),
        trusted_proxy=read("TRUSTED_PROXY", _address, ""),
        url_prefix=read("URL_PREFIX", _prefix, ""),
        inactivity_days=read("INACTIVITY_DAYS", _number(1, 3_650), "180"),
        max_request_bytes=read("MAX_REQUEST_BYTES", _number(1_024, 2**30), "2097152"),
        session_hours=read("SESSION_HOURS", _number(1, 30 * DAY_HOURS), "12"),
        password_min=read("PASSWORD_MIN", _number(8, 128), "15"),
        log_format=read("LOG_FORMAT", _one_of("text", "json"), "text"),
    )
    if not settings.listens_on_loopback and not environ.get("FLAGSTAFF_BASE_URL", "").strip():
        raise WrongSetting(
            "BASE_URL",
            "",
            f"it must name the address that people use when FLAGSTAFF_HOST is {settings.host!r}, "
            "for example https://flags.example.org",
        )
    return settings


def for_flask(settings: Settings) -> dict[str, Any]:
    """The settings in the words of Flask and its extensions."""
    return {
        "SETTINGS": settings,
        "SECRET_KEY": settings.secret_key or _kept_secret_key(settings.home),
        "SESSION_COOKIE_NAME": _cookie_name(settings),
        "SESSION_COOKIE_PATH": settings.url_prefix or "/",
        "SESSION_COOKIE_SECURE": settings.is_https,
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Lax",
        "WTF_CSRF_CHECK_DEFAULT": False,  # core/pages.py checks, and no page can forget it
        "WTF_CSRF_TIME_LIMIT": None,  # it lasts as long as the session
        "WTF_CSRF_SSL_STRICT": False,  # core/pages.py looks at where a form came from
        "MAX_CONTENT_LENGTH": settings.max_request_bytes,
        "SQLALCHEMY_DATABASE_URI": settings.database_url,
        "SQLALCHEMY_ENGINE_OPTIONS": _engine_options(settings),
        "API_TITLE": "Flagstaff",
        "API_VERSION": version("flagstaff"),
        "OPENAPI_VERSION": "3.1.0",
        "API_SPEC_OPTIONS": {
            "info": {"description": API_DESCRIPTION, "license": {"name": "MIT"}},
            "servers": [{"url": settings.url_prefix or "/"}],
            "security": [{"token": []}],
            "components": {
                "securitySchemes": {
                    "token": {
                        "type": "apiKey",
                        "in": "header",
                        "name": "Authorization",
                        "description": "The token itself, or the word Bearer and the token.",
                    }
                }
            },
        },
    }


def _kept_secret_key(home: Path) -> str:
    """The key in the home folder, which the first process to need it makes."""
    file = home / KEY_FILE
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    while not file.exists():
        made = home / f".secret_key.{secrets.token_hex(8)}"
        handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as out:
            out.write(secrets.token_urlsafe(48))
        with suppress(FileExistsError):  # whole or not at all, and only if nobody else was first
            file.hardlink_to(made)
        made.unlink()
    return file.read_text("ascii").strip()


def _cookie_name(settings: Settings) -> str:
    """Browsers take a __Host- cookie over https and for the whole host alone."""
    return "__Host-flagstaff" if settings.is_https and not settings.url_prefix else "flagstaff"


def _engine_options(settings: Settings) -> dict[str, Any]:
    """One connection a thread and two to spare: requests queue for threads, not in the database."""
    options: dict[str, Any] = {"pool_size": settings.threads + 2, "max_overflow": 0}
    if settings.database_url.startswith("postgresql"):
        options["pool_pre_ping"] = True
        options["connect_args"] = {
            "connect_timeout": 3,
            "application_name": "flagstaff",
            "options": (
                "-c statement_timeout=10s -c lock_timeout=5s "
                "-c idle_in_transaction_session_timeout=30s -c timezone=UTC"
            ),
        }
    return options


def _path(name: str, value: str) -> Path:
    try:
        return Path(value).expanduser().absolute()
    except RuntimeError:  # ~somebody
        raise WrongSetting(name, value, "a path is allowed; that user has no home") from None


def _host(name: str, value: str) -> str:
    if not _is_ip(value) and not re.fullmatch(HOST_NAME, value):
        raise WrongSetting(name, value, "an IP address or a host name is allowed")
    return value


def _number(low: int, high: int) -> Callable[[str, str], int]:
    def parse(name: str, value: str) -> int:
        if not re.fullmatch(r"[0-9]{1,12}", value) or not low <= int(value) <= high:
            raise WrongSetting(name, value, f"a whole number from {low} to {high} is allowed")
        return int(value)

    return parse


def _one_of(*allowed: str) -> Callable[[str, str], str]:
    def parse(name: str, value: str) -> str:
        if value not in allowed:
            raise WrongSetting(name, value, f"allowed are {' and '.join(allowed)}")
        return value

    return parse


def _database_url(name: str, value: str) -> str:
    """Plain ``postgresql://`` is run with psycopg 3."""
    scheme, separator, rest = value.partition("://")
    if scheme in {"postgres", "postgresql", "postgresql+psycopg"} and separator:
        url = f"postgresql+psycopg://{rest}"
        if _is_url(url):
            return url
    if scheme == "sqlite" and len(rest) > 1 and rest.startswith("/") and "?" not in rest:
        # A relative path means: from where the command is run.
        return f"sqlite:///{_path(name, rest[1:])}"
    # What stands in the variable may hold a password, so only its scheme is repeated.
    raise WrongSetting(
        name,
        f"{scheme}://…" if separator else "…",
        "allowed are sqlite:///FILE and postgresql://USER:PASSWORD@HOST/DATABASE",
    )


def _base_url(name: str, value: str) -> str:
    match = re.fullmatch(
        rf"https?://({HOST_NAME}|\[[0-9A-Fa-f:.]+\])(:(?P<port>[0-9]{{1,5}}))?{PATH}/?", value
    )
    if match is None or not 1 <= int(match["port"] or 1) <= MAX_PORT:
        found = re.sub(r"//.*@", "//…@", value)  # what stands there may be a password
        raise WrongSetting(name, found, "an address like https://flags.example.org is allowed")
    return value.rstrip("/")


def _prefix(name: str, value: str) -> str:
    if value and not re.fullmatch(PATH, value):
        raise WrongSetting(name, value, "a path like /flagstaff is allowed")
    return value


def _secret(name: str, value: str) -> str | None:
    if value and not (len(value) >= MIN_SECRET and re.fullmatch(r"[\x21-\x7e]+", value)):
        raise WrongSetting(
            name,
            "…",  # a secret, even a wrong one, is not printed
            f"at least {MIN_SECRET} printable ASCII characters without spaces are allowed",
        )
    return value or None


def _address(name: str, value: str) -> str | None:
    if value and not _is_ip(value):
        raise WrongSetting(name, value, "one IP address, that of the proxy, is allowed")
    return value or None


def _is_url(value: str) -> bool:
    try:
        make_url(value)
    except (ArgumentError, ValueError):
        return False
    return True


def _is_ip(value: str) -> bool:
    try:
        ip_address(value)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_ip(host) and ip_address(host).is_loopback)
