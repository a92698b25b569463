"""``make site``: the help as files."""

import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser

from app.portal.help.pages_help import TOPICS

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[3] / "docs/help_site.py"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "help"
    subprocess.run([sys.executable, SCRIPT, folder], check=True)
    return folder


def test_every_topic_and_endpoint_is_in_it(site):
    names = {page.stem for page in site.glob("*.html")}
    assert names >= {"index", "endpoints", *TOPICS}


def test_no_link_is_dead_wherever_the_folder_is(site):
    pages = {page.name: LexborHTMLParser(page.read_text()) for page in site.glob("*.html")}
    dead = []
    for name, page in pages.items():
        for one in page.css("[href], [src]"):
            link = one.attributes.get("href") or one.attributes["src"]
            scheme, host, path, _, anchor = urlsplit(link)
            target = site / (path or name)
            exists = not path.startswith("/") and target.is_file()
            if anchor and target.suffix == ".html":
                exists = exists and page_has(pages[target.name], anchor)
            elif anchor:
                exists = exists and f'id="{anchor}"' in target.read_text()
            if not exists and not (scheme == "https" and host and one.tag == "a"):
                dead.append((name, link))
    assert dead == []


def page_has(page: LexborHTMLParser, anchor: str) -> bool:
    return page.css_first(f'[id="{anchor}"]') is not None
