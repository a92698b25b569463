"""The same with the SDK for Python."""

import json
import sys
import tempfile

from UnleashClient import UnleashClient  # type: ignore[attr-defined] # it has no __all__
from UnleashClient.cache import FileCache

job = json.load(sys.stdin)
with tempfile.TemporaryDirectory() as folder:
    client = UnleashClient(
        url=f"{job['url']}/api",
        app_name="python-app",
        custom_headers={"Authorization": job["token"]},
        disable_metrics=True,
        cache=FileCache("python-app", directory=folder),
    )
    client.initialize_client()
    answers = [
        client.get_variant(asked["feature"], asked["context"])
        if asked["variant"]
        else client.is_enabled(asked["feature"], asked["context"])
        for asked in job["questions"]
    ]
    client.destroy()
json.dump(answers, sys.stdout)
