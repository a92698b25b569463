"""Commands that propose where changes need approvals, and those for change requests."""

import json
import shlex
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from app.core.actor import COMMAND_LINE
from app.core.clock import utcnow
from tests.support.change_requests import (
    LIST,
    PROJECT,
    Desk,
    delivery,
    new_desk,
    rollout,
    switching,
)
from tests.support.instances import open_instance
from tests.support.machines import Machine
from tests.support.people import People

IN_PRODUCTION = ("--environment", "production")


@pytest.fixture
def desk(machine: Machine) -> Iterator[Desk]:
    machine.home.mkdir()
    with open_instance(machine.environ()) as app:
        people = People(app)
        yield new_desk(people.client("admin", role="Admin"), people)


def value(machine: Machine, *words: str) -> Any:
    return json.loads(machine.ok(*words, "--json"))


def opened(machine: Machine, *words: str) -> Any:
    """The change request that a command opens."""
    return value(machine, *words)["changeRequest"]


def changes(request: Any) -> list[tuple[str, str]]:
    return [
        (change["action"], each["name"])
        for each in request["features"]
        for change in each["changes"]
    ]


def approve(desk: Desk, number: int) -> None:
    for person in (desk.finn, desk.sofia):
        desk.to("Approved", number, by=person)


def test_switching_opens_a_change_request_that_is_applied_after_its_approval(machine, desk):
    words = machine.ok("feature", "on", "pay", "card", "tips", *IN_PRODUCTION)
    [waiting] = desk.kim.ok("GET", LIST)["changeRequests"]
    number = waiting["id"]
    assert words.splitlines() == [
        "Changes in production need 2 approvals, so nothing has changed yet.",
        f"Change request {number} waits for review: Switch on card and 1 more change",
        f"Approve it at http://127.0.0.1:4242/projects/pay/change-requests/{number}",
        f"Then apply it there, or with: flagstaff change-request apply pay {number}",
    ]
    assert waiting["state"] == "In review"
    assert waiting["createdBy"] == {"id": None, "username": COMMAND_LINE.username}
    assert not desk.feature()["enabled"]
    refused = machine.refused("change-request", "apply", "pay", str(number))
    assert refused == f"Change request {number} needs 2 more approvals first."
    approve(desk, number)
    assert "Applied" in machine.ok("change-request", "apply", "pay", str(number))
    assert desk.feature()["enabled"]


def test_with_a_reason_a_command_changes_things_at_once(machine, desk):
    words = ("feature", "on", "pay", "card", *IN_PRODUCTION, "--reason", "The shop is down")
    assert machine.ok(*words) == "Switched 1 on in production: card"
    assert desk.feature()["enabled"]
    assert desk.recorded("change-request-bypassed")


def test_a_dry_run_proposes_nothing(machine, desk):
    said = machine.ok("feature", "on", "pay", "card", *IN_PRODUCTION, "--dry-run")
    assert said.endswith("Dry run: nothing was changed.")
    assert desk.admin.ok("GET", LIST)["total"] == 0


def test_what_is_so_already_or_not_there_is_not_proposed(machine, desk):
    desk.directly("card/environments/production/on")
    said = machine.ok("feature", "on", "pay", "card", *IN_PRODUCTION)
    assert said == "Switched 0 on in production."
    request = opened(machine, "feature", "on", "pay", "card", "tips", *IN_PRODUCTION)
    assert changes(request) == [("updateEnabled", "tips")]
    refused = machine.refused("feature", "on", "pay", "nope", *IN_PRODUCTION)
    assert "not in project pay: nope" in refused


def test_strategies_of_what_is_on_are_proposed(machine, desk):
    id = desk.directly("card/environments/production/strategies", rollout(10))["id"]
    desk.directly("card/environments/production/on")
    request = opened(
        machine, "strategy", "add", "pay", "card", *IN_PRODUCTION, "--parameter", "rollout=40"
    )
    assert changes(request) == [("addStrategy", "card")]
    place = ("pay", "card", id, *IN_PRODUCTION)
    request = opened(machine, "strategy", "update", *place, "--disabled")
    assert changes(request) == [("updateStrategy", "card")]
    assert changes(opened(machine, "strategy", "delete", *place)) == [("deleteStrategy", "card")]
    [strategy] = desk.feature()["strategies"]
    assert not strategy["disabled"]


def test_strategies_of_what_is_off_are_changed_at_once(machine, desk):
    words = ("strategy", "add", "pay", "card", *IN_PRODUCTION, "--parameter", "rollout=40")
    assert value(machine, *words)["parameters"]["rollout"] == "40"
    assert len(desk.feature()["strategies"]) == 1


def test_archiving_what_is_on_is_proposed(machine, desk):
    desk.directly("card/environments/production/on")
    request = opened(machine, "feature", "archive", "pay", "card", "tips")
    found = changes(request)
    assert found == [("archiveFeature", "card"), ("archiveFeature", "tips")]
    assert value(machine, "feature", "archive", "pay", "tips") == {"archived": ["tips"]}


def test_a_segment_in_use_is_proposed_where_that_is_one_place(machine, desk):
    rule = {"contextName": "userId", "operator": "IN", "values": ["1"]}
    body = {"name": "Staff", "project": "pay", "constraints": [rule]}
    id = desk.admin.ok("POST", "/segments", body)["id"]
    desk.directly("card/environments/production/strategies", rollout(100, segments=[id]))
    desk.directly("card/environments/production/on")
    words = ("segment", "update", "Staff", "--constraint", "userId IN 2")
    [change] = opened(machine, *words)["segments"]
    assert (change["action"], change["segment"]) == ("updateSegment", id)
    machine.ok("segment", "update", "Staff", "--description", "Ours")
    found = desk.admin.ok("GET", f"/segments/{id}")
    assert (found["constraints"][0]["values"], found["description"]) == (["1"], "Ours")


def test_change_requests_are_listed_and_shown_without_drafts(machine, desk):
    desk.draft(switching("card", on=True))
    number = desk.open(switching("tips", on=True), by=desk.finn)
    listed = machine.ok("change-request", "list", "pay").splitlines()
    assert listed[0].split() == ["ID", "STATE", "ENVIRONMENT", "TITLE", "BY", "APPROVALS"]
    assert len(listed) == 2
    rows = value(machine, "change-request", "list", "pay", "--state", "In review")
    assert [each["id"] for each in rows["changeRequests"]] == [number]
    assert value(machine, "change-request", "list", "pay", "--feature", "card")["total"] == 0
    shown = machine.ok("change-request", "show", "pay", str(number))
    assert "Switch on tips" in shown
    assert "0 of 2" in shown
    assert "no change request 99" in machine.refused("change-request", "show", "pay", "99")


def test_why_it_cannot_be_applied_is_shown(machine, desk):
    id = desk.directly("card/environments/production/strategies", rollout(25))["id"]
    gone = {"feature": "card", "action": "deleteStrategy", "payload": {"id": id}}
    number = desk.open(gone)
    desk.directly(f"card/environments/production/strategies/{id}", method="DELETE")
    refused = machine.refused("change-request", "apply", "pay", str(number))
    assert f"There is no strategy with the id {id} here." in refused


def test_a_change_request_is_scheduled_and_cancelled(machine, desk):
    number = desk.approved(switching("card", on=True))
    at = (utcnow() + timedelta(days=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    request = value(machine, "change-request", "schedule", "pay", str(number), "--at", at)
    assert (request["state"], request["schedule"]["status"]) == ("Scheduled", "pending")
    wrong = machine.refused("change-request", "schedule", "pay", str(number), "--at", "soon")
    assert "--at" in wrong
    words = ("change-request", "cancel", "pay", str(number), "--comment", "Not this week")
    assert value(machine, *words)["state"] == "Cancelled"
    refused = machine.refused("change-request", "cancel", "pay", str(number))
    assert f"Change request {number} is closed: cancelled." in refused
    assert desk.admin.ok("GET", f"{PROJECT}/features/card")["environments"]


COMMANDS = [
    "feature off pay card --environment production",
    "feature on pay tips card --environment production",
    "feature archive pay card",
    "feature archive pay tips --remove-dependencies-on tips",
    "feature revive pay old",
    "strategy add pay card --environment production --rollout 5",
    "strategy update pay card {strategy} --environment production --rollout 5",
    "strategy delete pay card {strategy} --environment production",
    "default-strategy set pay --environment production --rollout 5",
    "segment update Staff --constraint 'userId IN 2'",
    "segment delete Staff",
    "environment update production --deprecated",
    "project update pay --name Other",
    "project archive pay",
    "release start pay card --environment production --template Careful",
    "apply --yes {file}",
]


def test_no_command_changes_alone_what_applications_get_or_ends_approvals(machine, desk, tmp_path):
    """Card is on and in a segment, and depends on tips, which is off; old was its parent once."""
    rule = {"contextName": "userId", "operator": "IN", "values": ["1"]}
    segment = desk.admin.ok("POST", "/segments", {"name": "Staff", "constraints": [rule]})["id"]
    desk.kim.ok("POST", f"{PROJECT}/features", {"name": "old"})
    desk.kim.ok("POST", f"{PROJECT}/features/card/dependencies", {"feature": "old"})
    gone = {"features": ["old"], "removeDependenciesOn": ["old"]}
    desk.kim.ok("POST", f"{PROJECT}/archive", gone)
    desk.kim.ok("POST", f"{PROJECT}/features/card/dependencies", {"feature": "tips"})
    used = rollout(10, segments=[segment])
    strategy = desk.directly("card/environments/production/strategies", used)["id"]
    desk.directly("card/environments/production/on")
    file = tmp_path / "wanted.yaml"
    file.write_text(
        "version: 1\nprojects:\n- id: pay\n  name: Pay\n  environments: [development, production]\n"
        "features:\n- name: card\n  project: pay\n"
    )
    read = delivery(desk.admin)

    def look() -> Any:
        return read(), desk.admin.ok("GET", PROJECT)["changeRequestEnvironments"]

    before = look()
    for words in COMMANDS:
        machine.run(*shlex.split(words.format(strategy=strategy, file=file)))
        assert look() == before, words
    assert desk.kim.ok("GET", LIST)["total"] > 5
