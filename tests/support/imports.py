"""Imports through the API, which works on them in a thread of its own."""

import threading
import time
from typing import Any

from tests.support.clients import ApiClient

BUSY = {"reading", "applying"}
SECONDS = 30


def settled(client: ApiClient, id: int) -> Any:
    """The import, once no one works on it."""
    deadline = time.monotonic() + SECONDS
    while (found := client.ok("GET", f"/imports/{id}"))["state"] in BUSY:
        assert time.monotonic() < deadline, found
        time.sleep(0.02)
    return found


def finish(client: ApiClient, id: int) -> Any:
    """Apply its plan as it is."""
    digest = settled(client, id)["plan"]["digest"]
    client.ok("POST", f"/imports/{id}/apply", {"digest": digest})
    return settled(client, id)


def wait() -> None:
    """Let imports end that a test did not wait for: they write to the database."""
    for thread in threading.enumerate():
        if thread.name == "import":
            thread.join(SECONDS)
