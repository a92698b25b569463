"""Pictures of every page, to look at: ``python -m tests.support.screenshots FOLDER``."""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.journeys.instance import furnished
from tests.journeys.layout import show_in
from tests.journeys.places import PLACES
from tests.support.chromium import open_browser

HEIGHT = 900
WIDE, NARROW = 1280, 390
MAIN = ("projects", "features", "feature-child", "picker", "archive-blocked")
"""The pages that are shown narrow too."""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.screenshots", description=__doc__
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", metavar="NAME", choices=PLACES, help="this page alone")
    parser.add_argument("--full", action="store_true", help="down to the foot of each page")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory(prefix="flagstaff-pictures-") as home,
        furnished(Path(home)) as instance,
        open_browser() as browser,
    ):
        for name in [options.only] if options.only else PLACES:
            place = PLACES[name]
            with instance.context(browser, place.who) as context:
                page = context.new_page()
                place.way(page, instance)
                page.wait_for_load_state()
                for width in (WIDE, NARROW) if name in MAIN or options.only else (WIDE,):
                    page.set_viewport_size({"width": width, "height": HEIGHT})
                    for theme in ("light", "dark"):
                        show_in(page, theme)
                        file = options.folder / f"{name}-{width}-{theme}.png"
                        page.screenshot(path=file, full_page=options.full)


if __name__ == "__main__":
    main()
