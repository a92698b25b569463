"""Ten thousand applications poll one server for five minutes while features change."""

import json
import subprocess
import sys
import threading

from tests.support.servers import Server

FEATURES = "/api/admin/projects/default/features"
PROGRAMS, SECONDS, CHANGE_SECONDS = 10_000, 300, 10


def test_ten_thousand_applications_are_answered_without_a_fault(start):
    server: Server = start()
    names = [f"feature.number-{number}" for number in range(1_000)]
    for name in names:
        server.call("POST", FEATURES, {"name": name})
    body = {"tokenName": "crowd", "type": "client", "environment": "production"}
    token = server.call("POST", "/api/admin/api-tokens", body).json["secret"]
    ended = threading.Event()
    changes = threading.Thread(target=change, args=(server, names[0], ended))
    changes.start()
    command = [sys.executable, "-m", "tests.bench.crowd", str(server.port), token]
    wanted = ["--programs", str(PROGRAMS), "--seconds", str(SECONDS)]
    done = subprocess.run([*command, *wanted], capture_output=True, text=True, check=True)
    ended.set()
    changes.join()
    seen = json.loads(done.stdout)
    print(f"\n{PROGRAMS:,} applications for {SECONDS} s: {seen}")
    assert seen["faults"] == {}
    assert set(seen["statuses"]) <= {"200", "202", "304"}
    assert seen["requests"] > PROGRAMS * SECONDS / 15


def change(server: Server, name: str, ended: threading.Event) -> None:
    way = "on"
    while not ended.wait(CHANGE_SECONDS):
        server.call("POST", f"{FEATURES}/{name}/environments/production/{way}")
        way = "off" if way == "on" else "on"
