"""The system user whose name the command line's events carry."""

import os

import pytest

from app.core.actor import COMMAND_LINE, system_user

pwd = pytest.importorskip("pwd")


@pytest.fixture
def name(monkeypatch):
    monkeypatch.delenv("SUDO_USER", raising=False)
    return pwd.getpwuid(os.getuid()).pw_name


def test_it_is_the_user_of_the_process_whatever_the_environment_says(name, monkeypatch):
    for variable in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.setenv(variable, "someone-else")
    assert system_user() == name


def test_the_command_line_is_named_after_it():
    assert COMMAND_LINE.username.endswith(" (command line)")


def test_the_caller_of_sudo_is_named_too(name, monkeypatch):
    monkeypatch.setenv("SUDO_USER", "ada")
    assert system_user() == f"ada as {name}"


@pytest.mark.parametrize("caller", ["", "a" * 65, "ada\nroot", "ada as root", "\x1b[2J"])
def test_what_is_no_user_name_is_ignored(name, monkeypatch, caller):
    monkeypatch.setenv("SUDO_USER", caller)
    assert system_user() == name


def test_a_user_without_a_name_is_named_by_number(monkeypatch, name):
    monkeypatch.setattr(os, "getuid", lambda: 4_000_123)
    assert system_user() == "uid 4000123"
