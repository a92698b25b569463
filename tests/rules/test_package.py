"""The wheel has all that Flagstaff needs, and works where there is nothing else of it."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.one_in(2)]

ROOT = Path(__file__).parents[2]
PARTS = ("templates", "static", "migrations")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    words = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "-w", folder)
    subprocess.run([sys.executable, "-m", "pip", *words, ROOT], check=True)
    [made] = folder.glob("flagstaff-*.whl")
    return made


def test_templates_static_files_and_migrations_are_in_it(wheel):
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if not name.startswith("flagstaff-")}
    expected = {
        f"app/{file.relative_to(ROOT)}"
        for part in PARTS
        for file in (ROOT / part).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    code = {str(file.relative_to(ROOT)) for file in (ROOT / "app").rglob("*.py")}
    assert packed == expected | code


def test_it_migrates_and_draws_pages_from_there_alone(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    script = (
        "from app.core import files, migrations\n"
        "from app.core.db import db\n"
        "from app.operations.server.application import application\n"
        "app = application()\n"
        "with app.app_context(): migrations.upgrade(db.engine)\n"
        "client = app.test_client()\n"
        "page = client.get('/help/operating')\n"
        "print(page.status_code, client.get('/ready').status_code, files.TEMPLATES)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "installed"), "FLAGSTAFF_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    where = tmp_path / "installed" / "app" / "templates"
    assert done.stdout == f"200 200 {where}\n", done.stderr
