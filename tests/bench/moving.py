"""How long moving in takes: ``python -m tests.bench.moving``, also with ``--postgresql``.

Reads an export with 10,000 features in three environments, plans it, applies it, plans it again and
undoes it. Prints seconds, and the most memory that the process had.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.bench import postgresql
from tests.support.machines import EXECUTABLE
from tests.support.processes import environment

FEATURES = 10_000
PROJECTS = 50
SEGMENTS = 100
ENVIRONMENTS = ("development", "staging", "production")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.moving", description=__doc__)
    parser.add_argument("--postgresql", action="store_true", help="on PostgreSQL")
    asked = parser.parse_args()
    with TemporaryDirectory() as folder:
        if not asked.postgresql:
            _measure(Path(folder), {})
            return
        with postgresql.own() as url:
            _measure(Path(folder), {"DATABASE_URL": url})


def _measure(folder: Path, settings: dict[str, str]) -> None:
    file = folder / "state.json"
    file.write_text(json.dumps(state()))
    environ = environment({"HOME": str(folder / "home"), **settings})
    print(f"{'':24}seconds  CPU  most MB")
    for name, *words in (
        ("plan", "import", "file", str(file), "--json"),
        ("apply", "import", "apply", "1"),
        ("plan again", "import", "file", str(file), "--json"),
        ("undo", "import", "undo", "1"),
    ):
        seconds, cpu, megabytes = run(words, environ)
        print(f"{name:24}{seconds:7.1f}{cpu:5.1f}{megabytes:9.0f}")


def run(words: list[str], environ: dict[str, str]) -> tuple[float, float, float]:
    """Seconds, CPU seconds and the most megabytes of a command."""
    began = time.monotonic()
    process = subprocess.Popen([EXECUTABLE, *words], env=environ, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{words}: {status}")
    cpu = usage.ru_utime + usage.ru_stime
    return time.monotonic() - began, cpu, usage.ru_maxrss / 1024


def state() -> dict[str, Any]:
    """A state as Unleash exports it, the same every time."""
    chance = random.Random(1)
    projects = [f"project-{number}" for number in range(PROJECTS)]
    found: dict[str, Any] = {
        "version": 4,
        "environments": [{"name": name, "type": "production"} for name in ENVIRONMENTS],
        "projects": [{"id": id, "name": id} for id in projects],
        "tagTypes": [{"name": "simple"}, {"name": "team"}],
        "tags": [{"type": "team", "value": f"t{number}"} for number in range(40)],
        "contextFields": [{"name": "country", "stickiness": True}],
        "segments": [
            {"id": number, "name": f"Segment {number}", "constraints": [_users(chance)]}
            for number in range(SEGMENTS)
        ],
        **{name: [] for name in ("features", "featureTags", "featureStrategies")},
        **{name: [] for name in ("featureEnvironments", "featureStrategySegments")},
    }
    for number in range(FEATURES):
        name = f"feature.{number}"
        found["features"].append(
            {
                "name": name,
                "description": "What it does, in a sentence that is about as long as this one.",
                "project": projects[number % PROJECTS],
                "archived": number % 10 == 0,
            }
        )
        tag = {"featureName": name, "tagType": "team", "tagValue": f"t{number % 40}"}
        found["featureTags"] += [tag] * (number % 3 == 0)
        for place in ENVIRONMENTS:
            _add_state(found, name, place, chance)
    return found


def _add_state(found: dict[str, Any], name: str, environment: str, chance: random.Random) -> None:
    place = {"featureName": name, "environment": environment}
    found["featureEnvironments"].append({**place, "enabled": chance.random() < 0.5})
    for number in range(chance.choice([0, 1, 1, 2])):
        id = f"{name}-{environment}-{number}"
        constraint = {"contextName": "country", "operator": "IN", "values": ["NO", "SE"]}
        parameters = {"rollout": str(chance.randint(0, 100)), "groupId": name}
        found["featureStrategies"].append(
            {
                **place,
                "id": id,
                "strategyName": "flexibleRollout",
                "parameters": {**parameters, "stickiness": "userId"},
                "constraints": [constraint] * chance.randint(0, 1),
                "sortOrder": number,
            }
        )
        if chance.random() < 0.2:
            link = {"featureStrategyId": id, "segmentId": chance.randrange(SEGMENTS)}
            found["featureStrategySegments"].append(link)


def _users(chance: random.Random) -> dict[str, Any]:
    values = [str(chance.randrange(100_000)) for _ in range(50)]
    return {"contextName": "userId", "operator": "IN", "values": values}


if __name__ == "__main__":
    main()
