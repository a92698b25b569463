"""Where a process gets its settings from, and where its data is if they don't say."""

from pathlib import Path

import pytest

from app.core import config
from app.core.config import from_process


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """The working folder, without a setting in the environment."""
    for name in (*config.every_setting(), "PORT", "DATABASE_URL", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, "")  # also what a test adds goes at its end
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def test_a_file_in_the_working_folder_sets_what_the_environment_does_not(folder, monkeypatch):
    (folder / ".env").write_text("# ours\nFLAGSTAFF_PORT=8080\nFLAGSTAFF_HOST='::1'\n")
    monkeypatch.setenv("FLAGSTAFF_HOST", "127.0.0.2")
    settings = from_process()
    assert (settings.port, settings.host) == (8080, "127.0.0.2")


def test_what_the_file_has_for_other_programs_is_not_read(folder):
    (folder / ".env").write_text("DATABASE_URL=postgresql://a:b@host/shop\nPORT=9000\n")
    settings = from_process()
    assert settings.port == 4242
    assert settings.database_url.startswith("sqlite:")


def test_a_password_in_the_file_is_taken_as_it_is(folder):
    address = "postgresql://a:p$HOME${x}#b@host/db"
    (folder / ".env").write_text(f"FLAGSTAFF_DATABASE_URL='{address}'\n")
    assert from_process().database_url == address.replace("postgresql", "postgresql+psycopg")


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """As if Flagstaff were installed from a wheel, and not run in a checkout."""
    monkeypatch.setattr(config, "ROOT", tmp_path / "site-packages" / "flagstaff")


@pytest.mark.usefixtures("installed")
def test_an_installed_program_has_its_data_in_one_place_wherever_it_is_started(folder, monkeypatch):
    first = from_process().home
    (folder / "deeper").mkdir()
    monkeypatch.chdir(folder / "deeper")
    assert from_process().home == first
    assert first == folder.parent / "user/.local/share/flagstaff"


def test_a_checkout_has_its_data_inside(folder):
    assert from_process().home == config.ROOT / "instance"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", config.OF_A_HOME)
def test_data_that_is_in_the_working_folder_is_found_there(folder, name):
    (folder / "instance").mkdir()
    assert from_process().home != folder / "instance"
    (folder / "instance" / name).touch()
    assert from_process().home == folder / "instance"
