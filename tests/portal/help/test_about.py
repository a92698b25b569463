"""The version, the packages and their licences."""

from dataclasses import replace
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PINS = Path(__file__).parents[3] / ".pins/run.txt"


def test_it_lists_every_package_that_is_installed_to_run_it(visitor):
    page = visitor.get("/help/about")
    rows = [
        [cell.text(strip=True) for cell in row.css("th, td")] for row in page.select("tbody tr")
    ]
    lines = [line for line in PINS.read_text().splitlines() if line[:1].isalnum()]
    pins = [Requirement(line.removesuffix("\\")) for line in lines]
    here = [pin for pin in pins if pin.marker is None or pin.marker.evaluate()]
    assert {(canonicalize_name(name), version) for name, version, _ in rows} == {
        (pin.name, str(pin.specifier).removeprefix("==")) for pin in here
    }
    assert [name for name, _, licence in rows if not licence] == []
    links = {name: page.links.get(name) for name, _, _ in rows}
    assert {name for name in links if not links[name]} == {"standardwebhooks", "yggdrasil-engine"}
    assert all(link.startswith("https://") for link in links.values() if link)


def test_the_licences_are_there_to_read(visitor):
    page = visitor.get("/help/licences")
    texts = {
        one.css("summary")[0].text().split()[0]: one.css("pre")
        for one in page.select("details.fold")
    }
    assert "MIT License" in texts["flagstaff"][0].text()
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in texts["psycopg"][0].text()
    assert len([name for name, text in texts.items() if not text]) <= 3  # they come without one


def test_it_says_where_to_report_security_problems_if_that_is_set(app, visitor):
    assert "Security problems" not in visitor.get("/help/about").text
    before = app.config["SETTINGS"]
    app.config["SETTINGS"] = replace(before, security_contact="mailto:security@example.org")
    links = visitor.get("/help/about").links
    app.config["SETTINGS"] = before
    assert links["security@example.org"] == "mailto:security@example.org"
