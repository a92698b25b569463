"""A document carries release templates: by name, with segments by name, without ids and times."""

from typing import Any

import pytest

from tests.exchange.documents.test_api import HERE, SHOP, document
from tests.support.clients import ApiClient, problems_of

TEMPLATES = "/release-plan-templates"
STAFF = {
    "name": "Staff",
    "constraints": [{"contextName": "userId", "operator": "IN", "values": ["1"]}],
}
ROLLOUT = {"name": "flexibleRollout", "parameters": {"rollout": "25"}}
FIRST = {
    "name": "Staff",
    "strategies": [{"name": "flexibleRollout", "segments": ["Staff"]}],
    "transitionCondition": {"intervalMinutes": 60, "manual": True},
}
HALF = {
    "name": "25%",
    "strategies": [ROLLOUT],
    "transitionCondition": {"intervalMinutes": 1440},
}
EVERYONE = {"name": "Everyone", "strategies": [{"name": "flexibleRollout"}]}
QUICK = {"name": "Quick", "description": "In three steps", "milestones": [FIRST, HALF, EVERYONE]}
OWN = {"name": "Own", "project": "shop", "milestones": [EVERYONE]}
ALL = document(segments=[STAFF], projects=[SHOP], releaseTemplates=[QUICK, OWN])


def templates(admin: ApiClient, project: str | None = None) -> dict[str, Any]:
    """The templates that the API shows, by name."""
    path = f"/projects/{project}/release-templates" if project else TEMPLATES
    return {each["name"]: each for each in admin.ok("GET", path)}


def exported(admin: ApiClient, query: str = "") -> dict[str, Any]:
    found = admin.ok("GET", f"{HERE}{query}").get("releaseTemplates", [])
    return {each["name"]: each for each in found}


def applied(admin: ApiClient, **things: Any) -> Any:
    return admin.ok("POST", f"{HERE}/apply", document(**things))


def lines(admin: ApiClient, *found: dict[str, Any]) -> list[str]:
    """The plan in words."""
    wanted = document(releaseTemplates=found)
    shown: list[str] = admin.ok("POST", f"{HERE}/plan", wanted)["lines"]
    return shown


def test_they_are_created_for_all_projects_and_for_one(admin: ApiClient) -> None:
    plan = admin.ok("POST", f"{HERE}/plan", ALL)
    assert plan["lines"][-2:] == ["+ release template Own", "+ release template Quick"][::-1]
    assert plan["counts"]["releaseTemplates"] == {"new": 2}
    done = admin.ok("POST", f"{HERE}/apply", ALL)
    quick, [own] = templates(admin)["Quick"], templates(admin, "shop").values()
    assert (quick["project"], own["project"], own["name"]) == (None, "shop", "Own")
    [segment] = admin.ok("GET", "/segments")["segments"]
    first, half, everyone = quick["milestones"]
    assert first["strategies"][0]["segments"] == [segment["id"]]
    assert half["strategies"][0]["parameters"] == {"rollout": "25"}
    assert everyone["strategies"][0]["parameters"] == {"rollout": "100"}
    assert [each["transitionCondition"] for each in quick["milestones"]] == [
        {"intervalMinutes": 60, "manual": True},
        {"intervalMinutes": 1440, "manual": False},
        None,
    ]
    events = admin.ok("GET", f"/events?batch={done['batchId']}")["events"]
    named = [e["data"]["name"] for e in events if e["type"] == "release-plan-template-created"]
    assert sorted(named) == ["Own", "Quick"]


def test_an_export_has_them_as_they_were_written_and_changes_nothing(admin: ApiClient) -> None:
    before = exported(admin)
    admin.ok("POST", f"{HERE}/apply", ALL)
    whole = EVERYONE | {
        "strategies": [{"name": "flexibleRollout", "parameters": {"rollout": "100"}}]
    }
    first = FIRST | {
        "strategies": [whole["strategies"][0] | {"segments": ["Staff"]}]  # type: ignore[operator, index]
    }
    assert exported(admin) == before | {
        "Own": OWN | {"milestones": [whole]},
        "Quick": QUICK | {"milestones": [first, HALF, whole]},
    }
    plan = admin.ok("POST", f"{HERE}/plan", admin.ok("GET", HERE))
    assert (plan["entries"], plan["lines"]) == ([], [])


def test_the_one_that_every_instance_has_is_among_them(admin: ApiClient) -> None:
    [careful] = exported(admin).values()
    assert careful["name"] == "Careful"
    assert [step["name"] for step in careful["milestones"]] == [
        *("Staff", "5%", "25%", "50%", "Everyone")
    ]
    assert careful["milestones"][3]["transitionCondition"] == {
        "intervalMinutes": 1440,
        "manual": True,
    }
    assert lines(admin, careful) == []


def test_a_change_keeps_ids_and_is_shown_step_by_step(admin: ApiClient) -> None:
    admin.ok("POST", f"{HERE}/apply", ALL)
    before = templates(admin)["Quick"]
    more = ROLLOUT | {"parameters": {"rollout": "50"}}
    half = HALF | {"name": "50%", "strategies": [more], "transitionCondition": None}
    changed = QUICK | {"description": None, "milestones": [FIRST, half, EVERYONE]}
    assert lines(admin, changed) == [
        "~ release template Quick",
        "    description: In three steps → nothing",
        "    step 2, name: 25% → 50%",
        "    step 2, strategy 1, rollout: 25 → 50",
        '    step 2, transitionCondition: {"intervalMinutes": 1440, "manual": false} → nothing',
    ]
    applied(admin, releaseTemplates=[changed])
    after = templates(admin)["Quick"]
    assert after["id"] == before["id"]
    assert [each["id"] for each in after["milestones"]] == [
        each["id"] for each in before["milestones"]
    ]
    assert (after["description"], after["milestones"][1]["name"]) == (None, "50%")
    assert lines(admin, changed) == []


def test_a_step_that_comes_or_goes_is_shown_with_what_it_does(admin: ApiClient) -> None:
    admin.ok("POST", f"{HERE}/apply", ALL)
    assert lines(admin, QUICK | {"milestones": [FIRST, HALF]})[1:] == [
        "    step 3: Everyone: On for everyone → nothing"
    ]
    more = HALF | {"strategies": [ROLLOUT, FIRST["strategies"][0]]}
    assert lines(admin, QUICK | {"milestones": [FIRST, more, EVERYONE]})[1:] == [
        "    step 2, strategy 2: nothing → On for everyone in segment Staff"
    ]
    both = FIRST | {"strategies": [*FIRST["strategies"], ROLLOUT]}
    assert lines(admin, QUICK | {"milestones": [FIRST, HALF, EVERYONE, both]})[1:] == [
        (
            "    step 4: nothing → Staff: On for everyone in segment Staff, or for 25% of users, "
            "by userId or sessionId, for 1 hour and until someone starts the next step"
        )
    ]


def test_what_a_document_does_not_name_stays(admin: ApiClient) -> None:
    admin.ok("POST", f"{HERE}/apply", ALL)
    applied(admin, releaseTemplates=[])
    assert {"Careful", "Quick"} <= templates(admin).keys()


def test_a_project_comes_with_its_own_and_with_what_they_refer_to(admin: ApiClient) -> None:
    theirs = OWN | {"milestones": [FIRST]}
    admin.ok("POST", f"{HERE}/apply", ALL | {"releaseTemplates": [QUICK, theirs]})
    assert exported(admin, "?project=shop").keys() == {"Own"}
    found = admin.ok("GET", f"{HERE}?project=shop")
    assert [each["name"] for each in found["segments"]] == ["Staff"]
    assert exported(admin, "?project=default") == {}


def test_a_segment_can_have_another_name_since(admin: ApiClient) -> None:
    admin.ok("POST", f"{HERE}/apply", ALL)
    [segment] = admin.ok("GET", "/segments")["segments"]
    admin.ok("PUT", f"/segments/{segment['id']}", STAFF | {"name": "Colleagues"})
    first, *_ = exported(admin)["Quick"]["milestones"]
    assert first["strategies"][0]["segments"] == ["Colleagues"]


def test_a_deleted_segment_stays_in_the_export_so_that_no_one_else_gets_the_feature(
    admin: ApiClient,
) -> None:
    admin.ok("POST", f"{HERE}/apply", ALL)
    [segment] = admin.ok("GET", "/segments")["segments"]
    admin.ok("DELETE", f"/segments/{segment['id']}")
    quick = exported(admin)["Quick"]
    [named] = quick["milestones"][0]["strategies"][0]["segments"]
    assert named == f"{segment['id']}, which was deleted"
    assert lines(admin, quick) == []
    assert lines(admin, quick | {"name": "Copy"})[1:] == [
        (
            f"    step 1, strategy 1, segments: There is no segment named {named!r} that all "
            "projects can use."
        )
    ]


@pytest.mark.parametrize(
    ("template", "faults"),
    [
        ({"name": "Q"}, {"milestones": "This field is required."}),
        ({"name": "Q", "milestones": []}, {"milestones": "Give it 1 to 30 steps."}),
        (
            {"name": "Q", "milestones": [{"name": "None", "strategies": []}]},
            {"milestones/0/strategies": "A step needs 1 to 30 strategies."},
        ),
        (
            {"name": "Q", "milestones": [EVERYONE | {"id": "1", "startedAt": None}]},
            {"milestones/0/id": "Unknown field.", "milestones/0/startedAt": "Unknown field."},
        ),
        (
            {"name": "Q", "milestones": [HALF | {"transitionCondition": {"manual": True}}]},
            {"milestones/0/transitionCondition/intervalMinutes": "This field is required."},
        ),
        (
            {
                "name": "Q",
                "milestones": [
                    EVERYONE,
                    {"name": "x", "strategies": [ROLLOUT | {"parameters": {"rollout": "101"}}]},
                ],
            },
            {
                "milestones/1/strategies/0/parameters/rollout": (
                    "Enter a whole number from 0 to 100."
                )
            },
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(
    admin: ApiClient, template: dict[str, Any], faults: dict[str, str]
) -> None:
    refused = admin.post(f"{HERE}/plan", document(releaseTemplates=[template]))
    assert problems_of(refused) == {
        f"/releaseTemplates/0/{path}": f"(Q) {message}" for path, message in faults.items()
    }


def test_what_it_refers_to_has_to_be_there_for_the_projects_that_use_it(admin: ApiClient) -> None:
    own = STAFF | {"name": "Ours", "project": "shop"}
    applied(admin, projects=[SHOP], segments=[own])
    ours = {"name": "flexibleRollout", "segments": ["Ours"]}
    step = {"name": "Ours", "strategies": [ROLLOUT, ours]}
    applied(admin, releaseTemplates=[{"name": "Fits", "project": "shop", "milestones": [step]}])
    strange = {"name": "byMoon", "parameters": {"stickiness": "mood"}}
    sticky = ROLLOUT | {"parameters": {"stickiness": "mood"}}
    wrong = [
        {"name": "A", "milestones": [EVERYONE, step]},
        {"name": "B", "project": "nowhere", "milestones": [EVERYONE]},
        {"name": "C", "milestones": [{"name": "x", "strategies": [strange, sticky]}]},
    ]
    assert lines(admin, *wrong) == [
        "! release template A",
        (
            "    step 2, strategy 2, segments: There is no segment named 'Ours' that all projects "
            "can use."
        ),
        "! release template B",
        "    project: There is no project with the id 'nowhere'.",
        "! release template C",
        "    step 1, strategy 1, name: There is no strategy type named 'byMoon'.",
        (
            "    step 1, strategy 2, stickiness: There is no context field named 'mood' that "
            "stickiness can go by."
        ),
    ]
    refused = admin.post(f"{HERE}/apply", document(releaseTemplates=wrong))
    assert "/releaseTemplates/0/milestones/1/strategies/1/segments" in problems_of(refused)
    assert "A" not in templates(admin)


def test_none_moves_to_other_projects(admin: ApiClient) -> None:
    admin.ok("POST", f"{HERE}/apply", ALL)
    assert lines(admin, QUICK | {"project": "shop"}, OWN | {"project": None}) == [
        "! release template Quick",
        "    project: It is for all projects here, and release templates can’t move.",
        "! release template Own",
        "    project: It is only for project shop here, and release templates can’t move.",
    ]


def test_an_archived_project_gets_no_new_one_but_an_export_brings_both(admin: ApiClient) -> None:
    admin.ok("POST", f"{HERE}/apply", ALL)
    admin.ok("DELETE", "/projects/shop")
    assert exported(admin)["Own"]["project"] == "shop"
    assert lines(admin, OWN | {"name": "Other"}) == [
        "! release template Other",
        "    project: Project shop is archived. Revive it first.",
    ]
    gone = SHOP | {"id": "gone", "archived": True}
    old = OWN | {"name": "Old", "project": "gone"}
    applied(admin, projects=[gone], releaseTemplates=[old])
    assert exported(admin)["Old"]["project"] == "gone"


def test_a_release_starts_from_one_that_a_document_brought(admin: ApiClient) -> None:
    admin.ok("POST", f"{HERE}/apply", ALL)
    admin.ok("POST", "/projects/default/features", {"name": "base"})
    path = "/projects/default/features/base/environments/production/release-plans"
    body = {"templateId": templates(admin)["Quick"]["id"]}
    assert [step["name"] for step in admin.ok("POST", path, body)["milestones"]] == [
        *("Staff", "25%", "Everyone")
    ]
