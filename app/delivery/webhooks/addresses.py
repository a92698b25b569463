"""Where a webhook is sent, and which addresses a connection to it may have.

A name is resolved once. Its addresses are checked, and the connection goes to one of those, so
that a name can't lead anywhere else in between.
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
    """The entries of the setting that name the target.

    Raises:
        NotAllowed: if none does.

    """
    found = find(hosts, target.scheme, target.host, target.port)
    if not found:
        origin = f"{target.scheme}://{target.authority}"
        raise NotAllowed(f"{setting} does not name {origin}, so nothing is sent there.")
    return found


def resolve(target: Target, hosts: Sequence[AllowedHost], setting: str = SETTING) -> list[str]:
    """The addresses to connect to, all of them checked.

    Raises:
        NotAllowed: if the target, or one of its addresses, is not what the setting names.
        OSError: if the name is not known.

    """
    entries = entries_for(target, hosts, setting)
    found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
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
