"""Every setting: meaning, allowed values and default. Invalid values prevent the start."""

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy.pool import NullPool

from app.core.config import kinds
from app.core.config.allowed_hosts import ALLOWED_HOSTS, EITHER_SCHEME, AllowedHost
from app.core.config.kinds import Channel, Network, SdkToken
from app.core.config.setting import Given, Setting, WrongKeyFile, WrongSetting, setting, variable
from app.core.files import ROOT

KEY_FILE = "secret_key"
OF_A_HOME = (KEY_FILE, "flagstaff.db", "event_heads.jsonl")
"""A folder with any of these files is a home folder."""
COMMITTED = "committed"
"""The bind of a second connection, which reads the state before a transaction's changes."""
MOST_PROCESSES = 4
"""Most processes by default."""

API_DESCRIPTION = """\
Administers feature toggles: service accounts, projects, features and their tags, people, and
what archiving would do. Requests and responses are JSON; every request is one transaction.
"""


def _default_processes(_: Mapping[str, Any]) -> str:
    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        usable = os.cpu_count() or 1
    return str(min(usable, MOST_PROCESSES))


@dataclass(frozen=True, slots=True)
class Settings:
    """What an operator can choose."""

    home: Path = setting(
        "The folder of the SQLite file, the secret key and what belongs to them. If it is missing, "
        "it is created for its owner only.",
        kinds.FOLDER,
        lambda _: str(_usual_home()),
        "instance in a checkout, otherwise the user’s data folder",
    )
    database_url: str = setting(
        "The database.",
        kinds.DATABASE_URL,
        lambda before: f"sqlite:///{before['home'] / 'flagstaff.db'}",
        "flagstaff.db in the home folder",
        usual="DATABASE_URL",
    )
    host: str = setting(
        "The address to listen on. Other than loopback, it needs FLAGSTAFF_BASE_URL.",
        kinds.HOST,
        "127.0.0.1",
    )
    port: int = setting(
        "The port to listen on.", kinds.whole_number(1, kinds.MAX_PORT), "4242", usual="PORT"
    )
    processes: int = setting(
        "How many processes answer requests. SIGHUP replaces them one by one.",
        kinds.whole_number(1, 64),
        _default_processes,
        f"one for each CPU, at most {MOST_PROCESSES}",
    )
    threads: int = setting(
        "Threads of each process. One handles requests; the others help when a request takes "
        "longer than a few milliseconds. The last one takes only requests that change nothing.",
        kinds.whole_number(1, 64),
        "4",
    )
    base_url: str = setting(
        "The address that people use. Links begin with it. A path at its end is the same as "
        "FLAGSTAFF_URL_PREFIX. Pages answer only to its host and to loopback names, the API to "
        "any. With https, cookies are Secure and browsers keep to https.",
        kinds.BASE_URL,
        lambda before: f"http://{kinds.in_address(before['host'])}:{before['port']}",
        "http:// with FLAGSTAFF_HOST and FLAGSTAFF_PORT",
    )
    bootstrap_token: str | None = setting(
        "If no Admin has a valid token at the start, a service account named bootstrap gets this "
        "one. Remove it from the environment afterwards.",
        kinds.SECRET,
    )
    bootstrap_sdk_tokens: tuple[SdkToken, ...] = setting(
        "SDK tokens that are valid from the first start on, for applications that start together "
        "with Flagstaff. With frontend= before one, it is for browsers. What is revoked stays so.",
        kinds.SDK_TOKENS,
    )
    secret_key: str | None = setting(
        "Signs cookies and reviews; the keys of two-step sign-in and the secrets of webhooks are "
        "derived from it. Several servers on one database need the same key.",
        kinds.SECRET,
        default_words="created at the first start: secret_key in the home folder",
    )
    trusted_proxy: tuple[Network, ...] = setting(
        "The proxies whose X-Forwarded-For, -Host and -Proto and X-Request-Id are believed. From "
        "others, they are ignored.",
        kinds.NETWORKS,
    )
    url_prefix: str = setting(
        "The path below which a reverse proxy serves Flagstaff.",
        kinds.URL_PREFIX,
        lambda before: urlsplit(before["base_url"]).path,
        "the path of FLAGSTAFF_BASE_URL",
    )
    inactivity_days: int = setting(
        "A person is inactive after this many days without signing in or using a token.",
        kinds.whole_number(1, 3_650),
        "180",
    )
    access_review_days: int = setting(
        "The home page reminds Owners and Admins to review the access to a project after this "
        "many days. 0: never.",
        kinds.whole_number(0, 3_650),
        "90",
    )
    stale_after_days: int = setting(
        "A feature is proposed as stale if no application checked it for this many days, or if it "
        "has been on for everyone in all environments for so long. 0: not for these reasons.",
        kinds.whole_number(0, 3_650),
        "30",
    )
    max_request_bytes: int = setting(
        "The largest body of a request, in bytes.",
        kinds.whole_number(1_024, 2**30),
        str(2 * 2**20),
    )
    session_hours: int = setting(
        "An unused session ends after this many hours. Every session ends after 30 days.",
        kinds.whole_number(1, 30 * 24),
        "12",
    )
    password_min: int = setting(
        "The fewest characters of a new password. If they are fewer than 15, passwords that are "
        "easy to guess are refused.",
        kinds.whole_number(8, 128),
        "15",
    )
    security_log_days: int = setting(
        "How many days the security log keeps an entry. It has at most 100,000 entries.",
        kinds.whole_number(1, 3_650),
        "90",
    )
    security_contact: str | None = setting(
        "Where to report security problems of this instance, for /.well-known/security.txt.",
        kinds.CONTACT,
    )
    webhook_hosts: tuple[AllowedHost, ...] = setting(
        "The hosts that webhooks may be sent to; nothing is sent to others. With https on port 443 "
        "unless an entry says otherwise. A host must have public addresses, unless the entry is "
        "the address itself or names its network after =.",
        ALLOWED_HOSTS,
    )
    mail_url: str | None = setting(
        "The mail server for mail to people, as an address of Apprise. With it, people who have an "
        "e-mail address get links to set a password, and what they choose in My account.",
        kinds.MAIL_URL,
    )
    channels: tuple[Channel, ...] = setting(
        "Chats and mailboxes that Admins can have messages sent to, each with a name for them and "
        "an address of Apprise, for Slack, Microsoft Teams, Mattermost, e-mail and many more.",
        kinds.CHANNELS,
    )
    import_hosts: tuple[AllowedHost, ...] = setting(
        "The hosts of Unleash servers that Admins can import from in the portal, written like "
        "those of webhooks. With a port and no scheme, both https and http are allowed. The "
        "command line reads from any.",
        EITHER_SCHEME,
    )
    oidc_issuer: str | None = setting(
        "The OpenID Connect provider that people sign in with. Flagstaff reads its configuration "
        "from /.well-known/openid-configuration below this address.",
        kinds.ISSUER,
    )
    oidc_client_id: str | None = setting(
        "The name under which the provider knows this Flagstaff.", kinds.NAME
    )
    oidc_client_secret: str | None = setting(
        "The secret that the provider gave it. Without one, PKCE alone protects the sign-in.",
        kinds.PROVIDER_SECRET,
    )
    oidc_scopes: str = setting(
        "What to ask the provider for. Some need groups here too.",
        kinds.WORDS,
        "openid profile email",
    )
    oidc_groups_claim: str = setting(
        "The claim with the names of a person’s groups.", kinds.WORDS, "groups"
    )
    sign_on_name: str = setting(
        "What the sign-in page calls the provider or the proxy.", kinds.WORDS, "your organisation"
    )
    sign_on_header: str | None = setting(
        "The header in which FLAGSTAFF_TRUSTED_PROXY says who is signed in there. It is believed "
        "from no one else.",
        kinds.HEADER,
    )
    sign_on_header_email: str | None = setting(
        "The header with their e-mail address, which the proxy must have verified.", kinds.HEADER
    )
    sign_on_header_name: str | None = setting("The header with their full name.", kinds.HEADER)
    sign_on_header_groups: str | None = setting(
        "The header with the names of their groups, with commas between them.", kinds.HEADER
    )
    sign_on_create: str = setting(
        "Who gets an account at their first single sign-on: none of those without one, those in a "
        "group that gives a role, or all. They are Viewers, and what their groups give them.",
        kinds.one_of("none", "group", "all"),
        "none",
    )
    sign_on_link: bool = setting(
        "Whether the first single sign-on leads to the account with the same verified e-mail "
        "address (from a proxy: or the same user name). Off: people link their account themselves.",
        kinds.ON_OR_OFF,
        "off",
    )
    password_sign_in: bool = setting(
        "Whether people can sign in with a password. Off needs single sign-on.",
        kinds.ON_OR_OFF,
        "on",
    )
    break_glass_admins: tuple[str, ...] = setting(
        "The user names of Admins who can sign in with a password even so, for when the provider "
        "is away. Each such sign-in is an event.",
        kinds.NAMES,
    )
    log_format: str = setting(
        "The format of the log on standard error.", kinds.one_of("text", "json"), "text"
    )
    log_level: str = setting(
        "What is the least important to log. Requests are logged as info, and as error if they "
        "failed because of the server.",
        kinds.one_of("info", "warning", "error"),
        "info",
    )
    log_requests: bool = setting(
        "Whether each request is a line in the log. Those that failed because of the server are "
        "in any case.",
        kinds.ON_OR_OFF,
        "on",
    )

    def address(self, path: str = "") -> str:
        """URL of a path of this server, as people reach it."""
        return f"{self.base_url}{self.url_prefix}{path}"

    @property
    def inactivity(self) -> timedelta:
        """How long after the last sign-in or use of a token a person is inactive."""
        return timedelta(days=self.inactivity_days)

    @property
    def access_review_after(self) -> timedelta:
        """How long after a review the members of a project are due for another; zero: never."""
        return timedelta(days=self.access_review_days)

    @property
    def stale_after(self) -> timedelta:
        """After so long unused, or on for everyone, features are proposed as stale; zero: never."""
        return timedelta(days=self.stale_after_days)

    @property
    def has_provider(self) -> bool:
        """Whether people can sign in with an OpenID Connect provider."""
        return self.oidc_issuer is not None

    @property
    def has_single_sign_on(self) -> bool:
        return self.has_provider or self.sign_on_header is not None

    @property
    def is_https(self) -> bool:
        return self.base_url.startswith("https:")

    @property
    def base_is_loopback(self) -> bool:
        """Whether people reach it only on this machine."""
        return kinds.is_loopback(urlsplit(self.base_url).hostname or "")

    @property
    def listens_on_loopback(self) -> bool:
        return kinds.is_loopback(self.host)


def every_setting() -> dict[str, Setting]:
    """The settings by the name of their variable."""
    return {variable(field.name): field.metadata["setting"] for field in fields(Settings)}


def from_process() -> Settings:
    """The settings of this process: its environment and ``.env`` in the working folder.

    What the environment has wins. Only Flagstaff's own variables are read from the file.

    Raises:
        WrongSetting: at the first one that is not valid.

    """
    file = Path(".env")
    if file.is_file():
        from dotenv import dotenv_values  # noqa: PLC0415 - few have the file

        for name, text in dotenv_values(file, interpolate=False).items():
            if name.startswith(variable("")) and text is not None:
                os.environ.setdefault(name, text)
    return from_environment(os.environ)


def given_in(environ: Mapping[str, str]) -> dict[str, Given]:
    """What is set of each setting, by its name; an empty text for what is not."""
    return {
        field.name: field.metadata["setting"].given(field.name, environ)
        for field in fields(Settings)
    }


def from_environment(environ: Mapping[str, str]) -> Settings:
    """Read and check all settings. An empty variable counts as not set.

    Raises:
        WrongSetting: at the first one that is not valid.

    """
    given = given_in(environ)
    values: dict[str, Any] = {}
    for field in fields(Settings):
        values[field.name] = field.metadata["setting"].read(given[field.name], values)
    path = urlsplit(values["base_url"]).path
    if path not in ("", values["url_prefix"]):
        allowed = f"empty or {path}, because FLAGSTAFF_BASE_URL ends with that"
        raise WrongSetting(*given["url_prefix"], allowed)
    values["base_url"] = values["base_url"].removesuffix(path)
    settings = Settings(**values)
    if not settings.listens_on_loopback and not given["base_url"].text:
        allowed = (
            f"the address that people use, because FLAGSTAFF_HOST is {settings.host!r}, "
            "for example https://flags.example.org"
        )
        raise WrongSetting(*given["base_url"], allowed)
    _check_sign_on(settings)
    return settings


def _check_sign_on(settings: Settings) -> None:
    """Refuse sign-on settings that lack another one they need."""
    if settings.has_provider and settings.oidc_client_id is None:
        raise WrongSetting("FLAGSTAFF_OIDC_CLIENT_ID", "", "set, because FLAGSTAFF_OIDC_ISSUER is")
    if settings.oidc_client_id is not None and not settings.has_provider:
        raise WrongSetting("FLAGSTAFF_OIDC_ISSUER", "", "set, because FLAGSTAFF_OIDC_CLIENT_ID is")
    if "openid" not in settings.oidc_scopes.split():
        raise WrongSetting(
            "FLAGSTAFF_OIDC_SCOPES", settings.oidc_scopes, "a list with openid in it"
        )
    if settings.sign_on_header is not None and not settings.trusted_proxy:
        raise WrongSetting(
            "FLAGSTAFF_TRUSTED_PROXY", "", "set, because FLAGSTAFF_SIGN_ON_HEADER is"
        )
    if not settings.password_sign_in and not settings.has_single_sign_on:
        allowed = "on, unless FLAGSTAFF_OIDC_ISSUER or FLAGSTAFF_SIGN_ON_HEADER is set"
        raise WrongSetting("FLAGSTAFF_PASSWORD_SIGN_IN", "off", allowed)


def for_flask(settings: Settings) -> dict[str, Any]:
    """The settings under the names that Flask and its extensions read."""
    return {
        "SETTINGS": settings,
        "SECRET_KEY": settings.secret_key or _kept_secret_key(settings.home),
        "SESSION_COOKIE_NAME": _cookie_name(settings),
        "SESSION_COOKIE_PATH": settings.url_prefix or "/",
        "SESSION_COOKIE_SECURE": settings.is_https,
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Lax",
        "WTF_CSRF_CHECK_DEFAULT": False,  # app/web/routes.py checks every page
        "WTF_CSRF_TIME_LIMIT": None,  # it lasts as long as the session
        "WTF_CSRF_SSL_STRICT": False,  # app/web/origins.py checks where a form comes from
        "MAX_CONTENT_LENGTH": settings.max_request_bytes,
        "SQLALCHEMY_DATABASE_URI": settings.database_url,
        "SQLALCHEMY_ENGINE_OPTIONS": {
            "pool_size": settings.threads + 3,
            "max_overflow": 0,
            **_engine_options(settings),
        },
        # Not of the pool: threads that wait for a second connection would block each other.
        "SQLALCHEMY_BINDS": {
            COMMITTED: {
                "url": settings.database_url,
                "poolclass": NullPool,
                **_engine_options(settings),
            }
        },
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


def _usual_home() -> Path:
    """Where data is unless the operator says where: the same wherever the command is started."""
    here = Path("instance")
    if any((here / name).exists() for name in OF_A_HOME):  # as versions before 0.3.0 had it
        return here
    if (ROOT / "pyproject.toml").is_file():
        return ROOT / "instance"
    from platformdirs import user_data_path  # noqa: PLC0415 - a checkout needs none

    return user_data_path("flagstaff", appauthor=False)


def _kept_secret_key(home: Path) -> str:
    """The key in the home folder; the first process that needs it creates it.

    Raises:
        WrongKeyFile: if the file holds something else.

    """
    file = home / KEY_FILE
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    while not file.exists():
        # In a file of its own first, so that no other process reads a key that is half written.
        made = home / f".secret_key.{secrets.token_hex(8)}"
        handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as out:
            out.write(secrets.token_urlsafe(48))
        with suppress(FileExistsError):  # fails if another process was first
            file.hardlink_to(made)
        made.unlink()
    key = file.read_text("ascii", "replace").strip()
    try:
        kinds.SECRET.read(key or " ")
    except ValueError:
        raise WrongKeyFile(file) from None
    return key


def _cookie_name(settings: Settings) -> str:
    """Browsers accept a __Host- cookie only over https and for the whole host."""
    return "__Host-flagstaff" if settings.is_https and not settings.url_prefix else "flagstaff"


def _engine_options(settings: Settings) -> dict[str, Any]:
    """A connection for each thread, and three more for background work."""
    options: dict[str, Any] = {
        "hide_parameters": True,  # in error messages, and so in the log
    }
    if settings.database_url.startswith("postgresql"):
        options["connect_args"] = {
            "connect_timeout": 3,
            "application_name": "flagstaff",
            "options": (
                "-c statement_timeout=10s -c lock_timeout=5s "
                "-c idle_in_transaction_session_timeout=30s -c timezone=UTC "
                # Compiling a statement takes longer than running it does.
                "-c jit=off"
            ),
        }
    return options
