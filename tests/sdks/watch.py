"""The same with the SDK for Python."""

import json
import logging
import sys
import tempfile
import time

from UnleashClient import UnleashClient  # type: ignore[attr-defined] # it has no __all__
from UnleashClient.cache import FileCache


def say(**facts: object) -> None:
    print(json.dumps(facts), flush=True)  # noqa: T201 - this is how it answers


class Errors(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(error=record.getMessage())


logging.getLogger("UnleashClient").addHandler(Errors(logging.WARNING))
url, token, *modes = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    client = UnleashClient(
        url=f"{url}/api",
        app_name="python-app",
        custom_headers={"Authorization": token},
        refresh_interval=1,
        metrics_interval=1,
        experimental_mode={"type": "streaming"} if modes == ["streaming"] else None,
        cache=FileCache("python-app", directory=folder),
    )
    client.initialize_client()
    before = None
    while True:
        on = client.is_enabled("cart", {"userId": "1"})
        if on != before:
            say(on=on)
        before = on
        time.sleep(0.1)
