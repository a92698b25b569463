"""The network of an IP address: one person can often use all its addresses."""

from functools import lru_cache
from ipaddress import ip_address, ip_network

from app.core.config.kinds import Network

NETWORK_BITS = {4: 24, 6: 64}


def network_of(ip: str | None) -> str:
    """The first 24 bits of an IPv4 address, or the first 64 of an IPv6 address."""
    if ip is None:
        return "unknown"
    try:
        address = ip_address(ip.partition("%")[0])  # without the zone, as in fe80::1%eth0
    except ValueError:
        return "unknown"
    return str(ip_network((address, NETWORK_BITS[address.version]), strict=False))


@lru_cache
def is_in(ip: str, networks: tuple[Network, ...]) -> bool:
    """Whether an IP address belongs to one of the networks; False for any other text."""
    try:
        address = ip_address(ip.partition("%")[0])
    except ValueError:
        return False
    return any(address in network for network in networks)
