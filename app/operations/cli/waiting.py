"""``--wait``: wait until applications have a change."""

import re
import time
from collections.abc import Sequence
from typing import Any

import click

from app.catalogue.receipts import service, words
from app.catalogue.receipts.schemas import ReceiptsRow
from app.catalogue.receipts.service import Receipts
from app.catalogue.receipts.states import OPEN
from app.operations.cli.commands import Output
from app.operations.server.instance import read_transaction

MISSING = 3
"""Exit status if not all that can confirm the change have done so in time."""
PAUSE_SECONDS = 1.0
MOST_NAMED = 100
UNITS = {"s": 1, "m": 60, "h": 3_600}


class _Seconds(click.ParamType[int]):
    name = "time"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        found = re.fullmatch(r"(\d{1,5})([smh]?)", str(value))
        if found is None:
            self.fail("Write a time like 60s or 5m.", param, ctx)
        return int(found[1]) * UNITS[found[2] or "s"]


wait_option = click.option(
    "--wait",
    type=_Seconds(),
    help="Wait so long, such as 60s, until all instances that can confirm the change have done so. "
    f"The exit status is {MISSING} if some have not.",
)


def awaited(
    done: Output, project: str, features: Sequence[str], environment: str, seconds: int
) -> tuple[Output, int]:
    """Wait until applications have the features as they are now, for a few seconds at least.

    Return what is known at the end, and the exit status.
    """
    until = time.monotonic() + seconds
    with read_transaction():
        change = service.change_of(project, features, environment)
    while True:
        with read_transaction():
            found = service.of(change, environment)
            value = done.data | {"receipts": ReceiptsRow().dump(found)}
        if found.has_arrived or (found.is_complete and time.monotonic() >= until):
            status = 0 if found.has_arrived else MISSING
            return Output(value, f"{done.text}\n{_said(found)}"), status
        time.sleep(PAUSE_SECONDS)


def _said(found: Receipts) -> str:
    lines = [" ".join([words.verdict(found), *words.rest(found)])]
    missing = [one for one in found.receipts if one.state in OPEN]
    lines += [
        f"  {one.process.application} {one.process.id} ({one.state.value})"
        for one in missing[:MOST_NAMED]
    ]
    if len(missing) > MOST_NAMED:
        lines.append(f"  and {len(missing) - MOST_NAMED} more")
    return "\n".join(lines)
