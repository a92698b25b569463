"""Administering by command: the acts of the API without a browser, by the API's own rules."""

import json
import subprocess
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.actor import COMMAND_LINE
from tests.support.instances import open_instance
from tests.support.machines import EXECUTABLE, Machine, Within, every_command
from tests.support.people import People


def value(machine: Machine, *words: str) -> Any:
    """What a command says to programs."""
    return json.loads(machine.ok(*words, "--json"))


def columns(said: str) -> list[list[str]]:
    """The rows of a table, without its headings."""
    return [line.split() for line in said.splitlines()[1:]]


def fed(machine: Machine, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [EXECUTABLE, *words],
        env=machine.environ(),
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_person_from_beginning_to_end(machine):
    made = value(machine, "user", "create", "--username", "ada", "--email", "ada@example.org")
    assert (made["id"], made["rootRole"]) == (1, 3)
    assert made["inviteLink"].startswith("http://127.0.0.1:4242/set-up/")
    machine.ok("user", "update", "ada", "--name", "Ada Pine", "--role", "editor")
    shown = value(machine, "user", "show", "ada@example.org")
    assert (shown["name"], shown["rootRole"], shown["email"]) == ("Ada Pine", 2, "ada@example.org")
    assert machine.ok("user", "sign-out", "ada") == "Signed ada out everywhere."
    assert machine.ok("user", "delete", "ada") == "Deleted ada (id 1)."
    assert value(machine, "user", "list")["users"] == []
    [gone] = value(machine, "user", "list", "--deleted")["users"]
    assert gone["id"] == 1
    assert machine.ok("user", "restore", "1") == "Restored ada."
    assert columns(machine.ok("user", "list")) == [["1", "Editor", "never", "ada"]]


def test_people_are_found_by_text_and_role(machine):
    machine.ok("user", "create", "--username", "ada", "--role", "Admin")
    machine.ok("user", "create", "--username", "kim")
    assert columns(machine.ok("user", "list", "--text", "KI"))[0][-1] == "kim"
    assert columns(machine.ok("user", "list", "--role", "admin"))[0][-1] == "ada"


def test_tokens_from_beginning_to_end(machine):
    machine.ok("service-account", "create", "--username", "robot", "--role", "Editor")
    made = value(machine, "token", "create", "robot", "--description", "CI", "--days", "30")
    said = machine.ok("token", "whose", fed=made["secret"])
    assert said == "Token 1 of robot, 'CI': valid."
    rotated = value(machine, "token", "rotate", "robot", "1", "--overlap-hours", "0")
    assert machine.ok("token", "whose", fed=made["secret"]).endswith(": revoked.")
    machine.ok("token", "revoke", "robot", str(rotated["id"]))
    assert machine.ok("token", "whose", fed=rotated["secret"]).endswith(": revoked.")
    said = machine.refused("token", "whose", fed="fst_pat_nonsense")
    assert said == "This token was not issued here."
    assert made["secret"] not in machine.ok("token", "list", "robot")
    assert looked_up(machine) == ["token 1 of robot"] * 2 + ["token 2 of robot", "unknown"]


def looked_up(machine: Machine) -> list[str]:
    """What the security log has of tokens that were looked up, all on the command line."""
    engine = sa.create_engine(f"sqlite:///{machine.home}/flagstaff.db")
    with engine.begin() as connection:
        found = connection.execute(sa.text("SELECT name, detail FROM security_log ORDER BY id"))
        rows = found.all()
    engine.dispose()
    assert {name for name, _ in rows} == {COMMAND_LINE.username}
    return [detail for _, detail in rows]


def test_a_token_that_was_seen_expired_stays_so_when_the_clock_is_set_back(machine):
    machine.ok("user", "create", "--username", "ada")
    made = value(machine, "token", "create", "ada", "--description", "CI", "--days", "30")
    engine = sa.create_engine(f"sqlite:///{machine.home}/flagstaff.db")
    with engine.begin() as connection:
        seen = "UPDATE tokens SET seen_expired_at = '2026-01-01 00:00:00.000000'"
        connection.execute(sa.text(seen))
    engine.dispose()
    assert machine.ok("token", "whose", fed=made["secret"]).endswith(": expired.")


def test_an_sdk_token_from_beginning_to_end(machine):
    made = value(machine, "sdk-token", "create", "web", "--environment", "production")
    assert (made["type"], made["projects"]) == ("client", ["*"])
    asked = ("--project", "default", "--type", "frontend", "--days", "30")
    limited = machine.ok("sdk-token", "create", "app", "--environment", "development", *asked)
    assert limited.startswith("default:development.fst_sdk_")
    said = columns(machine.ok("sdk-token", "list", "--text", "we"))
    assert said == [["1", "client", "production", "*", "never", "never", "web"]]
    whose = machine.ok("token", "whose", fed=limited)
    assert whose == "SDK token 2, 'app', for development. It reads project default: valid."
    rotated = value(machine, "sdk-token", "rotate", "1", "--overlap-hours", "0")
    assert machine.ok("token", "whose", fed=made["secret"]).endswith(": revoked.")
    assert machine.ok("sdk-token", "revoke", str(rotated["id"])) == "Revoked SDK token web (id 3)."
    assert [row[0] for row in columns(machine.ok("sdk-token", "list"))] == ["2"]
    refused = machine.refused("sdk-token", "create", "x", "--environment", "nowhere")
    assert "nowhere" in refused


def test_service_accounts_from_beginning_to_end(machine):
    made = value(machine, "service-account", "create", "--name", "Deploy pipeline")
    assert made["username"] == "service-deploy-pipeline"
    machine.ok("service-account", "update", made["username"], "--username", "deploy")
    machine.ok("token", "create", "deploy", "--description", "CI")
    [row] = columns(machine.ok("service-account", "list"))
    assert row[:4] == ["1", "Viewer", "1", "deploy"]
    assert "is a user, not a service account" in refused_for_a_person(machine)
    assert machine.ok("service-account", "delete", "deploy") == "Deleted deploy (id 1)."


def refused_for_a_person(machine: Machine) -> str:
    machine.ok("user", "create", "--username", "ada")
    return machine.refused("service-account", "delete", "ada")


def test_projects_and_their_members_from_beginning_to_end(machine):
    machine.ok("user", "create", "--username", "ada")
    machine.ok("project", "create", "web", "--name", "Web", "--environment", "production")
    machine.ok("project", "update", "web", "--mode", "private", "--description", "The shop")
    shown = value(machine, "project", "show", "web")
    assert (shown["mode"], shown["environments"]) == ("private", ["production"])
    said = machine.ok("project", "grant", "web", "ada", "--role", "owner")
    assert columns(said) == [["1", "Owner", "User", "ada"]]
    assert columns(machine.ok("project", "members", "web")) == columns(said)
    assert "at least one Owner" in machine.refused("project", "withdraw", "web", "ada")
    assert "is not a member" in machine.refused("project", "withdraw", "default", "ada")
    machine.ok("project", "grant", "default", "ada")
    assert columns(machine.ok("project", "withdraw", "default", "ada")) == []
    assert machine.ok("project", "archive", "web") == "Project web archived."
    assert [row[0] for row in columns(machine.ok("project", "list"))] == ["default"]
    assert [row[0] for row in columns(machine.ok("project", "list", "--archived"))] == ["web"]
    machine.ok("project", "revive", "web")


def test_environments_are_listed_created_and_updated(machine):
    made = value(machine, "environment", "create", "staging", "--type", "preproduction")
    assert made == {
        "name": "staging",
        "type": "preproduction",
        "sortOrder": 3,
        "deprecated": False,
        "enabled": True,
        "protected": False,
    }
    said = machine.ok("environment", "update", "staging", "--sort-order", "0", "--deprecated")
    assert columns(said) == [["0", "preproduction", "deprecated", "staging"]]
    assert [row[-1] for row in columns(machine.ok("environment", "list"))] == [
        "staging",
        "development",
        "production",
    ]
    machine.ok("environment", "update", "staging", "--not-deprecated", "--reason", "In use again")
    [event, _] = value(machine, "events", "list", "--type", "environment-updated")["events"]
    assert event["reason"] == "In use again"
    assert (event["data"]["deprecated"], event["data"]["sortOrder"]) == (False, 0)
    assert "already exists" in machine.refused("environment", "create", "staging", "--type", "test")
    assert "--sort-order" in machine.refused(
        "environment", "update", "staging", "--sort-order", "10000"
    )


def test_context_fields_are_listed_created_updated_and_deleted(machine):
    made = value(
        machine, "context-field", "create", "plan", "--legal-value", "free", "--legal-value", "gold"
    )
    assert [legal["value"] for legal in made["legalValues"]] == ["free", "gold"]
    said = machine.ok("context-field", "update", "plan", "--stickiness", "--description", "Paid")
    assert columns(said) == [["plan", "yes", "free,", "gold", "Paid"]]
    found = value(machine, "context-field", "list")["contextFields"]
    assert [field["name"] for field in found][-2:] == ["currentTime", "plan"]
    assert value(machine, "context-field", "update", "plan", "--any-value")["legalValues"] == []
    assert "SDKs send it" in machine.refused("context-field", "delete", "userId")
    assert machine.ok("context-field", "delete", "plan") == "Deleted context field plan."
    assert "There is no context field" in machine.refused("context-field", "delete", "plan")


def test_segments_are_listed_shown_created_updated_and_deleted(machine):
    made = value(
        machine, "segment", "create", "Beta testers", "--constraint", "not userId IN 1,2, 3"
    )
    assert made["constraints"][0]["values"] == ["1", "2", "3"]
    said = machine.ok("segment", "update", "Beta testers", "--description", "Early access")
    assert "userId isn’t 1, 2 or 3" in said
    machine.ok("feature", "create", "default", "search")
    place = ("default", "search", "--environment", "production")
    machine.ok("strategy", "add", *place, "--segment", "Beta testers")
    shown = value(machine, "segment", "show", "Beta testers")
    assert (shown["usedInStrategies"], shown["strategies"][0]["featureName"]) == (1, "search")
    assert "1 strategy uses it" in machine.refused("segment", "delete", "Beta testers")
    refused = machine.refused("segment", "create", "Odd", "--constraint", "userId IS 1")
    assert "is not FIELD OPERATOR VALUES" in refused
    machine.ok("segment", "create", "Staff")
    assert machine.ok("segment", "delete", "Staff") == "Deleted segment Staff."
    found = value(machine, "segment", "list", "--text", "beta")["segments"]
    assert [segment["name"] for segment in found] == ["Beta testers"]


def test_strategies_are_listed_added_updated_and_deleted(machine):
    machine.ok("feature", "create", "default", "search")
    place = ("default", "search")
    where = ("--environment", "production")
    made = value(
        machine,
        *("strategy", "add", *place, *where, "--rollout", "25", "--stickiness", "userId"),
        *("--constraint", "appName IN web", "--variant", "blue=30", "--variant", "red"),
    )
    assert made["summary"] == "On for 25% of users, by userId, where appName is web"
    assert [each["weight"] for each in made["variants"]] == [300, 700]
    said = machine.ok("strategy", "update", *place, made["id"], *where, "--rollout", "50")
    assert "On for 50% of users" in said
    address = ("--type", "remoteAddress", "--parameter", "IPs=10.0.0.0/8")
    machine.ok("strategy", "add", *place, *where, *address)
    assert len(machine.ok("strategy", "list", *place, *where).splitlines()) == 3
    for wrong, why in (
        (("--rollout", "101"), "whole number from 0 to 100"),
        (("--parameter", "x"), "is not NAME=VALUE"),
        (("--segment", "nope"), "There is no segment"),
        (("--variant", "blue=many"), "Must be a whole number"),
    ):
        assert why in machine.refused("strategy", "add", *place, *where, *wrong)
    deleted = machine.ok("strategy", "delete", *place, made["id"], *where)
    assert deleted == "Deleted a strategy of search in production."


def test_a_default_strategy_is_shown_set_and_reset(machine):
    where = ("default", "--environment", "production")
    assert "On for everyone" in machine.ok("default-strategy", "show", *where)
    chosen = value(machine, "default-strategy", "set", *where, "--rollout", "5", "--title", "Few")
    assert (chosen["title"], chosen["parameters"]["rollout"]) == ("Few", "5")
    assert value(machine, "default-strategy", "show", *where) == chosen
    address = ("--type", "remoteAddress", "--parameter", "IPs=10.0.0.0/8")
    replaced = value(machine, "default-strategy", "set", *where, *address)
    assert (replaced["title"], replaced["parameters"]) == (None, {"IPs": "10.0.0.0/8"})
    said = machine.ok("default-strategy", "reset", *where)
    assert columns(said) == [["production", "On", "for", "everyone"]]
    refused = machine.refused("default-strategy", "set", *where, "--disabled")
    assert "No such option" in refused


def test_strategy_types_are_listed_created_updated_deprecated_and_deleted(machine):
    parameters = ("--parameter", "regions:list:required", "--parameter", "note")
    made = value(machine, "strategy-type", "create", "by-region", *parameters)
    assert [(each["name"], each["type"], each["required"]) for each in made["parameters"]] == [
        ("regions", "list", True),
        ("note", "string", False),
    ]
    said = machine.ok("strategy-type", "update", "by-region", "--description", "Shops")
    assert columns(said) == [["by-region", "regions:list:required,", "note:string", "Shops"]]
    found = value(machine, "strategy-type", "list")["strategies"]
    assert [found[0]["name"], found[-1]["name"]] == ["flexibleRollout", "by-region"]
    assert value(machine, "strategy-type", "deprecate", "by-region")["deprecated"] is True
    assert "deprecated" in machine.ok("strategy-type", "list").splitlines()[-1]
    assert value(machine, "strategy-type", "reactivate", "by-region")["deprecated"] is False
    machine.ok("feature", "create", "default", "search")
    place = ("default", "search", "--environment", "production")
    use = ("--type", "by-region", "--parameter", "regions=north")
    strategy = value(machine, "strategy", "add", *place, *use)
    assert "1 strategy has" in machine.refused("strategy-type", "delete", "by-region")
    machine.ok("strategy", "delete", "default", "search", strategy["id"], *place[2:])
    emptied = value(machine, "strategy-type", "update", "by-region", "--no-parameters")
    assert emptied["parameters"] == []
    deleted = machine.ok("strategy-type", "delete", "by-region")
    assert deleted == "Deleted strategy type by-region."


@pytest.mark.parametrize(
    ("parameter", "why"),
    [
        ("regions:map", "Must be one of: string, percentage, list, number, boolean."),
        ("regions:list:must", "is not NAME[:TYPE][:required]"),
        (":list", "Enter 1 to 100 characters."),
    ],
)
def test_a_parameter_that_no_type_can_have_is_refused(machine, parameter, why):
    assert why in machine.refused("strategy-type", "create", "a", "--parameter", parameter)


def test_tag_types_are_listed_created_updated_and_deleted(machine):
    machine.ok("tag-type", "create", "team", "--description", "The team that owns it", "--hue", "2")
    said = machine.ok("tag-type", "update", "team", "--hue", "3")
    assert said.splitlines()[1].split(maxsplit=2) == ["team", "3", "The team that owns it"]
    machine.ok("tag-type", "update", "team", "--description", "")
    types = value(machine, "tag-type", "list")["tagTypes"]
    assert [(type["name"], type["hue"]) for type in types] == [("simple", 1), ("team", 3)]
    machine.ok("feature", "create", "default", "search")
    machine.ok("feature", "tag", "default", "search", "--add", "team:a")
    assert "squad  3" in machine.ok("tag-type", "rename", "team", "squad")
    assert "squad" in machine.refused("tag-type", "delete", "squad")
    machine.ok("feature", "tag", "default", "search", "--remove", "squad:a")
    assert machine.ok("tag-type", "delete", "squad") == "Deleted tag type squad."
    assert "--hue" in machine.refused("tag-type", "create", "area", "--hue", "9")
    assert "--name" in machine.refused("tag-type", "create", "Area")


def test_features_are_exported_by_name_or_all_that_fit(machine):
    for name in ("basket", "card"):
        machine.ok("feature", "create", "default", name)
    said = machine.ok("feature", "export", "--environment", "production")
    assert [each["name"] for each in json.loads(said)["features"]] == ["basket", "card"]
    one = value(machine, "feature", "export", "--environment", "production", "card")
    assert [each["name"] for each in one["features"]] == ["card"]
    assert "moon" in machine.refused("feature", "export", "--environment", "moon")


def test_features_from_beginning_to_end(machine):
    for name in ("checkout", "checkout.new-form", "search"):
        machine.ok("feature", "create", "default", name, "--type", "experiment")
    said = machine.ok("feature", "tag", "default", "checkout", "search", "--add", "team")
    assert columns(said)[:2] == [["checkout", "+simple:team"], ["search", "+simple:team"]]
    said = machine.ok(
        *("feature", "tag", "default", "-", "--add", "simple:team", "--remove", "old", "--json"),
        fed="checkout\n\nsearch\ncheckout.new-form\n",
    )
    assert json.loads(said) == {
        "changed": [{"feature": "checkout.new-form", "added": ["simple:team"], "removed": []}],
        "unchanged": 2,
    }
    assert columns(machine.ok("tag", "list")) == [["simple:team", "3"]]
    assert len(columns(machine.ok("feature", "list", "default", "--tag", "team"))) == 3
    plan = columns(machine.ok("feature", "plan", "default", "search", "nothing"))
    assert plan == [["search", "would", "be", "archived"], ["nothing", "unknown"]]
    assert machine.ok("feature", "archive", "default", "search") == "Archived 1: search"
    assert columns(machine.ok("feature", "list", "default", "--archived"))[0][0] == "search"
    assert machine.ok("feature", "revive", "default", "search") == "Revived 1: search"


def test_a_lifetime_of_a_type_of_features_is_set(machine):
    assert ["release", "40"] in columns(machine.ok("feature-type", "set-lifetime", "release", "40"))
    machine.ok("feature-type", "set-lifetime", "release", "0")
    types = value(machine, "feature-type", "list")["types"]
    assert {type["lifetimeDays"] for type in types} == {None}
    assert "sunset" in machine.refused("feature-type", "set-lifetime", "sunset", "40")


def test_links_of_a_feature_are_added_and_removed(machine):
    machine.ok("feature", "create", "default", "cart")
    url = "https://tickets.example/1"
    of_cart = ("default", "cart", url)
    assert machine.ok("feature", "link", "add", *of_cart, "--title", "Ticket") == (
        f"Added {url} to cart."
    )
    assert f"Ticket: {url}" in machine.ok("feature", "show", "default", "cart")
    assert "Enter an address" in machine.refused("feature", "link", "add", "default", "cart", "x")
    assert machine.ok("feature", "link", "remove", *of_cart) == f"Removed {url} from cart."
    assert machine.ok("feature", "link", "remove", *of_cart) == "Nothing to change."
    assert value(machine, "feature", "show", "default", "cart")["links"] == []


def test_a_feature_is_completed_and_listed_by_its_stage(machine):
    for name in ("cart", "search"):
        machine.ok("feature", "create", "default", name)
    words = ("feature", "complete", "default", "cart", "--status", "kept", "--value", "blue")
    dry = machine.ok(*words, "--dry-run")
    assert dry == "Marked cart as completed: kept.\nDry run: nothing was changed."
    done = value(machine, *words, "--reason", "The test is over")
    assert [step["stage"] for step in done["lifecycle"]] == ["initial", "completed"]
    assert (done["lifecycle"][1]["status"], done["lifecycle"][1]["statusValue"]) == ("kept", "blue")
    assert machine.ok(*words) == "Nothing to change."
    listed = ("feature", "list", "default", "--stage")
    assert columns(machine.ok(*listed, "completed")) == [["cart", "release", "completed", "never"]]
    assert columns(machine.ok(*listed, "initial", "--usage", "never"))[0][0] == "search"
    assert columns(machine.ok("feature", "list", "default", "--stale-proposal", "any")) == []
    undo = ("feature", "uncomplete", "default", "cart")
    assert machine.ok(*undo) == "Marked cart as not completed."
    assert machine.ok(*undo) == "Nothing to change."
    [event, *_] = value(machine, "events", "list", "--type", "feature-completed")["events"]
    assert (event["reason"], event["data"]["status"]) == ("The test is over", "kept")
    assert "--status" in machine.refused("feature", "complete", "default", "cart")


def test_features_are_switched_in_an_environment(machine):
    for name in ("cart", "search"):
        machine.ok("feature", "create", "default", name)
    words = ("default", "cart", "search", "--environment", "production")
    assert machine.ok("feature", "on", *words) == "Switched 2 on in production: cart, search"
    assert value(machine, "feature", "on", *words) == {"changed": [], "unchanged": 2}
    shown = machine.ok("feature", "show", "default", "cart").splitlines()
    assert shown[-1].split() == ["production", "on", "On", "for", "everyone"]
    off = ("default", "cart", "--environment", "production")
    assert machine.ok("feature", "off", *off) == "Switched 1 off in production: cart"
    states = value(machine, "feature", "show", "default", "cart")["environments"]
    assert [state["enabled"] for state in states] == [False, False]
    refused = machine.refused("feature", "on", "default", "cart", "--environment", "moon")
    assert "does not use an environment named moon" in refused


def test_one_unknown_feature_and_no_tag_is_changed(machine):
    machine.ok("feature", "create", "default", "search")
    said = machine.refused("feature", "tag", "default", "search", "serach", "--add", "team")
    assert said == "These features are not in project default: serach."
    assert columns(machine.ok("tag", "list")) == []


def test_inactive_people_are_reviewed_and_deleted(machine):
    machine.home.mkdir(mode=0o700)
    with open_instance(machine.environ()) as app:
        people = People(app)
        for name, days in (("ada", 200), ("kim", 300), ("lee", 1)):
            people.person(name, away_days=days)
        robot = people.service_account("robot")
    assert [row[-1] for row in columns(machine.ok("user", "inactive"))] == ["kim", "ada"]
    said = machine.ok("user", "delete-inactive", "1", "3", str(robot), "99")
    assert columns(said) == [
        ["1", "deleted", "ada"],
        ["3", "skipped:", "active"],
        [str(robot), "skipped:", "a", "service", "account"],
        ["99", "skipped:", "unknown"],
    ]
    assert value(machine, "user", "delete-inactive", "--all")["deleted"] == [2]
    assert machine.refused("user", "delete-inactive").startswith("Give ids, or --all.")


def test_an_event_is_undone(machine):
    machine.ok("project", "create", "web", "--name", "Web")
    machine.ok("project", "update", "web", "--description", "The shop")
    [event] = value(machine, "events", "list", "--type", "project-updated")["events"]
    undo = ("events", "undo", str(event["id"]))
    assert machine.ok(*undo, "--dry-run") == "1 event undone.\nDry run: nothing was changed."
    assert value(machine, *undo, "--reason", "By mistake")["undone"] == [event["id"]]
    [undone, _] = value(machine, "events", "list", "--type", "project-updated")["events"]
    assert (undone["data"]["description"], undone["reason"]) == (None, "By mistake")
    assert "Someone changed description since" in machine.refused(*undo)


def test_events_are_listed_with_filters(machine):
    machine.ok("user", "create", "--username", "ada", "--reason", "new colleague")
    machine.ok("feature", "create", "default", "search")
    [event] = value(machine, "events", "list", "--type", "user-created")["events"]
    assert (event["reason"], event["createdBy"]) == ("new colleague", COMMAND_LINE.username)
    said = machine.ok("events", "list", "--feature", "search")
    assert "created feature search in project default" in said.splitlines()[1]
    assert said.splitlines()[-1] == "1 of 1"
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT00:00:00Z")
    assert value(machine, "events", "list", "--from", tomorrow)["events"] == []
    assert "Invalid value for --type" in machine.refused("events", "list", "--type", "x")


def test_groups_from_beginning_to_end(machine):
    made = value(machine, "group", "create", "Devs", "--project", "default=member")
    assert made["projects"] == [{"id": "default", "roleId": 5}]
    machine.ok("group", "update", "devs", "--role", "editor")
    assert columns(machine.ok("group", "list")) == [
        ["1", "Editor", "Member", "of", "default", "0", "Devs"]
    ]
    assert "must look like payments=member" in machine.refused(
        "group", "update", "devs", "--project", "default"
    )
    assert machine.ok("group", "delete", "devs") == "Deleted group Devs."
    assert "There is no group 'devs'." in machine.refused("group", "delete", "devs")


def test_tokens_of_directories_from_beginning_to_end(machine):
    made = value(machine, "scim-token", "create", "Okta", "--days", "30")
    assert made["secret"].startswith("fst_scim_")
    [listed] = value(machine, "scim-token", "list")["tokens"]
    assert (listed["tokenName"], listed["hint"]) == ("Okta", made["secret"][-4:])
    known = "SCIM token 1, 'Okta', with which a directory manages users and groups"
    assert machine.ok("token", "whose", fed=made["secret"]) == f"{known}: valid."
    assert machine.ok("scim-token", "revoke", "1") == "Revoked SCIM token Okta."
    assert machine.ok("token", "whose", fed=made["secret"]) == f"{known}: revoked."
    assert looked_up(machine) == ["SCIM token 1"] * 2
    assert value(machine, "scim-token", "list")["tokens"] == []


CHANGES = [
    "user create --username kim",
    "user update ada --role Admin",
    "user delete ada",
    "user reset-password ada",
    "token create ada --description new",
    "token revoke ada 1",
    "token rotate ada 1",
    "sdk-token create mobile --environment production",
    "sdk-token rotate 1",
    "sdk-token revoke 1",
    "webhook create other https://hooks.example/",
    "webhook update 1 --paused",
    "webhook rotate 1",
    "webhook test 1",
    "webhook delete 1",
    "group create devs --role editor --project default=member",
    "group update ops --role none",
    "group delete ops",
    "scim-token create Okta",
    "scim-token revoke 1",
    "scim-token disconnect",
    "service-account create --username other",
    "service-account update robot --name Other",
    "service-account delete robot",
    "context-field create plan --legal-value free",
    "context-field update userId --description Someone",
    "segment create Beta",
    "segment update Staff --description Ours",
    "segment delete Staff",
    "strategy add default checkout --environment production --rollout 5",
    "default-strategy set default --environment production --rollout 5",
    "default-strategy reset default --environment development",
    "strategy-type create by-plan",
    "strategy-type update by-region --description Shops",
    "strategy-type deprecate by-region",
    "strategy-type reactivate by-country",
    "strategy-type delete by-region",
    "environment create staging --type test",
    "environment update production --deprecated",
    "tag-type create team",
    "tag-type update simple --hue 4",
    "tag-type rename area place",
    "tag-type delete area",
    "project create web --name Web",
    "project update default --name Other",
    "project grant default ada",
    "feature create default search",
    "feature tag default checkout --add x",
    "feature on default checkout --environment production",
    "feature archive default checkout",
    "release start default checkout --environment production --template Careful",
    "release next default basket --environment production",
    "release hold default basket --environment production",
    "release resume default cart --environment production",
    "release stop default basket --environment production",
    "release leave default basket --environment production",
]


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    machine = Within(tmp_path_factory.mktemp("furnished") / "home")
    machine.settings["WEBHOOK_HOSTS"] = "hooks.example"
    for words in (
        "user create --username ada",
        "token create ada --description first",
        "sdk-token create web --environment production",
        "webhook create chat https://hooks.example/",
        "service-account create --username robot",
        "group create ops --role viewer",
        "scim-token create directory",
        "feature create default checkout",
        "tag-type create area",
        "segment create Staff",
        "default-strategy set default --environment development --rollout 5",
        "strategy-type create by-region",
        "strategy-type create by-country",
        "strategy-type deprecate by-country",
        "feature create default basket",
        "release start default basket --environment production --template Careful",
        "feature create default cart",
        "release start default cart --environment production --template Careful",
        "release hold default cart --environment production",
    ):
        machine.ok(*words.split())
    return machine


@pytest.mark.slow
@pytest.mark.parametrize("words", CHANGES)
def test_a_rehearsal_says_what_would_be_done_and_does_not(furnished, words):
    before = everything(furnished)
    said = furnished.ok(*words.split(), "--dry-run")
    assert said.splitlines()[-1] == "Dry run: nothing was changed."
    assert "fst_" not in said
    assert "/set-up/" not in said
    assert everything(furnished) == before


def everything(machine: Machine) -> list[Any]:
    engine = sa.create_engine(f"sqlite:///{machine.home}/flagstaff.db")
    tables = (
        "accounts",
        "groups",
        "scim_tokens",
        "tokens",
        "setup_links",
        "projects",
        "features",
        "feature_tags",
        "events",
        "environments",
        "tag_types",
        "context_fields",
        "segments",
        "feature_states",
        "releases",
        "strategies",
        "strategy_types",
    )
    with engine.connect() as connection:
        found = [connection.execute(sa.text(f"SELECT * FROM {name}")).all() for name in tables]
    engine.dispose()
    return found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_for_each_shell(machine, shell):
    assert "_FLAGSTAFF_COMPLETE" in machine.ok("completion", shell)


def test_completion_knows_the_commands(machine):
    environ = machine.environ() | {
        "_FLAGSTAFF_COMPLETE": "bash_complete",
        "COMP_WORDS": "flagstaff user re",
        "COMP_CWORD": "2",
    }
    done = subprocess.run([EXECUTABLE], env=environ, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [
        f"plain,{name}" for name in ("reactivate", "reset-password", "reset-second-step", "restore")
    ]


def test_every_change_can_be_rehearsed_and_everything_has_json():
    without = {
        "serve",
        "example", "completion", "demo", "doctor", "db current", "db upgrade", "db move", "restore",
        "backup", "export",
    }  # fmt: skip
    for path, command in every_command():
        options = {option for parameter in command.params for option in parameter.opts}
        if path not in without:
            assert "--json" in options, path
            reads = path.split()[-1] in {
                "list", "show", "inactive", "members", "plan", "whose", "verify", "evaluate",
                "search", "export", "unleash", "file", "check",
            }  # fmt: skip
            assert ("--dry-run" in options) is not reads, path


def test_search_finds_by_name_and_says_what_may_have_been_meant(machine):
    machine.ok("feature", "create", "default", "checkout.express")
    assert "checkout.express" in machine.ok("search", "express", "check")
    found = value(machine, "search", "checkout", "--in", "features")
    assert [hit["name"] for hit in found["groups"][0]["hits"]] == ["checkout.express"]
    assert machine.ok("search", "chekcout") == "Nothing matches. Did you mean checkout?"
    assert machine.ok("search", "qqqqq") == "Nothing matches."


def test_in_maintenance_mode_no_command_changes_anything_but_the_one_that_ends_it(machine):
    assert machine.ok("maintenance", "show") == "Maintenance mode is off."
    assert value(machine, "maintenance", "on", "--reason", "Move") == {"enabled": True}
    refused = machine.run("user", "create", "--username", "ada")
    assert refused.returncode == 1
    assert "Nothing can be changed until it ends." in refused.stderr
    machine.ok("user", "create", "--username", "ada", "--dry-run")
    assert value(machine, "user", "list")["users"] == []
    assert "flagstaff maintenance off" in machine.run("doctor").stdout
    assert machine.ok("maintenance", "off") == "Maintenance mode is off."
    machine.ok("user", "create", "--username", "ada")


def test_archived_features_are_deleted_for_good_once_someone_agrees(machine):
    for name in ("cart", "search"):
        machine.ok("feature", "create", "default", name)
    machine.ok("feature", "archive", "default", "cart")
    assert "Archive them first." in machine.refused(
        "feature", "delete", "default", "cart", "search", "--yes"
    )
    machine.run("feature", "delete", "default", "cart", fed="n\n")
    assert len(value(machine, "feature", "list", "default", "--archived")["features"]) == 1
    assert machine.ok("feature", "delete", "default", "cart", "--yes") == "Deleted 1: cart"
    assert value(machine, "feature", "list", "default", "--archived")["features"] == []
