"""How long a search takes on an instance that has grown: ``python -m tests.bench.searching``.

Prints p50 and p95 in milliseconds of each kind of question, asked as the overlay asks while someone
types, by someone who sees everything. Ends with 1 if the p95 of all is above GOAL.
"""

import argparse
import statistics
import sys
import tempfile
from typing import Any
from urllib.parse import urlencode

from tests.bench import postgresql
from tests.bench.growth import TOKEN, grow, show, signed_in, times
from tests.support.processes import FLAGSTAFF, running

GOAL = 100.0
QUESTIONS = (
    "f",
    "fe",
    "eat",
    "feat",
    "feature-99",
    "FEATURE-12345",
    "99999",
    "feature 77",
    "project 12",
    "p77",
    "person-12",
    "tag-7",
    "simple:tag-1",
    "group 4711",
    "ready pay",
    "featrue-9",
    "nothing-like-it",
    "on:production",
    "off:production feature-5",
    ">",
    "> export",
    "",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgresql", **postgresql.OPTION)
    parser.add_argument("--times", type=int, default=40, help="requests a question")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, postgresql.chosen(asked.postgresql) as url:
        grow({"FLAGSTAFF_HOME": home, "FLAGSTAFF_DATABASE_URL": url})
        settings: dict[str, Any] = {"HOME": home, "DATABASE_URL": url, "BOOTSTRAP_TOKEN": TOKEN}
        with running(FLAGSTAFF, "/ready", **settings) as server:
            cookie = {"Cookie": signed_in(server.port)}
            print(f"{'question':<62}{'p50 ms':>8}{'p95 ms':>8}")
            everything = []
            for question in QUESTIONS:
                path = f"/search/hits?{urlencode({'q': question})}"
                taken = times(server.port, path, cookie, asked.times)
                show(question or "(nothing yet)", taken)
                everything += taken
            show("all", everything)
    sys.exit(statistics.quantiles(everything, n=20)[-1] > GOAL)


if __name__ == "__main__":
    main()
