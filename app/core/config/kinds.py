"""The kinds of values that settings take: how to read each, and what it allows, in words."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

Network = IPv4Network | IPv6Network

MIN_SECRET = 32
MAX_PORT = 65_535
LONGEST_NAME = 255
HOST_NAME = r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}"
URL_PATH = r"(/[A-Za-z0-9_~.-]+)*"

_base_url = re.compile(
    rf"https?://({HOST_NAME}|\[[0-9A-Fa-f:.]+\])(:(?P<port>[0-9]{{1,5}}))?{URL_PATH}/?"
)


_sdk_token = re.compile(
    rf"((?P<type>client|frontend)=)?(?P<secret>(?P<project>\*|[A-Za-z0-9_~.-]{{1,100}}):"
    rf"(?P<environment>[A-Za-z0-9_~-]{{1,100}})\.[A-Za-z0-9_-]{{{MIN_SECRET},255}})"
)


_channel = re.compile(r"(?P<name>[a-z0-9][a-z0-9_-]{0,49})=(?P<url>[a-z][a-z0-9+.-]*://\S+)")


class SdkToken(NamedTuple):
    """A token for SDKs that an operator chose. ``secret``: the whole of it, as SDKs send it."""

    type: str
    project: str
    environment: str
    secret: str


class Channel(NamedTuple):
    """A chat or a mailbox: the name that pages show, and the address as Apprise takes it."""

    name: str
    url: str


@dataclass(frozen=True, slots=True)
class Kind:
    """``read`` raises ValueError unless the value is ``allowed``; ``redact`` hides secrets."""

    allowed: str
    read: Callable[[str], Any]
    redact: Callable[[str], str] = str


def whole_number(low: int, high: int) -> Kind:
    def read(value: str) -> int:
        if not re.fullmatch(r"[0-9]{1,12}", value) or not low <= int(value) <= high:
            raise ValueError
        return int(value)

    return Kind(f"a whole number from {low} to {high}", read)


def one_of(*allowed: str) -> Kind:
    def read(value: str) -> str:
        if value not in allowed:
            raise ValueError
        return value

    return Kind(" or ".join(allowed), read)


def is_ip(value: str) -> bool:
    try:
        ip_address(value)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    return host == "localhost" or (is_ip(host) and ip_address(host).is_loopback)


def in_address(host: str) -> str:
    """The host as in URLs: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def _path(value: str) -> Path:
    try:
        return Path(value).expanduser().absolute()
    except RuntimeError as error:  # ~user without a home folder
        raise ValueError from error


def _host(value: str) -> str:
    if not is_ip(value) and not re.fullmatch(HOST_NAME, value):
        raise ValueError
    return value


def _read_base_url(value: str) -> str:
    match = _base_url.fullmatch(value)
    if match is None or not 1 <= int(match["port"] or 1) <= MAX_PORT:
        raise ValueError
    return value.rstrip("/")


def _read_issuer(value: str) -> str | None:
    """The issuer, unchanged: it must equal the one in tokens. http only for loopback hosts."""
    if not value:
        return None
    match = _base_url.fullmatch(value)
    host = urlsplit(value).hostname or ""
    if match is None or not (value.startswith("https:") or is_loopback(host)):
        raise ValueError
    return value


def _read_contact(value: str) -> str | None:
    if value and not re.fullmatch(r"(https://|mailto:)[!-~]+", value):
        raise ValueError
    return value or None


def _read_header(value: str) -> str | None:
    if value and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}", value):
        raise ValueError
    return value or None


def _read_name(value: str) -> str | None:
    if not re.fullmatch(r"[^\x00-\x20\x7f]*", value) or len(value) > LONGEST_NAME:
        raise ValueError
    return value or None


def _read_words(value: str) -> str:
    if not 0 < len(value) <= LONGEST_NAME or not value.isprintable():
        raise ValueError
    return value


def _read_on_or_off(value: str) -> bool:
    if value not in ("on", "off"):
        raise ValueError
    return value == "on"


def _read_names(value: str) -> tuple[str, ...]:
    names = tuple(name for each in value.split(",") if (name := each.strip()))
    if any(len(name) > LONGEST_NAME or not name.isprintable() for name in names):
        raise ValueError
    return names


def _read_url_path(value: str) -> str:
    if not re.fullmatch(URL_PATH, value):
        raise ValueError
    return value


def _read_secret(value: str) -> str | None:
    if value and not (len(value) >= MIN_SECRET and re.fullmatch(r"[\x21-\x7e]+", value)):
        raise ValueError
    return value or None


def _read_networks(value: str) -> tuple[Network, ...]:
    return tuple(ip_network(part) for each in value.split(",") if (part := each.strip()))


def _read_mail_url(value: str) -> str | None:
    if value and not (re.fullmatch(r"mailtos?://\S+", value) and "to=" not in value):
        raise ValueError
    return value or None


def _read_channels(value: str) -> tuple[Channel, ...]:
    found = [_channel.fullmatch(each) for each in value.split()]
    channels = tuple(Channel(match["name"], match["url"]) for match in found if match)
    if len({channel.name for channel in channels}) < len(found):
        raise ValueError
    return channels


def _read_sdk_tokens(value: str) -> tuple[SdkToken, ...]:
    found = [_sdk_token.fullmatch(part) for each in value.split(",") if (part := each.strip())]
    if not all(found):
        raise ValueError
    return tuple(SdkToken(**match.groupdict(default="client")) for match in found if match)


def _read_database_url(value: str) -> str:
    """A plain ``postgresql://`` means psycopg 3; a relative path is from the working folder."""
    scheme, separator, rest = value.partition("://")
    if scheme in {"postgres", "postgresql", "postgresql+psycopg"} and separator:
        url = f"postgresql+psycopg://{rest}"
        try:
            make_url(url)
        except ArgumentError as error:
            raise ValueError from error
        return url
    if scheme == "sqlite" and len(rest) > 1 and rest.startswith("/") and "?" not in rest:
        return f"sqlite:///{_path(rest[1:])}"
    raise ValueError


def _scheme_only(value: str) -> str:
    scheme, separator, _ = value.partition("://")
    return f"{scheme}://…" if separator else "…"


FOLDER = Kind("a path, where ~ is the home folder of an existing user", _path)
HOST = Kind("an IP address or a host name", _host)
NETWORKS = Kind(
    "IP addresses or networks with commas between them, such as 10.0.0.1 or 10.0.0.0/8",
    _read_networks,
)
URL_PREFIX = Kind("a path like /flagstaff", _read_url_path)
BASE_URL = Kind(
    "an address like https://flags.example.org",
    _read_base_url,
    lambda value: re.sub(r"//.*@", "//…@", value),
)
DATABASE_URL = Kind(
    "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE",
    _read_database_url,
    _scheme_only,
)
ON_OR_OFF = Kind("on or off", _read_on_or_off)
HEADER = Kind("the name of a header, such as X-Remote-User", _read_header)
ISSUER = Kind(
    "the provider’s address, which starts with https:// (http:// only on this machine)",
    _read_issuer,
)
CONTACT = Kind("an address that starts with https:// or mailto:", _read_contact)
NAME = Kind(f"at most {LONGEST_NAME} characters without spaces", _read_name)
NAMES = Kind("names with commas between them", _read_names)
PROVIDER_SECRET = Kind(NAME.allowed, _read_name, lambda _: "…")
WORDS = Kind(f"1 to {LONGEST_NAME} characters", _read_words)
SDK_TOKENS = Kind(
    "tokens like default:development.SECRET with commas between them. A secret has at least "
    f"{MIN_SECRET} letters, digits, - and _",
    _read_sdk_tokens,
    lambda _: "…",
)
MAIL_URL = Kind(
    "an address like mailtos://USER:PASSWORD@smtp.example.com?from=flags@example.com, without to=",
    _read_mail_url,
    lambda _: "…",
)
CHANNELS = Kind(
    "names and addresses with spaces between them, such as ops=slack://TOKEN/TOKEN/TOKEN. A name "
    "has at most 50 small letters, digits, - and _, and occurs once",
    _read_channels,
    lambda _: "…",
)
SECRET = Kind(
    f"at least {MIN_SECRET} printable ASCII characters without spaces",
    _read_secret,
    lambda _: "…",
)
