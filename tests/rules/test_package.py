"""The wheel has all that Flagstaff needs, and works where there is nothing else of it."""

import re
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from packaging.metadata import Metadata

pytestmark = [pytest.mark.slow, pytest.mark.one_in(2)]

ROOT = Path(__file__).parents[2]
FOLDERS = ("app", "flagstaff", "migrations", "static", "templates")
MAKES_PAGES = """
import sys
from flagstaff.wsgi import app
from app.core import files

client = app.test_client()
pages = ("/help/operating", "/help/changes", "/ready")
print("MIT License" in client.get("/help/licences").text)
print(*(client.get(page).status_code for page in pages), files.TEMPLATES)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    words = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "-w", folder)
    subprocess.run([sys.executable, "-m", "pip", *words, ROOT], check=True)
    [made] = folder.glob("flagstaff-*.whl")
    return made


@pytest.fixture
def installed(wheel, tmp_path) -> Path:
    """A folder with the wheel's packages."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    return tmp_path / "installed"


def python(*words: str, where: Path, path: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=where,
        env={"PYTHONPATH": path, "FLAGSTAFF_HOME": str(where / "home")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_has_everything_under_one_name(wheel):
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    files = {
        file.relative_to(ROOT)
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    } | {Path("wsgi.py"), Path("CHANGELOG.md"), Path("docker/Dockerfile")}
    assert packed == {
        str(file if file.parts[0] == "flagstaff" else "flagstaff" / file) for file in files
    }


def test_it_migrates_and_draws_pages_from_there_alone(installed, tmp_path):
    done = python("-c", MAKES_PAGES, where=tmp_path, path=str(installed))
    assert done.stdout == f"True\n200 200 200 {installed / 'flagstaff/templates'}\n", done.stderr


def test_it_runs_where_another_project_has_a_package_called_app(installed, tmp_path):
    (tmp_path / "other" / "app").mkdir(parents=True)
    (tmp_path / "other" / "app" / "__init__.py").write_text("raise SystemExit('the other one')")
    path = f"{tmp_path / 'other'}:{installed}"
    done = python("-m", "flagstaff", "db", "current", where=tmp_path / "other", path=path)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_it_says_of_itself_is_valid_and_holds_on_the_page_of_an_index(wheel):
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        raw = archive.read(name)
    said = Metadata.from_email(raw, validate=True)
    assert said.license_expression == "MIT"
    assert said.provides_extra in (None, [])
    text = message_from_bytes(raw).get_payload()
    assert "## Start" in text
    assert [link for link in re.findall(r"\]\(([^)]*)\)", text) if "://" not in link] == []
