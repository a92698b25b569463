"""What approvals cost: ``python -m tests.bench.approving``.

Switches 3,000 features on and off by turns, at once where no approval is needed, and by approved
change requests. Prints the CPU seconds of both, and how many times as long the second takes.
"""

import gc
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median
from tempfile import TemporaryDirectory

from flask import Flask

from app.core.actor import COMMAND_LINE
from app.core.db import chunks, unit_of_work
from app.releases.change_requests import applying, service
from app.releases.change_requests.models import MAX_CHANGES
from app.releases.switching.service import switch
from tests.support.change_requests import PROJECT, Desk, new_desk, switching
from tests.support.instances import open_instance
from tests.support.people import People

FEATURES = 3_000
ROUNDS = 8


def main() -> None:
    with TemporaryDirectory() as home:
        environ = {"FLAGSTAFF_HOME": home, "HOME": home, "PATH": "/usr/bin:/bin"}
        with open_instance(environ) as app:
            people = People(app)
            desk = new_desk(people.client("admin", role="Admin"), people)
            pairs = list(_measured(app, desk))[2:]  # the first warm up
    direct, applied = (median(side) for side in zip(*pairs, strict=True))
    sys.stdout.write(
        f"{FEATURES:,} features at once: {direct:.2f} s, by approved change requests: "
        f"{applied:.2f} s, {applied / direct:.1f} times as long\n"
    )


def _measured(app: Flask, desk: Desk) -> Iterator[tuple[float, float]]:
    """CPU seconds without and with approvals, for each round."""
    names = [f"f{number:04}" for number in range(FEATURES)]
    for name in names:
        desk.admin.ok("POST", f"{PROJECT}/features", {"name": name})
    for turn in range(ROUNDS):
        on = turn % 2 == 0
        parts = list(chunks(names, MAX_CHANGES))
        at_once = [
            partial(switch, COMMAND_LINE, "pay", "development", part, on=on) for part in parts
        ]
        direct = _seconds(app, at_once)
        approved = [desk.approved(*(switching(name, on=on) for name in part)) for part in parts]
        yield direct, _seconds(app, [partial(_apply, number) for number in approved])


def _apply(number: int) -> None:
    request = service.get_for_change(COMMAND_LINE, "pay", number)
    applying.apply(COMMAND_LINE, request)


def _seconds(app: Flask, acts: Sequence[Callable[[], object]]) -> float:
    gc.collect()
    began = time.process_time()
    for act in acts:
        with app.app_context(), unit_of_work(writes=True):
            act()
    return time.process_time() - began


if __name__ == "__main__":
    main()
