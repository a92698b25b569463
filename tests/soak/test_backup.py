"""A backup of a large instance under load: it is complete, and no one waits long for it."""

import json

import pytest

from tests.soak.load import PROJECT, Load, percentile
from tests.support.machines import Within

TAGGED = 2_000
ROUNDS = 5


@pytest.mark.usefixtures("with_tools")
@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_a_backup_under_load_is_whole_and_hardly_felt(machine, start, tmp_path, request, backend):
    elsewhere = Within(tmp_path / "elsewhere" / "home")
    if backend == "postgresql":
        machine.settings["DATABASE_URL"] = request.getfixturevalue("empty_postgresql")
        elsewhere.settings["DATABASE_URL"] = request.getfixturevalue("another_postgresql")
    server = start()
    names = [f"tagged-{number}" for number in range(TAGGED)]
    for name in names:
        assert server.call("POST", f"{PROJECT}/features", {"name": name}).status == 201
    for number in range(ROUNDS):
        added = [{"value": f"t{number}-{each}"} for each in range(20)]
        body = {"features": names, "tags": {"addedTags": added, "removedTags": []}}
        assert server.call("PUT", f"{PROJECT}/tags", body).status == 200
    file = tmp_path / "backup"
    with Load(server, clients=4) as load:
        made = json.loads(machine.ok("backup", str(file), "--json"))
    p99 = percentile(load.times, 99)
    size = file.stat().st_size / 1e6
    print(f"\n{backend}: {made['rows']:,} rows, {size:.1f} MB, writes beside it p99 {p99:.2f} s")
    assert load.broken == []
    assert set(load.statuses) == {201}
    assert p99 <= 1
    told = json.loads(elsewhere.ok("restore", str(file), "--yes", "--json"))
    assert told["digest"] == made["digest"]
    assert "intact" in elsewhere.ok("events", "verify")
