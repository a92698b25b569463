"""Doing what is due: change requests that are scheduled, and steps of releases.

Several processes do it side by side. Each thing is done in a transaction of its own, which locks
it and looks again whether it is still due: so it is done once, and a kill at any moment loses and
repeats nothing.
"""

import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from sqlalchemy.exc import DBAPIError

from app.core import faults
from app.core.db import transact
from app.core.errors import DomainError
from app.core.logs import LOGGER

Id = TypeVar("Id", int, str)

AT_ONCE = 100
"""Due things that are read in one go."""
SECONDS = 2.0
"""Time limit of one ``work_off``, so that other chores of the process are not delayed."""
BROKEN = "Something went wrong on our side. The log of the server says more. Try it again."


def work_off(
    rows: Sequence[Any],
    *,
    is_due: Callable[[Id], bool],
    act: Callable[[Id], None],
    fail: Callable[[Id, str], None],
    act_name: str,
) -> int:
    """Do what is due, the earliest first. Return how many were tried.

    ``rows``: each of the time when it is due, and its id. ``act``: does it if it is still due.
    ``fail``: notes why it couldn’t be done. If the database is unavailable, it is tried next time.
    """
    shuffled = random.sample(rows, len(rows))  # so that processes seldom meet at equal times
    until, number = time.monotonic() + SECONDS, 0
    for _, id in sorted(shuffled, key=lambda row: row[0]):
        if not transact(partial(is_due, id), writes=False):
            continue  # another process was quicker: don’t wait for the write lock
        _do_or_fail(id, act, fail, act_name)
        number += 1
        if time.monotonic() > until:
            break
    return number


def _do_or_fail(
    id: Id, act: Callable[[Id], None], fail: Callable[[Id, str], None], act_name: str
) -> None:
    try:
        transact(partial(act, id), writes=True)
    except DomainError as error:
        transact(partial(fail, id, error.message), writes=True)
    except Exception as error:  # noqa: BLE001 - one that breaks must not block the others
        if isinstance(error, DBAPIError) and faults.is_unavailable(error):
            LOGGER.warning("%s %s failed for now: %s", act_name, id, error)
            return
        LOGGER.exception("%s %s failed", act_name, id)
        transact(partial(fail, id, BROKEN), writes=True)
