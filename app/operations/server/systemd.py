"""Messages to the service manager, if it wants them (``Type=notify`` of systemd)."""

import os
import socket
import time
from contextlib import suppress

READY = "READY=1"
STOPPING = "STOPPING=1"
ALIVE = "WATCHDOG=1"
TIMEOUT_SECONDS = 1.0


def reloading() -> str:
    return f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1_000}"


def notify(message: str) -> None:
    """Send the message. A service manager that doesn't listen changes nothing."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address.startswith("@"):  # in the abstract namespace of Linux
        address = f"\0{address[1:]}"
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.settimeout(TIMEOUT_SECONDS)
        sender.sendto(message.encode(), address)
