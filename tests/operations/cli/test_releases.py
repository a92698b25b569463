"""Commands for releases in steps: what they do and say, and what they propose."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from app.core import clock
from app.core.actor import COMMAND_LINE
from app.core.clock import in_text, utcnow
from app.releases.plans.running import start_due
from tests.support.change_requests import LIST, PROJECT, Desk, new_desk, rollout
from tests.support.instances import open_instance
from tests.support.machines import Machine
from tests.support.people import People

CARD = ("pay", "card", "--environment", "development")
GUARDED = ("pay", "card", "--environment", "production")
QUICK = ("--template", "Quick")
LATE = ("--at", "2199-01-01T09:00:00Z")
ME = COMMAND_LINE.username


def step(share: int, minutes: int | None = 60, *, manual: bool = False) -> dict[str, Any]:
    condition = {"intervalMinutes": minutes, "manual": manual} if minutes else None
    return {"name": f"{share}%", "strategies": [rollout(share)], "transitionCondition": condition}


@pytest.fixture
def desk(machine: Machine) -> Iterator[Desk]:
    """Production of its project needs approvals; its template is Quick."""
    machine.home.mkdir()
    with open_instance(machine.environ()) as app:
        people = People(app)
        found = new_desk(people.client("admin", role="Admin"), people)
        steps = [step(5), step(50, 1_440, manual=True), step(100, None)]
        body = {"name": "Quick", "description": "In a day", "milestones": steps}
        found.admin.ok("POST", "/release-plan-templates", body)
        yield found


def value(machine: Machine, *words: str) -> Any:
    return json.loads(machine.ok(*words, "--json"))


def columns(said: str) -> list[list[str]]:
    """The rows of a table, without its headings."""
    rows = [line.split("  ") for line in said.splitlines()[1:]]
    return [[cell.strip() for cell in row if cell] for row in rows]


def minute(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"


def due(row: Any, **wait: int) -> str:
    """A time so long after the present step of a release started."""
    [started] = [each["startedAt"] for each in row["milestones"] if each["startedAt"]]
    return minute(datetime.fromisoformat(started) + timedelta(**wait))


def approve(desk: Desk, number: int) -> None:
    for person in (desk.finn, desk.sofia):
        desk.to("Approved", number, by=person)


def approved_release(machine: Machine, desk: Desk) -> None:
    """Start a release in production that people approved."""
    words = ("release", "start", *GUARDED, *QUICK)
    number = value(machine, *words)["changeRequest"]["id"]
    approve(desk, number)
    machine.ok("change-request", "apply", "pay", str(number))


def test_templates_are_listed_and_shown_by_name_or_id(machine, desk):
    said = columns(machine.ok("release", "template", "list", "--text", "quick"))
    assert said == [["Quick", "all projects", "5%, 50%, 100%", "1 day and 1 hour", "0", "0"]]
    own = {"name": "Own", "milestones": [step(100, None)]}
    desk.sofia.ok("POST", f"{PROJECT}/release-templates", own)
    names = [row[0] for row in columns(machine.ok("release", "template", "list"))]
    assert names == ["Careful", "Own", "Quick"]
    found = value(machine, "release", "template", "list", "--project", "default")["templates"]
    assert [each["name"] for each in found] == ["Careful", "Quick"]
    shown = machine.ok("release", "template", "show", "Quick")
    assert columns(shown.partition("\n\n")[2]) == [
        ["1", "5%", "with the release", "On for 5% of users, by userId"],
        ["2", "50%", "automatically, after 1 hour", "On for 50% of users, by userId"],
        ["3", "100%", "when someone starts it, after 1 day at the earliest", "On for everyone"],
    ]
    by_id = value(machine, "release", "template", "show", found[1]["id"])
    assert [each["name"] for each in by_id["milestones"]] == ["5%", "50%", "100%"]


def test_a_template_names_the_segments_of_its_steps(machine, desk):
    rule = {"contextName": "userId", "operator": "IN", "values": ["1"]}
    for name, project in (("Staff", None), ("Testers", "pay")):
        body = {"name": name, "project": project, "constraints": [rule]}
        id = desk.admin.ok("POST", "/segments", body)["id"]
        first = {"name": name, "strategies": [rollout(100, segments=[id])]}
        template = {"name": name, "milestones": [first, step(100, None)]}
        path = f"{PROJECT}/release-templates" if project else "/release-plan-templates"
        desk.admin.ok("POST", path, template)
        shown = machine.ok("release", "template", "show", name)
        assert f"On for everyone in segment {name}" in shown


def test_a_release_starts_with_its_first_step_and_is_listed_and_shown(machine, desk):
    row = value(machine, "release", "start", *CARD, *QUICK)
    assert (row["state"], row["whenStopped"]) == ("running", "off")
    assert desk.shares("development") == ["5"]
    second = due(row, hours=1)
    listed = machine.ok("release", "list")
    headings = ("FEATURE", "PROJECT", "ENVIRONMENT", "WHERE IT IS", "NEXT (UTC)", "CREATED BY")
    assert [heading in listed.splitlines()[0] for heading in headings] == [True] * 6
    where = "Step 1 of 3: on for 5% of users."
    assert columns(listed) == [["card", "pay", "development", where, second, ME]]
    said, _, steps = machine.ok("release", "show", *CARD).partition("\n\n")
    assert said.splitlines() == [where, f"Step 2, 50%, starts automatically at {second} UTC."]
    assert columns(steps) == [
        ["1", "5%", "Now", f"since {due(row, hours=0)}", "On for 5% of users, by userId"],
        ["2", "50%", "Next", second, "On for 50% of users, by userId"],
        [
            *("3", "100%", "Later", f"from {due(row, hours=25)}, when someone starts it"),
            "On for everyone",
        ],
    ]


def test_releases_are_listed_by_place_and_state(machine, desk):
    machine.ok("release", "start", *CARD, *QUICK)
    machine.ok("release", "start", "pay", "tips", "--environment", "development", *QUICK)
    machine.ok("release", "hold", *CARD)
    for words, names in (
        ((), ["card", "tips"]),
        (("--project", "pay", "--environment", "development"), ["card", "tips"]),
        (("--project", "default"), []),
        (("--environment", "production"), []),
        (("--feature", "tips"), ["tips"]),
        (("--state", "held"), ["card"]),
        (("--state", "running"), ["tips"]),
        (("--ended",), []),
    ):
        found = value(machine, "release", "list", *words)["releases"]
        assert [each["featureName"] for each in found] == names, words
    assert "--state" in machine.refused("release", "list", "--state", "paused")


def test_a_rehearsal_says_what_each_step_will_mean_and_starts_nothing(machine, desk):
    here = "card/environments/development"
    desk.directly(f"{here}/strategies", rollout(20))
    desk.directly(f"{here}/on")
    words = ("release", "start", *CARD, *QUICK, "--dry-run")
    before, reviewed, people, after = machine.ok(*words).replace(":\n", ":\n\n", 1).split("\n\n")
    assert before == "If it starts now:"
    *steps, warning = reviewed.splitlines()
    rows = columns("\n".join(steps))
    assert [row[:2] + row[3:] for row in rows] == [
        ["1", "5%", "with the release", "On for 5% of users, by userId"],
        ["2", "50%", "automatically", "On for 50% of users, by userId"],
        ["3", "100%", "when someone starts it", "On for everyone"],
    ]
    dates = [datetime.fromisoformat(row[2]) for row in rows]
    assert dates[1:] == [dates[0] + timedelta(hours=1), dates[0] + timedelta(hours=25)]
    assert warning.startswith("Step 1, 5%, may take the feature from people")
    assert [row[1] for row in columns(people)] == ["at step 1", "at step 2", "at step 3"]
    assert after.splitlines()[-1] == "Dry run: nothing was changed."
    assert len(value(machine, *words)["review"]["people"]) == 3
    assert (desk.shares("development"), value(machine, "release", "list")["total"]) == (["20"], 0)


def test_steps_start_when_someone_asks_until_the_release_is_done(machine, desk):
    machine.ok("release", "start", *CARD, *QUICK)
    said = machine.ok("release", "next", *CARD)
    assert said.splitlines()[0] == "Step 2 of 3: on for 50% of users."
    assert " can start at " in said
    assert said.endswith(" UTC, when someone starts it.")
    [[*_, coming, _]] = columns(machine.ok("release", "list"))
    assert coming.startswith("someone, from ")
    rehearsed = value(machine, "release", "next", *CARD, "--dry-run")
    assert (rehearsed["state"], desk.shares("development")) == ("done", ["50"])
    said = machine.ok("release", "next", *CARD, "--reason", "All is well")
    assert said.splitlines()[0] == "Done: on for everyone."
    assert said.splitlines()[1].startswith("It took ")
    [event] = desk.recorded("release-plan-milestone-started")[:1]
    assert (event["reason"], desk.shares("development")) == ("All is well", ["100"])
    assert "is over: done" in machine.refused("release", "next", *CARD)
    shown = columns(machine.ok("release", "show", *CARD).partition("\n\n")[2])
    assert [row[2] for row in shown] == ["Done"] * 3
    assert [" to " in row[3] for row in shown] == [True, True, False]


def test_a_step_whose_waiting_time_is_over_waits_for_someone(machine, desk):
    machine.ok("release", "start", *CARD, *QUICK)
    machine.ok("release", "next", *CARD)
    with clock.at(utcnow() + timedelta(days=1)):
        said = machine.ok("release", "show", *CARD)
        assert "\nStep 3, 100%, waits for someone to start it.\n" in said
        assert columns(machine.ok("release", "list"))[0][4] == "someone"


def test_a_release_on_hold_does_not_move_until_someone_resumes_it(machine, desk):
    machine.ok("release", "start", *CARD, *QUICK)
    words = ("release", "hold", *CARD, "--reason", "Support is short today")
    assert machine.ok(*words, "--dry-run").endswith("Dry run: nothing was changed.")
    first, second = machine.ok(*words).splitlines()
    assert first == "On hold at step 1 of 3: Support is short today"
    assert second.startswith("Since ")
    assert second.endswith(
        f" UTC, by {ME}. Nothing moves until someone resumes or stops the release."
    )
    assert columns(machine.ok("release", "list"))[0][3:5] == [first, "no date"]
    shown = columns(machine.ok("release", "show", *CARD).partition("\n\n")[2])
    assert [row[2] for row in shown] == ["On hold", "Waiting", "Waiting"]
    assert "Resume it first." in machine.refused("release", "next", *CARD)
    assert "on hold already" in machine.refused("release", "hold", *CARD)
    [event] = desk.recorded("release-plan-progressions-paused")
    assert (event["reason"], event["createdBy"]) == ("Support is short today", ME)
    said = machine.ok("release", "resume", *CARD)
    assert said.startswith("Step 1 of 3: on for 5% of users.\nStep 2, 50%, starts automatically at")
    assert "is not on hold" in machine.refused("release", "resume", *CARD)


def test_stopping_switches_the_feature_off_and_says_why(machine, desk):
    machine.ok("release", "start", *CARD, *QUICK)
    said = machine.ok("release", "stop", *CARD, "--reason", "Empty results")
    assert said.splitlines() == [
        "Stopped at step 1 of 3.",
        f"The feature went off. {ME} stopped it: Empty results",
    ]
    assert desk.shares("development") is None
    shown = columns(machine.ok("release", "show", *CARD).partition("\n\n")[2])
    assert [row[2] for row in shown] == ["Stopped", "Never started", "Never started"]
    assert columns(machine.ok("release", "list")) == []
    [row] = columns(machine.ok("release", "list", "--ended"))
    assert [row[3], row[5]] == ["Stopped at step 1 of 3.", ME]
    assert value(machine, "release", "list", "--state", "stopped")["total"] == 1
    assert "is over: stopped" in machine.refused("release", "stop", *CARD)


def test_stopping_can_bring_the_former_strategies_back(machine, desk):
    here = "card/environments/development"
    desk.directly(f"{here}/strategies", rollout(3))
    desk.directly(f"{here}/on")
    machine.ok("release", "start", *CARD, *QUICK, "--when-stopped", "restore")
    said = machine.ok("release", "stop", *CARD)
    assert said.splitlines()[1] == f"Its former strategies came back. {ME} stopped it."
    assert desk.shares("development") == ["3"]


def test_leaving_a_release_changes_nothing_for_applications(machine, desk):
    machine.ok("release", "start", *CARD, *QUICK)
    assert machine.ok("release", "leave", *CARD).splitlines() == [
        "Left at step 1 of 3: on for 5% of users.",
        "The strategies belong to the feature again.",
    ]
    assert desk.shares("development") == ["5"]
    machine.ok("feature", "off", *CARD)


def test_a_release_can_start_at_a_time(machine, desk):
    said = machine.ok("release", "start", *CARD, *QUICK, *LATE, "--dry-run")
    assert said.startswith("If it starts at that time:\n")
    assert machine.ok("release", "start", *CARD, *QUICK, *LATE).splitlines() == [
        "Not started.",
        "Step 1, 5%, starts automatically at 2199-01-01 09:00 UTC.",
    ]
    assert desk.shares("development") is None
    assert columns(machine.ok("release", "list"))[0][3:5] == ["Not started.", "2199-01-01 09:00"]
    shown = columns(machine.ok("release", "show", *CARD).partition("\n\n")[2])
    assert [row[3] for row in shown[:2]] == ["2199-01-01 09:00", "2199-01-01 10:00"]
    assert machine.ok("release", "leave", *CARD) == "Left before it started."
    assert columns(machine.ok("release", "list", "--ended"))[0][3] == "Left before it started."


def test_a_release_that_someone_created_without_starting_it_is_started_by_the_next_step(
    machine, desk
):
    path = f"{PROJECT}/features/card/environments/development/release-plans"
    desk.kim.ok("POST", path, {"milestones": [step(5), step(100, None)]})
    said, _, steps = machine.ok("release", "show", *CARD).partition("\n\n")
    assert said == "Not started.\nStep 1, 5%, waits for someone to start it."
    shown = columns(steps)
    assert (shown[0][3], shown[1][2:]) == ("when someone starts it", ["Later", "On for everyone"])
    assert columns(machine.ok("release", "list"))[0][4:] == ["someone", "kim"]
    assert "nothing to hold" in machine.refused("release", "hold", *CARD)
    machine.ok("release", "next", *CARD)
    assert desk.shares("development") == ["5"]


def test_a_release_that_could_not_start_at_its_time_says_why(machine, desk):
    path = f"{PROJECT}/features/card/environments/development/release-plans"
    later = utcnow() + timedelta(hours=1)
    office = {"contextName": "userId", "operator": "STR_ENDS_WITH", "values": ["@example.com"]}
    staff = desk.admin.ok("POST", "/segments", {"name": "Staff", "constraints": [office]})["id"]
    first = step(100, None)
    first["strategies"][0]["segments"] = [staff]
    desk.kim.ok("POST", path, {"milestones": [first], "startAt": in_text(later)})
    desk.admin.ok("DELETE", f"/segments/{staff}")
    with clock.at(later), desk.admin.app.app_context():
        start_due()
    said = machine.ok("release", "show", *CARD).splitlines()
    assert said[0] == "Not started."
    assert said[1].startswith("It couldn’t start: ")
    assert said[2] == "Step 1, 100%, waits for someone to start it."


def test_what_cannot_be_is_refused_in_one_line(machine, desk):
    own = {"name": "Own", "milestones": [step(100, None)]}
    desk.admin.ok("POST", "/projects/default/release-templates", own)
    start = ("release", "start", *CARD)
    for words, line in (
        (start, "Missing option '--template'."),
        ((*start, "--template", "Nope"), "There is no release template named 'Nope' here."),
        ((*start, "--template", "Own"), "There is no release template named 'Own' here."),
        ((*start, *QUICK, "--at", "soon"), "Invalid value for --at: Must be a time with its zone"),
        ((*start, *QUICK, "--at", "2020-01-01T09:00:00Z"), "Choose a time that is still to come."),
        ((*start, *QUICK, "--when-stopped", "on"), "'on' is not one of 'off', 'restore'."),
        (("release", "show", *CARD), "card has no release in development."),
        (("release", "next", *CARD), "card has no release in development."),
        (("release", "show", "pay", "nope", *CARD[2:]), "nope"),
        (("release", "show", *CARD[:3], "moon"), "moon"),
        (("release", "template", "show", "Nope"), "no release template named 'Nope'"),
    ):
        assert line in machine.refused(*words), words
    machine.ok(*start, *QUICK)
    assert "already has a release in development, Quick" in machine.refused(*start, *QUICK)


def test_starting_where_changes_need_approvals_opens_a_change_request(machine, desk):
    words = machine.ok("release", "start", *GUARDED, *QUICK)
    [waiting] = desk.kim.ok("GET", LIST)["changeRequests"]
    number = waiting["id"]
    assert words.splitlines()[:2] == [
        "Changes in production need 2 approvals, so nothing has changed yet.",
        f"Change request {number} waits for review: Start a release in 3 steps of card",
    ]
    assert desk.shares() is None
    approve(desk, number)
    machine.ok("change-request", "apply", "pay", str(number))
    assert desk.shares() == ["5"]
    assert value(machine, "release", "show", *GUARDED)["changeRequestId"] == number


def test_a_rehearsal_shows_what_would_be_proposed(machine, desk):
    said = machine.ok("release", "start", *GUARDED, *QUICK, "--dry-run")
    assert said.startswith("If it starts now:\n")
    assert "\n\nChanges in production need 2 approvals" in said
    assert said.endswith("Dry run: nothing was changed.")
    assert desk.admin.ok("GET", LIST)["total"] == 0


def test_with_a_reason_a_release_starts_at_once_with_all_of_its_steps(machine, desk):
    words = ("release", "start", *GUARDED, *QUICK, "--reason", "The launch is today")
    assert value(machine, *words)["state"] == "running"
    [event] = desk.recorded("release-plan-milestone-started")
    assert event["reason"] == "The launch is today"
    with clock.at(utcnow() + timedelta(hours=1)), desk.admin.app.app_context():
        start_due()
    assert desk.shares() == ["50"]


@pytest.mark.parametrize("reason", [(), ("--reason", "The launch is that day")])
def test_a_start_at_a_time_is_proposed_where_it_could_not_start_then(machine, desk, reason):
    words = ("release", "start", *GUARDED, *QUICK, *LATE, "--when-stopped", "restore", *reason)
    number = value(machine, *words)["changeRequest"]["id"]
    approve(desk, number)
    machine.ok("change-request", "apply", "pay", str(number))
    row = value(machine, "release", "show", *GUARDED)
    assert (row["state"], row["nextAt"]) == ("draft", "2199-01-01T09:00:00.000Z")
    assert row["whenStopped"] == "restore"
    with clock.at(datetime.fromisoformat(row["nextAt"])), desk.admin.app.app_context():
        start_due()
    assert desk.shares() == ["5"]


def test_starting_a_step_early_is_proposed(machine, desk):
    approved_release(machine, desk)
    request = value(machine, "release", "next", *GUARDED)["changeRequest"]
    [change] = request["features"][0]["changes"]
    assert (change["action"], desk.shares()) == ("startMilestone", ["5"])
    approve(desk, request["id"])
    machine.ok("change-request", "apply", "pay", str(request["id"]))
    assert desk.shares() == ["50"]


def test_a_step_after_its_waiting_time_needs_no_approval(machine, desk):
    approved_release(machine, desk)
    with clock.at(utcnow() + timedelta(hours=1)):
        said = machine.ok("release", "next", *GUARDED)
    assert said.startswith("Step 2 of 3: on for 50% of users.")


def test_with_a_reason_a_step_starts_early(machine, desk):
    approved_release(machine, desk)
    machine.ok("release", "next", *GUARDED, "--reason", "All is well")
    assert desk.shares() == ["50"]


def test_holding_resuming_and_stopping_need_no_approval(machine, desk):
    approved_release(machine, desk)
    for act in ("hold", "resume", "stop"):
        machine.ok("release", act, *GUARDED)
    assert desk.shares() is None
