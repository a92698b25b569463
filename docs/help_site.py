"""The help as files, for a web server or for reading from disk: ``make site``.

The pages are those of a new instance, as people see them who aren't signed in.
"""

import re
import shutil
import sys
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory

from flask.testing import FlaskClient

from app.core.config import from_environment
from app.core.files import STATIC
from app.factory import create_app
from app.operations.server.instance import migrate

ADDRESS = "https://flags.example.com"
FILES = {"/help": "index.html", "/api/": "endpoints.html", "/api/openapi.json": "openapi.json"}
"""The names of pages that aren't named after a topic."""
SCRIPT = re.compile(r"\s*<script\b.*?</script>", re.DOTALL)
LINK = re.compile(r'<a\b[^>]*\bhref="(/[^"#?]*)[^>]*>(.*?)</a>', re.DOTALL)
REFERENCE = re.compile(r'\b(href|src)="(/[^"#?]*)(?:\?[^"#]*)?')


def write_site(folder: Path) -> None:
    """Write every page that can be reached from the first, with what it shows."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(STATIC, folder / "static", ignore=shutil.ignore_patterns("js"))
    with TemporaryDirectory() as home:
        settings = from_environment({"FLAGSTAFF_HOME": home, "FLAGSTAFF_BASE_URL": ADDRESS})
        app = create_app(settings)
        with app.app_context():
            migrate(settings)
        client = app.test_client()
        waiting, written = ["/help"], set[str]()
        while waiting:
            path = waiting.pop()
            if path not in written:
                written.add(path)
                waiting += _write(client, path, folder)


def _write(client: FlaskClient, path: str, folder: Path) -> list[str]:
    """Write one page; return the paths of those that it leads to."""
    answer = client.get(path, base_url=ADDRESS)
    if answer.status_code != HTTPStatus.OK:
        raise RuntimeError(f"{path} answers {answer.status}")
    text, found = answer.text, []
    if answer.mimetype == "text/html":
        # Scripts talk to a server. Links to its other pages become the words that they show.
        text = LINK.sub(lambda link: link[0] if _file(link[1]) else link[2], SCRIPT.sub("", text))
        found = [target for _, target in REFERENCE.findall(text) if target[:8] != "/static/"]
        text = REFERENCE.sub(lambda link: f'{link[1]}="{_file(link[2])}', text)
    folder.joinpath(_file(path)).write_text(text, "utf-8")
    return found


def _file(path: str) -> str:
    """Where a path is in the folder; empty for one that is not part of it."""
    if path.startswith("/static/"):
        return path[1:]
    topic = path.removeprefix("/help/")
    return FILES.get(path, f"{topic}.html" if topic != path else "")


if __name__ == "__main__":
    write_site(Path(sys.argv[1]))
