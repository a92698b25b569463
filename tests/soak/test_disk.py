"""A disk that is full or can't be written to: what was confirmed stays, and it recovers."""

import subprocess
from contextlib import suppress
from pathlib import Path

from tests.soak.load import PROJECT, Load, can_write, features, wait_until
from tests.support.machines import EXECUTABLE, Machine
from tests.support.servers import TOKEN


def test_a_full_disk_refuses_changes_and_nothing_else(small_disk, start):
    server = start(on=Machine(small_disk / "home"))
    assert can_write(server, "before")
    filler = small_disk / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(b"x" * 65_536):
            pass
    with Load(server) as load:
        wait_until(lambda: load.statuses[503] > 0, 30)
        assert server.call("GET", f"{PROJECT}/features").status == 200
        refused = server.call("POST", f"{PROJECT}/features", {"name": "refused"})
        assert refused.status == 503
        assert refused.json["name"] == "UnavailableError"
        assert refused.headers["Retry-After"]
    assert set(load.statuses) <= {201, 503}
    filler.unlink()
    assert wait_until(lambda: server.call("GET", "/ready", token=None).status == 200, 10) < 1.5
    assert wait_until(lambda: can_write(server, "after"), 10) < 2
    assert load.made <= features(server)


def test_on_a_disk_that_can_not_be_written_to_it_says_so_and_does_not_start(small_disk, start):
    machine = Machine(small_disk / "home")
    server = start(on=machine)
    assert can_write(server, "before")
    assert server.end() == 0
    remount(small_disk, "ro")
    said = machine.refused("serve", BOOTSTRAP_TOKEN=TOKEN)
    assert "database" in said or "Read-only" in said, said
    remount(small_disk, "rw")
    assert features(start(on=machine)) == {"before"}


def remount(folder: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True)


def test_a_full_disk_of_the_log_costs_the_log_alone(machine, start):
    command = ["sh", "-c", f"exec '{EXECUTABLE}' serve 2>/dev/full"]
    server = start(command=command)
    with Load(server) as load:
        assert server.call("GET", "/api/admin/user").status == 200
        assert server.call("GET", "/no/such/page", token=None).status == 404
        wait_until(lambda: load.statuses[201] > 100, 30)
    assert set(load.statuses) == {201}
    assert load.made == features(server)
    assert server.end() == 0
