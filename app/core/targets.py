"""URLs that requests are sent to: their form and their parts."""

import re
from typing import NamedTuple

from app.core.config.allowed_hosts import USUAL_PORTS
from app.core.config.kinds import HOST_NAME, MAX_PORT, in_address

PATTERN = (
    rf"^https?://({HOST_NAME}|\[[0-9A-Fa-f:.]+\])(:[0-9]{{1,5}})?"
    r"(/[A-Za-z0-9._~/?\[\]@!$&'()*+,;=:%-]*)?$"
)

_parts = re.compile(
    rf"(?P<scheme>https?)://(?P<host>{HOST_NAME}|\[[0-9A-Fa-f:.]+\])(:(?P<port>[0-9]{{1,5}}))?"
    r"(?P<path>/.*)?",
)


class Target(NamedTuple):
    """The parts of a URL. ``host``: in lower case, without brackets."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Host as in URLs and headers, with the port unless it is the default."""
        host = in_address(self.host)
        return host if self.port == USUAL_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"


def parse(url: str) -> Target:
    """The parts of a URL that matches PATTERN.

    Raises:
        ValueError: if the port is out of range.

    """
    match = _parts.fullmatch(url)
    if match is None:
        raise ValueError
    port = int(match["port"] or USUAL_PORTS[match["scheme"]])
    if not 1 <= port <= MAX_PORT:
        raise ValueError
    return Target(match["scheme"], match["host"].strip("[]").lower(), port, match["path"] or "/")


def shown(url: str) -> str:
    """URL without its path, which holds a secret for some receivers."""
    target = parse(url)
    return f"{target.origin}{'/…' if target.path != '/' else ''}"
