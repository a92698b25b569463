"""An Unleash is read, its plan is decided and applied, and all of it can be undone."""

import json
from collections import Counter

import pytest

from tests.support.clients import REASON, error_of, problems_of
from tests.support.imports import finish, settled
from tests.support.unleash import EXPORT, TOKEN, sample

pytestmark = pytest.mark.slow

LONG = f"long.{'x' * 125}"


@pytest.fixture
def read(admin):
    """Reads an Unleash, or the content of a file, and gives the import with its plan."""

    def read(**source):
        found = admin.ok("POST", "/imports", source)
        return settled(admin, found["id"])

    return read


def apply(admin, found):
    return finish(admin, found["id"])


def decide(admin, found, **decisions):
    return admin.ok("PATCH", f"/imports/{found['id']}", decisions)


def entries(found):
    return {entry["key"]: entry for entry in found["plan"]["attention"]}


def new(found):
    return {kind: each["new"] for kind, each in found["plan"]["counts"].items() if each.get("new")}


@pytest.mark.parametrize("old", ["8.2.0", "7.6.5", "5.12.8"], indirect=True)
class TestARunningUnleash:
    def test_is_planned_without_any_change(self, admin, old, read):
        before = admin.ok("GET", "/projects/default/features")
        found = read(url=old.url, token=TOKEN)
        assert found["state"] == "planned"
        assert new(found)["features"] >= 18
        assert admin.ok("GET", "/projects/default/features") == before

    def test_is_applied_and_a_second_import_changes_nothing(self, admin, old, read):
        found = apply(admin, read(url=old.url, token=TOKEN))
        assert (found["state"], found["failure"]) == ("applied", None)
        again = read(url=old.url, token=TOKEN)
        assert again["plan"]["number"] == 0
        assert new(again) == {}

    def test_is_one_batch_with_one_event_for_each_thing(self, admin, old, read):
        found = apply(admin, read(url=old.url, token=TOKEN))
        asked = f"/events?batch={found['batchId']}&limit=500"
        events = admin.ok("GET", asked)["events"]
        kinds = Counter(event["type"] for event in events)
        written = new(found)
        assert kinds["feature-created"] == written["features"]
        assert kinds["segment-created"] == written["segments"]
        assert kinds["sdk-token-created"] == written["sdkTokens"]
        assert kinds["user-created"] == written["users"]
        assert {event["reason"] for event in events} == {f"Imported from {found['source']}"}

    def test_can_be_undone(self, admin, old, read):
        names = [feature["name"] for feature in all_features(admin)]
        found = apply(admin, read(url=old.url, token=TOKEN))
        assert len(all_features(admin)) > len(names)
        undone = admin.ok("POST", f"/imports/{found['id']}/undo")
        assert undone["state"] == "undone"
        assert [feature["name"] for feature in all_features(admin)] == names
        assert new(read(url=old.url, token=TOKEN)) == new(found)


def all_features(admin):
    return [
        feature
        for archived in ("false", "true")
        for feature in admin.ok("GET", f"/features?archived={archived}&limit=1000")["features"]
    ]


@pytest.mark.usefixtures("moved")
class TestWhatComes:
    @pytest.fixture
    def moved(self, admin, old, read):
        return apply(admin, read(url=old.url, token=TOKEN))

    def test_strategies_in_their_order_with_all_that_belongs_to_them(self, admin):
        feature = admin.ok("GET", "/projects/shop/features/shop.checkout")
        [state] = [each for each in feature["environments"] if each["name"] == "development"]
        first, second, third = state["strategies"]
        assert first["title"] == "half “of” them"
        assert first["parameters"] == {
            "groupId": "shop.checkout",
            "rollout": "50",
            "stickiness": "userId",
        }
        assert len(first["segments"]) == 2
        assert [(v["name"], v["weight"]) for v in first["variants"]] == [
            ("blue", 300),
            ("red", 700),
        ]
        assert second["disabled"] is True
        assert third["name"] == "default"
        assert {tag["value"] for tag in feature["tags"]} == {"team-a", "über <x>", "blue"}
        assert feature["impressionData"] is True

    def test_old_and_custom_types_of_strategy(self, admin):
        feature = admin.ok("GET", "/projects/default/features/old.strategies")
        [state] = [each for each in feature["environments"] if each["name"] == "production"]
        assert [each["name"] for each in state["strategies"]][:2] == [
            "userWithId",
            "gradualRolloutUserId",
        ]
        [type] = [
            each
            for each in admin.ok("GET", "/strategies")["strategies"]
            if each["name"] == "byRegion"
        ]
        assert {each["type"] for each in type["parameters"]} == {
            *("list", "percentage", "string", "number", "boolean")
        }

    def test_variants_that_strategies_share_with_their_overrides(self, admin):
        place = "/projects/shop/features/shop.env-variants/environments/development/variants"
        first, _ = admin.ok("GET", place)["variants"]
        assert first["overrides"] == [{"contextName": "userId", "values": ["7", "8"]}]

    def test_links(self, admin):
        found = admin.ok("GET", "/projects/shop/features/shop.checkout")["links"]
        assert [(link["title"], link["url"]) for link in found] == [
            ("Ticket", "https://tickets.example.com/shop/shop.checkout"),
            ("Ticket", "https://example.com/ticket/1"),
            (None, "https://example.com/2"),
        ]

    def test_dependencies(self, admin):
        feature = admin.ok("GET", "/projects/default/features/child.variant")
        assert feature["dependencies"] == [
            {"feature": "parent.feature", "enabled": True, "variants": ["a", "b"]}
        ]

    def test_archived_features_with_their_strategies(self, admin):
        admin.ok("POST", "/projects/shop/revive-features", {"features": ["shop.archived"]})
        feature = admin.ok("GET", "/projects/shop/features/shop.archived")
        [state] = [each for each in feature["environments"] if each["name"] == "development"]
        assert state["enabled"] is False
        assert state["strategies"][0]["parameters"]["rollout"] == "33"

    def test_people_with_their_roles_and_without_a_password(self, admin):
        users = {user["username"]: user for user in admin.ok("GET", "/user-admin")["users"]}
        assert users["ed"]["rootRole"] == 2
        assert users["noemail"]["rootRole"] == 3

    def test_tokens_that_keep_working_and_no_secret_of_them(self, app, admin, old):
        tokens = old.answers["GET /api/admin/api-tokens"]["tokens"]
        [secret] = [token["secret"] for token in tokens if token["tokenName"] == "shop dev"]
        answer = app.test_client().get("/api/client/features", headers={"Authorization": secret})
        assert answer.status_code == 200
        assert {feature["name"] for feature in answer.json["features"]} >= {"shop.checkout"}
        assert secret not in json.dumps(admin.ok("GET", "/api-tokens"))

    def test_projects_with_their_mode_and_default_strategy(self, admin):
        project = admin.ok("GET", "/projects/shop")
        assert (project["mode"], project["defaultStickiness"]) == ("private", "userId")
        place = "/projects/shop/environments/development/default-strategy"
        assert admin.ok("GET", place)["parameters"]["rollout"] == "20"

    def test_the_sites_whose_pages_may_read(self, admin):
        assert admin.ok("GET", "/ui-config")["frontendApiOrigins"] == [
            "https://shop.example.com",
            "http://localhost:3000",
        ]

    def test_an_environment_with_a_dot_under_another_name(self, app, admin, old):
        names = {each["name"] for each in admin.ok("GET", "/environments")["environments"]}
        assert {"eu-prod"} == {name for name in names if name.startswith("eu")}
        tokens = old.answers["GET /api/admin/api-tokens"]["tokens"]
        [secret] = [token["secret"] for token in tokens if token["tokenName"] == "eu"]
        answer = app.test_client().get("/api/client/features", headers={"Authorization": secret})
        assert [f["name"] for f in answer.json["features"] if f["enabled"]] == ["shop.europe"]


class TestWhatCantCome:
    def test_is_named_with_the_reason(self, old, read):
        found = entries(read(url=old.url, token=TOKEN))
        [fault] = found["features:child.two"]["faults"]
        assert fault.startswith("parent: It depends on parent.feature and grand.parent.")
        assert found[f"features:{LONG}"]["choices"] == ["leave-out", "rename"]
        faults = found["features:hostile"]["faults"]
        assert any("rollout: Enter a whole number" in fault for fault in faults)
        assert found["sdkTokens:secure shop (bA4w)"]["choices"] == ["leave-out"]

    def test_can_come_switched_off_without_what_does_not_fit(self, admin, old, read):
        found = read(url=old.url, token=TOKEN)
        chosen = {"features:hostile": "switched-off", "features:child.two": "switched-off"}
        apply(admin, decide(admin, found, byKey=chosen))
        hostile = admin.ok("GET", "/projects/ops.Team/features/hostile")
        assert not any(each["enabled"] for each in hostile["environments"])
        child = admin.ok("GET", "/projects/default/features/child.two")
        assert child["dependencies"] == []
        assert not any(each["enabled"] for each in child["environments"])

    def test_can_come_under_another_name(self, admin, old, read):
        found = read(url=old.url, token=TOKEN)
        key = f"features:{LONG}"
        decided = decide(admin, found, byKey={key: "rename:short"})
        assert entries(decided)[key]["name"] == "short"
        apply(admin, decided)
        assert admin.ok("GET", "/projects/ops.Team/features/short")["name"] == "short"

    def test_or_a_whole_kind_stays_away(self, admin, old, read):
        found = read(url=old.url, token=TOKEN)
        decided = decide(admin, found, leftOut=["users", "sdkTokens"])
        assert decided["plan"]["number"] < found["plan"]["number"]
        apply(admin, decided)
        assert admin.ok("GET", "/api-tokens")["tokens"] == []


def test_a_token_that_was_revoked_here_does_not_come_back(admin, old, read):
    apply(admin, read(url=old.url, token=TOKEN))
    [token] = [t for t in admin.ok("GET", "/api-tokens")["tokens"] if t["tokenName"] == "shop dev"]
    admin.ok("DELETE", f"/api-tokens/{token['id']}")
    again = read(url=old.url, token=TOKEN)
    assert entries(again)["sdkTokens:shop dev"]["faults"] == [
        "It was revoked here. Create a new token."
    ]


class TestWhatIsHereAlready:
    @pytest.fixture
    def two_sides(self, admin, old, read):
        admin.ok("POST", "/projects/default/features", {"name": "stale.feature"})
        return read(url=old.url, token=TOKEN)

    def test_stays_as_it_is(self, admin, two_sides):
        entry = entries(two_sides)["features:stale.feature"]
        assert (entry["choice"], entry["differences"]) == ("keep", ["stale: no → yes"])
        apply(admin, two_sides)
        assert admin.ok("GET", "/projects/default/features/stale.feature")["stale"] is False

    def test_unless_someone_decides_otherwise(self, admin, two_sides):
        apply(admin, decide(admin, two_sides, byKey={"features:stale.feature": "take"}))
        assert admin.ok("GET", "/projects/default/features/stale.feature")["stale"] is True

    def test_says_on_which_side_it_changed_since(self, admin, old, read):
        apply(admin, read(url=old.url, token=TOKEN))
        here = "/projects/default/features/child.on"
        admin.ok("PUT", here, {"description": "Changed here", "type": "release"})
        key = f'POST {EXPORT} {{"environment": "development", "project": "default"}}'
        features = old.answers[key]["features"]
        [there] = [each for each in features if each["name"] == "child.off"]
        there["description"] = "Changed there"
        found = entries(read(url=old.url, token=TOKEN))
        assert found["features:child.on"]["since"] == "here"
        assert found["features:child.off"]["since"] == "there"


def test_a_project_that_is_here_uses_the_environments_of_its_features(admin, old, read):
    overview = old.answers["GET /api/admin/projects/default/overview"]
    overview["environments"].append({"environment": "staging"})
    key = f'POST {EXPORT} {{"environment": "production", "project": "default"}}'
    staged = json.loads(json.dumps(old.answers[key]))
    for row in staged["featureEnvironments"]:
        row["environment"] = "staging"
    staged["featureStrategies"] = []
    old.answers[key.replace("production", "staging")] = staged
    admin.ok("PUT", "/projects/default", {"name": "Ours"})
    found = read(url=old.url, token=TOKEN)
    assert entries(found)["projects:default"]["choice"] == "keep"
    apply(admin, found)
    project = admin.ok("GET", "/projects/default")
    assert (project["name"], "staging" in project["environments"]) == ("Ours", True)
    feature = admin.ok("GET", "/projects/default/features/child.on")
    assert {e["name"] for e in feature["environments"] if e["enabled"]} >= {"staging"}


def test_what_depends_on_something_that_stays_away_stays_away_too(admin, read):
    features = [{"name": name, "project": "default"} for name in ("child", "parent")]
    state = {"featureName": "parent", "environment": "production", "enabled": True}
    wrong = {"name": "flexibleRollout", "featureName": "parent", "parameters": {"rollout": "x"}}
    parent = {"feature": "parent"}
    content = {
        "features": features,
        "featureEnvironments": [state],
        "featureStrategies": [wrong],
        "dependencies": [{"feature": "child", "dependencies": [parent]}],
    }
    found = read(content=content)
    assert "There is no feature named parent" in str(entries(found)["features:child"]["faults"])
    assert apply(admin, found)["state"] == "applied"
    assert all_features(admin) == []


class TestItIsRefused:
    def test_when_the_plan_is_another_one_by_now(self, admin, old, read):
        found = read(url=old.url, token=TOKEN)
        admin.ok("POST", "/projects/default/features", {"name": "child.on"})
        digest = found["plan"]["digest"]
        admin.ok("POST", f"/imports/{found['id']}/apply", {"digest": digest})
        after = settled(admin, found["id"])
        assert after["state"] == "planned"
        assert "since" in after["failure"]
        assert not [f for f in all_features(admin) if f["name"] == "old.strategies"]

    def test_twice(self, admin, old, read):
        found = apply(admin, read(url=old.url, token=TOKEN))
        answer = admin.post(f"/imports/{found['id']}/apply", {"digest": "x"})
        assert error_of(answer) == (409, "ConflictError")

    def test_with_a_token_that_is_wrong(self, old, read):
        found = read(url=old.url, token="wrong")
        assert found["state"] == "failed"
        assert "refuses the token" in found["failure"]

    @pytest.mark.parametrize(
        ("sent", "path"),
        [
            ({}, "/url"),
            ({"url": "http://127.0.0.1:1", "content": {}, "token": "x"}, "/url"),
            ({"url": "http://127.0.0.1:1"}, "/token"),
            ({"url": "ftp://unleash", "token": "x"}, "/url"),
        ],
    )
    def test_when_it_does_not_say_where_from(self, admin, sent, path):
        assert path in problems_of(admin.post("/imports", sent))

    def test_from_a_host_that_the_operator_does_not_name(self, admin):
        answer = admin.post("/imports", {"url": "http://unleash.example", "token": "x"})
        assert error_of(answer) == (409, "ConflictError")
        assert answer.json["message"] == (
            "Flagstaff may not read from http://unleash.example yet. Ask the people who run the "
            "server to add http://unleash.example to FLAGSTAFF_IMPORT_HOSTS."
        )

    @pytest.mark.parametrize(
        "content", [{}, {"features": 1}, {"features": [1]}, {"features": [{}]}]
    )
    def test_when_it_is_no_export(self, admin, content):
        answer = admin.post("/imports", {"content": content})
        assert error_of(answer) == (400, "ValidationError")
        assert "not an export of Unleash" in answer.json["message"] or problems_of(answer)


def test_what_would_bind_a_feature_that_is_on_to_a_revived_parent_is_refused(admin, read):
    features = "/projects/default/features"
    for name in ("base", "kid"):
        admin.ok("POST", features, {"name": name})
    admin.ok("POST", f"{features}/kid/dependencies", {"feature": "base"})
    body = {"features": ["base"], "removeDependenciesOn": ["base"]}
    admin.ok("POST", "/projects/default/archive", body)
    admin.ok("POST", f"{features}/kid/environments/production/on")
    config = "/projects/default/environments/production/change-requests/config"
    admin.ok("PUT", config, {"changeRequestsEnabled": True, "requiredApprovals": 1})
    found = read(content={"features": [{"name": "base", "project": "default"}]})
    done = apply(admin, decide(admin, found, different="take"))
    assert "This would change kid (dependencies)." in done["failure"]
    assert admin.ok("GET", f"{features}/kid")["dependencies"] == []


class TestUndoing:
    def test_is_refused_when_something_was_built_on_it(self, admin, old, read):
        found = apply(admin, read(url=old.url, token=TOKEN))
        admin.ok("POST", "/projects/shop/features/shop.checkout/environments/production/on")
        answer = admin.post(f"/imports/{found['id']}/undo")
        assert error_of(answer) == (409, "ConflictError")
        assert "feature shop.checkout" in answer.json["message"]

    def test_is_refused_while_another_feature_depends_on_one_of_it(self, admin, read):
        content = {"features": [{"name": "base", "project": "default"}]}
        found = apply(admin, read(content=content))
        features = "/projects/default/features"
        admin.ok("POST", features, {"name": "kid"})
        admin.ok("POST", f"{features}/kid/dependencies", {"feature": "base"})
        answer = admin.post(f"/imports/{found['id']}/undo")
        assert error_of(answer) == (409, "ConflictError")
        assert "feature base, on which kid depends" in answer.json["message"]

    def test_of_what_is_on_where_that_needs_approvals_takes_a_reason(self, admin, read):
        place = {"featureName": "base", "environment": "production"}
        content = {
            "features": [{"name": "base", "project": "default"}],
            "featureStrategies": [{**place, "name": "default"}],
            "featureEnvironments": [{**place, "name": "base", "enabled": True}],
        }
        found = apply(admin, read(content=content))
        config = "/projects/default/environments/production/change-requests/config"
        admin.ok("PUT", config, {"changeRequestsEnabled": True, "requiredApprovals": 1})
        path = "/projects/default/features/base/environments/production"
        assert admin.ok("GET", path)["enabled"]
        refused = admin.post(f"/imports/{found['id']}/undo")
        assert error_of(refused) == (403, "NoAccessError")
        assert "This would change base (off)." in refused.json["message"]
        assert admin.ok("GET", path)["enabled"]
        undo = f"/imports/{found['id']}/undo"
        assert admin.post(undo, headers=REASON).status_code == 200

    def test_is_refused_when_the_access_to_a_project_was_reviewed(self, admin, old, read):
        found = apply(admin, read(url=old.url, token=TOKEN))
        path = "/projects/shop/access-reviews"
        now = admin.ok("GET", f"{path}/current")
        kept = [{"id": each["id"], "decision": "keep"} for each in now["entries"]]
        admin.ok("POST", path, {"version": now["version"], "entries": kept})
        answer = admin.post(f"/imports/{found['id']}/undo")
        assert error_of(answer) == (409, "ConflictError")
        assert "project shop, with access reviews" in answer.json["message"]

    def test_changes_back_what_it_changed(self, admin, old, read):
        admin.ok("POST", "/projects/default/features", {"name": "stale.feature"})
        found = read(url=old.url, token=TOKEN)
        done = apply(admin, decide(admin, found, different="take"))
        admin.ok("POST", f"/imports/{done['id']}/undo")
        assert admin.ok("GET", "/projects/default/features/stale.feature")["stale"] is False


@pytest.mark.parametrize(
    "name", ["state-export-3.17.6", "state-export-4.2.2", "state-export-4.19.5"]
)
def test_an_old_state_export_comes_with_all_its_features(admin, read, name):
    content = sample(name)
    found = read(content=content)
    assert found["state"] == "planned"
    done = apply(admin, found)
    assert done["state"] == "applied"
    known = {feature["name"] for feature in all_features(admin)}
    faulty = {entry["was"] for entry in entries(found).values() if entry["faults"]}
    wanted = {feature["name"] for feature in content["features"]}
    assert wanted - faulty <= known


def test_a_strategy_comes_without_a_segment_that_everyone_is_in(admin, old, read):
    empty = next(
        each
        for each in old.answers["GET /api/admin/segments"]["segments"]
        if not each["constraints"]
    )
    for answer in old.answers.values():
        if isinstance(answer, dict) and "featureStrategies" in answer:
            for strategy in answer["featureStrategies"]:
                strategy["segments"] = [*strategy.get("segments", ()), empty["id"]]
    found = apply(admin, read(url=old.url, token=TOKEN))
    [note] = [note for note in found["plan"]["notes"] if empty["name"] in note]
    assert "shop.checkout" in note
    place = "/projects/shop/features/shop.checkout/environments/development/strategies"
    strategies = admin.ok("GET", place)
    names = {each["id"]: each["name"] for each in admin.ok("GET", "/segments")["segments"]}
    used = {names[id] for strategy in strategies for id in strategy["segments"]}
    assert (len(used), empty["name"] in used, empty["name"] in names.values()) == (3, False, True)


@pytest.mark.parametrize("version", ["8.2.0", "7.6.5", "5.12.8"])
def test_an_export_of_features_needs_its_segments_to_be_here(admin, read, version):
    found = read(content=sample(f"export-{version}"))
    assert "has no segment named" in str(entries(found)["features:shop.checkout"]["faults"])
    apply(admin, found)
    assert admin.ok("GET", "/projects/shop/features/shop.variants")["type"] == "permission"
