"""How long finding takes on an instance that has grown: ``python -m tests.bench.finding``.

Prints p50 and p95 in milliseconds of each kind of question, asked as the overlay asks while someone
types, and of the pages that say what needs someone. An Admin asks, who sees everything, owns a
project and has favourites. Ends with 1 if the p95 of all questions or of a page is above its goal.
"""

import argparse
import sys
import tempfile
from typing import Any
from urllib.parse import urlencode

from tests.bench import postgresql
from tests.bench.growth import TOKEN, grow, p95, show, signed_in, times
from tests.support.processes import FLAGSTAFF, running

GOAL = 100.0
PAGES = {"/": 200.0, "/notices": 200.0, "/projects/p0/health": 300.0}
"""Each with its goal."""
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
            show("all questions", everything)
            is_late = p95(everything) > GOAL
            for path, goal in PAGES.items():
                taken = times(server.port, path, cookie, asked.times)
                show(path, taken)
                is_late |= p95(taken) > goal
    sys.exit(is_late)


if __name__ == "__main__":
    main()
