"""Release templates of an Unleash come with an import, and go when it is undone."""

import json
from typing import Any

import pytest

from app.core.db import unit_of_work
from app.exchange.documents.documents import Kind
from app.exchange.unleash import imports
from tests.exchange.documents.test_release_templates import templates
from tests.support.clients import ApiClient, error_of
from tests.support.imports import finish, settled
from tests.support.unleash import EXPORT, TOKEN, RecordedUnleash

pytestmark = pytest.mark.slow

ROOT = "/api/admin/release-plan-templates"
STATISTICS = "/api/admin/instance-admin/statistics"
GROUP = {"groupId": "{{featureName}}", "rollout": "25", "stickiness": "default"}


def strategy(**fields: Any) -> dict[str, Any]:
    """As Unleash answers, with its fields that have no counterpart here."""
    return {
        "id": "01S",
        "milestoneId": "01M",
        "sortOrder": 0,
        "title": None,
        "name": "flexibleRollout",
        "strategyName": "flexibleRollout",
        "parameters": GROUP,
        "constraints": [],
        "variants": [],
        "segments": [],
        "disabled": None,
        "anything": "else",
        **fields,
    }


def step(name: str, place: int, *strategies: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"01{name}",
        "name": name,
        "sortOrder": place,
        "releasePlanDefinitionId": "01T",
        "strategies": strategies or [strategy()],
        "startedAt": None,
        **fields,
    }


def template(name: str, *steps: Any, project: str | None = None, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"id of {name}",
        "discriminator": "template",
        "name": name,
        "description": "",
        "project": project,
        "createdByUserId": 1,
        "createdAt": "2026-11-01T10:00:00.000Z",
        "milestones": steps or [step("Everyone", 0)],
        **fields,
    }


STANDARD = template(
    "Standard",
    step("Everyone", 2, strategy(parameters=GROUP | {"rollout": "100"})),
    step("Beta", 0, strategy(segments=[1], title="Those who asked")),
    step(
        "25%",
        1,
        strategy(sortOrder=1, name=None, segments=[4]),
        strategy(
            disabled=True,
            constraints=[{"contextName": "country", "operator": "IN", "values": ["NO"]}],
            variants=[
                {"name": "a", "weight": 1000, "weightType": "variable", "stickiness": "default"}
            ],
        ),
        transitionCondition={"type": "time", "intervalMinutes": 1440},
    ),
    description="Slowly",
)
OURS = [{"name": "Everyone", "strategies": [{"name": "flexibleRollout"}]}]
OWN = template("Own", project="shop")


class Templates:
    """The release templates of an Unleash, and importing from it."""

    def __init__(self, admin: ApiClient, there: RecordedUnleash) -> None:
        self.admin, self.there = admin, there

    def put(self, *found: dict[str, Any]) -> None:
        """Let the Unleash have these, at its addresses."""
        listed = [{k: v for k, v in each.items() if k != "milestones"} for each in found]
        everywhere = [each for each in listed if each["project"] is None]
        self.there.answers[f"GET {ROOT}"] = everywhere
        # As it does, a project’s list has those for all projects too.
        own = [each for each in listed if each["project"] == "shop"]
        self.there.answers["GET /api/admin/projects/shop/release-templates"] = everywhere + own
        for each in found:
            self.there.answers[f"GET {ROOT}/{each['id'].replace(' ', '%20')}"] = each

    def read(self) -> Any:
        found = self.admin.ok("POST", "/imports", {"url": self.there.url, "token": TOKEN})
        return settled(self.admin, found["id"])

    def apply(self, found: Any = None) -> Any:
        done = finish(self.admin, (found or self.read())["id"])
        assert done["state"] == "applied", done["failure"]
        return done

    def names(self, found: Any) -> dict[str, list[str]]:
        """The names of those that an import has, by status."""
        named: dict[str, list[str]] = found["plan"]["names"].get("releaseTemplates", {})
        return named

    def entry(self, found: Any, name: str) -> Any:
        entries = {each["key"]: each for each in found["plan"]["attention"]}
        return entries[f"releaseTemplates:{name}"]


@pytest.fixture
def there(admin: ApiClient, old: RecordedUnleash) -> Templates:
    return Templates(admin, old)


def test_they_come_with_their_steps_in_order(there: Templates, admin: ApiClient) -> None:
    there.put(STANDARD | {"name": " Standard "}, OWN)
    found = there.read()
    assert there.names(found) == {"new": ["Own", "Standard"]}
    there.apply(found)
    [own] = templates(admin, "shop").values()
    assert (own["name"], own["project"]) == ("Own", "shop")
    standard = templates(admin)["Standard"]
    assert (standard["description"], standard["project"]) == ("Slowly", None)
    steps = standard["milestones"]
    assert [each["name"] for each in steps] == ["Beta", "25%", "Everyone"]
    assert [each["transitionCondition"] for each in steps] == [
        None,
        {"intervalMinutes": 1440, "manual": False},
        None,
    ]
    [beta], [paused, second], [everyone] = (each["strategies"] for each in steps)
    segments = {each["id"]: each["name"] for each in admin.ok("GET", "/segments")["segments"]}
    assert [segments[id] for id in beta["segments"]] == ["Beta testers"]
    assert (beta["title"], beta["parameters"]) == ("Those who asked", GROUP)
    assert (paused["disabled"], second["disabled"]) == (True, False)
    assert (paused["constraints"][0]["values"], paused["variants"][0]["name"]) == (["NO"], "a")
    assert everyone["parameters"]["rollout"] == "100"
    assert there.names(there.read()) == {"same": ["Own", "Standard"]}


def test_a_strategy_comes_without_a_segment_that_everyone_is_in(
    there: Templates, admin: ApiClient
) -> None:
    there.put(STANDARD)
    found = there.apply()
    [note] = [note for note in found["plan"]["notes"] if "everyone is in it" in note]
    assert "reach the same people: the release template Standard." in note
    assert templates(admin)["Standard"]["milestones"][1]["strategies"][1]["segments"] == []


def test_a_step_that_waits_for_exposures_waits_for_someone(
    there: Templates, admin: ApiClient
) -> None:
    exposed = {"type": "exposure", "minimumExposures": 100}
    some = [step(name, place, transitionCondition=exposed) for place, name in enumerate("ab")]
    there.put(template("Exposed", *some, step("Everyone", 2)))
    found = there.apply()
    assert (
        "Steps of the release template Exposed that wait for exposures in Unleash: a and b. Here, "
        "someone starts the next step."
    ) in found["plan"]["notes"]
    steps = templates(admin)["Exposed"]["milestones"]
    assert [each["transitionCondition"] for each in steps] == [None, None, None]


def test_without_a_rollout_it_is_for_everyone_and_stays_the_same(
    there: Templates, admin: ApiClient
) -> None:
    bare = strategy(parameters={"groupId": "{{featureName}}"})
    there.put(template("Bare", step("Everyone", 0, bare)))
    there.apply()
    [found] = templates(admin)["Bare"]["milestones"][0]["strategies"]
    assert found["parameters"] == {"groupId": "{{featureName}}", "rollout": "100"}
    assert there.names(there.read()) == {"same": ["Bare"]}


@pytest.mark.parametrize("answer", [403, 404, 500])
def test_an_unleash_without_them_is_read_all_the_same(there: Templates, answer: int) -> None:
    there.there.answers[f"GET {ROOT}"] = {"STATUS": answer, "BODY": {}}
    found = there.read()
    assert (found["state"], there.names(found)) == ("planned", {})
    notes = [note for note in found["plan"]["notes"] if "templates can’t be read" in note]
    url = f"{there.there.url}{ROOT}"
    why = f"Release templates can’t be read. {url} answers 500, and is of no use."
    assert notes == ([why] if answer >= 500 else [])
    assert not [asked for asked in there.there.asked if "release-templates" in asked]


def test_one_of_a_project_can_be_read_below_its_project_alone(
    there: Templates, admin: ApiClient
) -> None:
    there.put(OWN)
    answers = there.there.answers
    whole = answers.pop(f"GET {ROOT}/id%20of%20Own")
    answers["GET /api/admin/projects/shop/release-templates/id%20of%20Own"] = whole
    there.apply()
    assert templates(admin, "shop").keys() == {"Own"}


def test_archived_ones_stay_there(there: Templates) -> None:
    there.put(STANDARD | {"archivedAt": "2026-11-02T10:00:00.000Z"}, OWN)
    assert there.names(there.read()) == {"new": ["Own"]}


def test_two_with_one_name_get_two_names(there: Templates, admin: ApiClient) -> None:
    there.put(
        template("Same"),
        template("Same", id="2"),
        template("Same", id="3", project="shop"),
    )
    found = there.apply()
    assert there.names(found)["new"] == ["Same", "Same (2)", "Same (shop)"]
    assert templates(admin, "shop").keys() == {"Same (shop)"}
    notes = [note for note in found["plan"]["notes"] if "several release templates" in note]
    assert notes == [
        f"Unleash has several release templates named Same. One of them is {name} here."
        for name in ("Same (2)", "Same (shop)")
    ]
    assert there.names(there.read()) == {"same": ["Same", "Same (2)", "Same (shop)"]}


def test_what_can_not_come_is_named_with_the_reason(there: Templates) -> None:
    spaced = strategy(parameters=GROUP | {"groupId": " a"})
    there.put(
        template("Empty", milestones=[]),
        template("Endless", step("A", 0, transitionCondition={"type": "time"})),
        template("Hasty", step("A", 0, transitionCondition={"intervalMinutes": 10_000_000})),
        template("Half", step("A", 0, strategy(parameters={"rollout": "12.5"}))),
        template("Local", step("A", 0, strategy(segments=[3]))),
        template("Spaced", step("A", 0), step("B", 1, spaced)),
    )
    found = there.read()
    faults = {name: there.entry(found, name)["faults"] for name in there.names(found)["impossible"]}
    assert faults == {
        "Empty": ["milestones: Give it 1 to 30 steps."],
        "Endless": ["step 1, transitionCondition, intervalMinutes: This field can't be null."],
        "Hasty": ["step 1, transitionCondition, intervalMinutes: Must lie between 1 and 527040."],
        "Half": ["step 1, strategy 1, rollout: Enter a whole number from 0 to 100."],
        "Local": [
            (
                "step 1, strategy 1, segments: There is no segment named 'Shop only' that all "
                "projects can use."
            )
        ],
        "Spaced": [
            (
                "step 2, strategy 1, groupId: It begins or ends with a space, which Flagstaff "
                "would take away."
            )
        ],
    }
    assert there.entry(found, "Local")["choices"] == ["leave-out"]


class TestOneThatIsHereAlready:
    @pytest.fixture
    def found(self, there: Templates, admin: ApiClient) -> Any:
        admin.ok("POST", "/release-plan-templates", {"name": "Standard", "milestones": OURS})
        there.put(STANDARD)
        return there.read()

    def test_stays_as_it_is(self, there: Templates, admin: ApiClient, found: Any) -> None:
        entry = there.entry(found, "Standard")
        assert (entry["status"], entry["choice"]) == ("different", "keep")
        assert entry["differences"][0] == "description: nothing → Slowly"
        assert "step 1, name: Everyone → Beta" in entry["differences"]
        there.apply(found)
        assert len(templates(admin)["Standard"]["milestones"]) == 1

    def test_unless_someone_decides_otherwise(
        self, there: Templates, admin: ApiClient, found: Any
    ) -> None:
        taken = {"byKey": {"releaseTemplates:Standard": "take"}}
        admin.ok("PATCH", f"/imports/{found['id']}", taken)
        done = there.apply(found)
        assert len(templates(admin)["Standard"]["milestones"]) == 3
        admin.ok("POST", f"/imports/{done['id']}/undo")
        assert len(templates(admin)["Standard"]["milestones"]) == 1


class TestUndoing:
    def test_removes_them(self, there: Templates, admin: ApiClient) -> None:
        there.put(STANDARD, OWN)
        done = there.apply()
        admin.ok("POST", f"/imports/{done['id']}/undo")
        assert templates(admin).keys() == {"Careful"}
        events = admin.ok("GET", "/events?type=release-plan-template-deleted")["events"]
        assert sorted(event["preData"]["name"] for event in events) == ["Own", "Standard"]
        assert there.names(there.read()) == {"new": ["Own", "Standard"]}

    @pytest.mark.parametrize(
        ("way", "said"),
        [
            ("change", "release template Standard"),
            ("start", "release template Standard, from which a release started"),
            ("draft", "feature child.on, with a release"),
            ("template", "project shop, which has release template New"),
            ("segment", "project shop, which has segment New"),
            ("default", "project shop, which has default strategy shop in production"),
        ],
    )
    def test_is_refused_when_something_was_built_on_it(
        self, there: Templates, admin: ApiClient, way: str, said: str
    ) -> None:
        there.put(STANDARD)
        done = there.apply()
        self.build(admin, way, templates(admin)["Standard"]["id"])
        answer = admin.post(f"/imports/{done['id']}/undo")
        assert error_of(answer) == (409, "ConflictError")
        assert answer.json["message"].endswith(f"since: {said}.")

    def build(self, admin: ApiClient, way: str, id: str) -> None:
        """Build something on an import. ``id``: of a template that it created."""
        place = "/projects/default/features/{}/environments/production/release-plans"
        match way:
            case "change":
                admin.ok("PUT", f"/release-plan-templates/{id}", {"description": "Ours"})
            case "start":
                admin.ok("POST", "/projects/default/features", {"name": "mine"})
                admin.ok("POST", place.format("mine"), {"templateId": id})
            case "draft":
                admin.ok("POST", place.format("child.on"), {"milestones": OURS})
            case "template":
                body = {"name": "New", "milestones": OURS}
                admin.ok("POST", "/projects/shop/release-templates", body)
            case "segment":
                constraint = {"contextName": "userId", "operator": "IN", "values": ["1"]}
                body = {"name": "New", "project": "shop", "constraints": [constraint]}
                admin.ok("POST", "/segments", body)
            case "default":
                path = "/projects/shop/environments/production/default-strategy"
                admin.ok("POST", path, {"name": "flexibleRollout"})


class TestAChoice:
    def choose(self, there: Templates, **chosen: Any) -> Any:
        id = there.read()["id"]
        return there.admin.ok("PATCH", f"/imports/{id}", {"chosen": chosen})

    def test_of_a_project_brings_its_own_with_what_they_need(self, there: Templates) -> None:
        nordic = strategy(segments=[2])
        there.put(STANDARD, template("Own", step("Nordic", 0, nordic), project="shop"))
        found = self.choose(there, projects=["shop"])
        assert there.names(found) == {"new": ["Own"]}
        assert "Nordic" in found["plan"]["names"]["segments"]["new"]

    def test_of_another_project_or_of_features_brings_none(self, there: Templates) -> None:
        faulty = template("Faulty", milestones=[])
        there.put(STANDARD, OWN, faulty, faulty | {"id": "2", "name": "F", "project": "shop"})
        assert there.names(self.choose(there, projects=["default"])) == {}
        assert there.names(self.choose(there, prefix="shop.")) == {}
        assert there.names(self.choose(there, projects=["shop"])) == {
            "new": ["Own"],
            "impossible": ["F"],
        }


@pytest.mark.parametrize("counted", ["statistics", "states"])
def test_release_plans_of_features_are_counted_and_left_out(there: Templates, counted: str) -> None:
    if counted == "statistics":
        there.there.answers[f"GET {STATISTICS}"] = {"featureToggles": 1, "releasePlans": 2}
    else:
        asked = json.dumps({"environment": "development", "project": "shop"})
        key = f"POST {EXPORT} {asked}"
        for state in there.there.answers[key]["featureEnvironments"][:2]:
            state["releasePlans"] = [{"id": "01P", "discriminator": "plan"}]
    assert (
        "Release plans of features: 2 left out. The features come with the strategies that they "
        "have now."
    ) in there.read()["plan"]["notes"]


def test_a_feature_whose_strategies_belong_to_a_release_stays_as_it_is(
    there: Templates, admin: ApiClient
) -> None:
    features = "/projects/default/features"
    admin.ok("POST", features, {"name": "old.strategies"})
    place = f"{features}/old.strategies/environments/production"
    admin.ok("POST", f"{place}/release-plans", {"milestones": OURS * 2, "start": True})
    before = admin.ok("GET", place)["strategies"]
    found = there.read()
    [entry] = [each for each in found["plan"]["attention"] if each["name"] == "old.strategies"]
    assert (entry["status"], entry["choices"]) == ("impossible", ["keep"])
    assert entry["faults"] == [
        (
            "production, strategies: A release decides who gets old.strategies here. It is at step "
            "1 of 2. Stop it or leave it before you change the strategies yourself."
        )
    ]
    there.apply(found)
    assert admin.ok("GET", place)["strategies"] == before


def test_a_plan_that_an_older_version_has_read_can_still_be_applied(
    app: Any, there: Templates, admin: ApiClient
) -> None:
    found = there.read()
    with app.app_context(), unit_of_work(writes=True):
        stored = imports.get(found["id"])
        content = imports._unpacked(stored.content or b"")
        del content["document"][Kind.RELEASE_TEMPLATES]
        stored.content, stored.shown = imports._packed(content), None
    assert json.dumps(there.apply(found)["plan"]["names"]).count("shop.checkout") == 1
    assert templates(admin).keys() == {"Careful"}
