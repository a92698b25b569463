import json

import pytest

from app.operations.cli.evaluate import FAILED, OFF, ON

ASK = ("evaluate", "checkout", "--environment", "development")
NORDIC = "country IN NO,SE"


@pytest.fixture
def shop(machine):
    """A feature that is on for the Nordic countries."""
    machine.ok("project", "create", "shop", "--name", "Shop")
    machine.ok("feature", "create", "shop", "checkout")
    machine.ok("context-field", "create", "country")
    machine.ok(
        *("strategy", "add", "shop", "checkout", "--environment", "development"),
        *("--constraint", NORDIC),
    )
    machine.ok("feature", "on", "shop", "checkout", "--environment", "development")
    return machine


def test_the_exit_status_says_whether_someone_gets_it(shop):
    on = shop.run(*ASK, "--context", "country=NO")
    assert (on.returncode, on.stderr) == (ON, "")
    assert on.stdout == "checkout is on for them in development.\n"
    off = shop.run(*ASK, "--context", "country=DK")
    assert (off.returncode, off.stderr) == (OFF, "")
    assert off.stdout == "checkout is off for them in development.\n"


def test_with_why_it_names_each_rule_and_what_it_was_compared_with(shop):
    said = shop.run(*ASK, "--context", "country=DK", "--why").stdout.splitlines()
    assert said[1:] == [
        "  ✓ It’s on in development",
        "  ✗ Strategy 1: everyone where country is NO or SE",
        "    ✗ country is NO or SE · theirs is DK",
    ]


def test_scripts_get_json(shop):
    found = json.loads(shop.run(*ASK, "--context", "userId=1", "--why", "--json").stdout)
    assert (found["enabled"], found["variant"], found["context"]) == (False, None, {"userId": "1"})
    assert found["reasons"][0] == {
        "met": True,
        "rule": "It’s on in development",
        "compared": None,
        "reasons": [],
    }


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "nothing", "--environment", "development"),
        ("evaluate", "checkout", "--environment", "nowhere"),
        (*ASK, "--context", "country"),
        (*ASK, "--context", "currentTime=now"),
        (*ASK, "--context", "a=" + "x" * 10_001),
    ],
)
def test_what_cannot_be_said_never_looks_like_off(shop, words):
    done = shop.run(*words)
    assert (done.returncode, done.stdout) == (FAILED, "")
    assert len(done.stderr.splitlines()) == 1


def test_a_database_that_is_missing_never_looks_like_off(machine):
    assert machine.run(*ASK).returncode == FAILED
