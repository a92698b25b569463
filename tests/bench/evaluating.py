"""How fast features are evaluated, next to another server: the same requests to both, by turns.

Needs ``wrk``, and a token of an Admin of the other server. 1,000 features, of which 550 are on for
half of all users; what is created there stays.
"""

import secrets
import sys
from collections.abc import Iterator
from tempfile import TemporaryDirectory

from tests.bench.beside import ROUNDS, Found, Side, median_of, options, require_wrk, through_wrk
from tests.bench.subject import Subject, stranger
from tests.support.processes import FLAGSTAFF, running

FEATURES, ON = 1_000, 550
LINE = "{:24} {:>24} {:>24} {:>6}\n"


def main() -> None:
    asked = options(__doc__)
    require_wrk()
    token = secrets.token_urlsafe(40)
    with (
        TemporaryDirectory(prefix="flagstaff-evaluating-") as home,
        running(FLAGSTAFF, "/ready", HOME=home, BOOTSTRAP_TOKEN=token) as server,
    ):
        ours = Subject((server.address,), token)
        ours.make_project()
        theirs = stranger(asked.url, asked.token)
        for subject in (ours, theirs):
            subject.fill(FEATURES)
            subject.switch_on(ON)
        sides = Side(ours, [server.process.pid]), Side(theirs, asked.pid)
        sys.stdout.write(LINE.format("", "ours", "theirs", "times"))
        for name, own, other in _measure(*sides, asked.seconds):
            times = f"{own.value / other.value:.1f}" if other else ""
            sys.stdout.write(LINE.format(name, _said(own), _said(other), times))
            sys.stdout.flush()


def _measure(ours: Side, theirs: Side, seconds: float) -> Iterator[tuple[str, Found, Found | None]]:
    """Each kind of request with the medians of both sides."""
    sides = [(side, side.subject.new_token("frontend")) for side in (ours, theirs)]
    for name in ours.subject.evaluating(""):
        rates = [
            [
                through_wrk(side, side.subject.evaluating(token)[name], seconds)
                for side, token in sides
            ]
            for _ in range(ROUNDS)
        ]
        own, other = (median_of(found) for found in zip(*rates, strict=True))
        yield name, own, other
    token = ours.subject.new_token("client")
    found = [through_wrk(ours, ours.subject.one_flag(token), seconds) for _ in range(ROUNDS)]
    yield "OFREP, one feature", median_of(found), None


def _said(found: Found | None) -> str:
    if found is None:
        return ""
    return f"{found.value:,.0f} /s, {found.p50:.1f} ms, CPU {found.cpu:.2f}"


if __name__ == "__main__":
    main()
