"""The network that an address belongs to: people with one address often have the others too."""

from ipaddress import ip_address, ip_network

NETWORK_BITS = {4: 24, 6: 64}


def network_of(ip: str | None) -> str:
    """The first 24 bits of an IPv4 address, or the first 64 of an IPv6 address."""
    if ip is None:
        return "unknown"
    try:
        address = ip_address(ip.partition("%")[0])
    except ValueError:
        return "unknown"
    return str(ip_network((address, NETWORK_BITS[address.version]), strict=False))
