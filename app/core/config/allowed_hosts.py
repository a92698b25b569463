"""The hosts that the server may send requests to, and the IP addresses they may have."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from app.core.config.kinds import HOST_NAME, MAX_PORT, Kind, Network

Address = IPv4Address | IPv6Address

USUAL_PORTS = {"https": 443, "http": 80}
TRANSLATED = tuple(map(IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48")))
"""IPv6 addresses that a gateway (NAT64) translates into IPv4 addresses, also private ones."""

_entry = re.compile(
    rf"((?P<scheme>https?)://)?(?P<host>{HOST_NAME}|\[[0-9a-f:.]+\])"
    r"(:(?P<port>[0-9]{1,5}))?(=(?P<network>[0-9a-f:./]+))?"
)


@dataclass(frozen=True, slots=True)
class AllowedHost:
    """``network``: all its addresses must be in this; without one, they must be public."""

    scheme: str
    host: str
    port: int
    network: Network | None

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    def accepts(self, address: Address) -> bool:
        if isinstance(address, IPv6Address) and address.ipv4_mapped:
            address = address.ipv4_mapped
        return is_public(address) if self.network is None else address in self.network


def find(
    hosts: Sequence[AllowedHost], scheme: str, host: str, port: int
) -> tuple[AllowedHost, ...]:
    """The entries that name this host with this scheme and port."""
    return tuple(one for one in hosts if one.origin == (scheme, host, port))


def is_public(address: Address) -> bool:
    """Whether an address is public and can't lead to a private one (6to4, Teredo, NAT64)."""
    if isinstance(address, IPv6Address):
        leads_elsewhere = address.sixtofour or address.teredo
        if leads_elsewhere or any(address in network for network in TRANSLATED):
            return False
    return address.is_global and not address.is_multicast


def _read(value: str) -> tuple[AllowedHost, ...]:
    return tuple(map(_read_entry, _entries(value)))


def _read_with_either_scheme(value: str) -> tuple[AllowedHost, ...]:
    """As ``_read``, but a port without a scheme allows http too: people type what they read."""
    entries = _entries(value)
    with_port = [f"http://{entry}" for entry in entries if _names_only_port(entry)]
    return tuple(map(_read_entry, [*entries, *with_port]))


def _entries(value: str) -> list[str]:
    return [entry for part in value.split(",") if (entry := part.strip().lower())]


def _names_only_port(entry: str) -> bool:
    match = _entry.fullmatch(entry)
    return match is not None and match["scheme"] is None and match["port"] is not None


def _read_entry(entry: str) -> AllowedHost:
    match = _entry.fullmatch(entry)
    if match is None:
        raise ValueError
    scheme, host = match["scheme"] or "https", match["host"].strip("[]")
    port = int(match["port"] or USUAL_PORTS[scheme])
    if not 1 <= port <= MAX_PORT:
        raise ValueError
    network = ip_network(match["network"]) if match["network"] else None
    try:
        own = ip_network(ip_address(host))
    except ValueError:
        if ":" in host:
            raise
        return AllowedHost(scheme, host, port, network)
    if network is not None:  # an IP address is its own network
        raise ValueError
    return AllowedHost(scheme, host, port, own)


ALLOWED_HOSTS = Kind(
    "hosts with commas between them, such as hooks.example.com, hooks.example.com:8443, "
    "http://10.1.2.3:8080 or hooks.internal=10.0.0.0/8",
    _read,
)
EITHER_SCHEME = Kind(ALLOWED_HOSTS.allowed, _read_with_either_scheme)
