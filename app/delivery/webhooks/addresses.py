"""Checks where a webhook can be sent: its host, and the IP addresses of its host.

A name is resolved once, and the connection goes to one of the checked addresses. So another answer
of the DNS can't lead it elsewhere (DNS rebinding).
"""

import socket
from collections.abc import Sequence
from ipaddress import ip_address

from app.core.config.allowed_hosts import AllowedHost, find
from app.core.targets import Target
from app.core.words import spoken

SETTING = "FLAGSTAFF_WEBHOOK_HOSTS"


class NotAllowed(Exception):
    """Nothing may be sent there; the message says why."""


def entries_for(
    target: Target, hosts: Sequence[AllowedHost], setting: str = SETTING
) -> tuple[AllowedHost, ...]:
    """Return the entries of the setting that name the target.

    Raises:
        NotAllowed: if no entry does.

    """
    found = find(hosts, target.scheme, target.host, target.port)
    if not found:
        raise NotAllowed(
            f"Flagstaff may not connect to {target.origin} yet. Ask the people who run the server "
            f"to add it to {setting}."
        )
    return found


def resolve(target: Target, hosts: Sequence[AllowedHost], setting: str = SETTING) -> list[str]:
    """Resolve the host to IP addresses, and check all of them.

    Raises:
        NotAllowed: if the setting doesn't allow the target or one of its addresses.
        OSError: if the host name can't be resolved.

    """
    entries = entries_for(target, hosts, setting)
    found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    # IPv6 addresses can end with a zone: fe80::1%eth0.
    addresses = list(dict.fromkeys(str(place[0]).partition("%")[0] for *_, place in found))
    refused = [
        address
        for address in addresses
        if not any(entry.accepts(ip_address(address)) for entry in entries)
    ]
    if refused:
        raise NotAllowed(
            f"{target.host} has the address {spoken(refused)}, which is not public or not in the "
            f"network that {setting} names."
        )
    return addresses
