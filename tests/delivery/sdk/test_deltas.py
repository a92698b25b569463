"""What has changed for an SDK since it last asked: ``/api/client/delta``."""

import random

import pytest

PROJECT = "/projects/default"
FEATURES = f"{PROJECT}/features"
SEGMENT = {
    "name": "nordic",
    "constraints": [{"contextName": "appName", "operator": "IN", "values": ["shop"]}],
}


def create(admin, name, project="default"):
    admin.ok("POST", f"/projects/{project}/features", {"name": name})


def switch(admin, name, way):
    admin.ok("POST", f"{FEATURES}/{name}/environments/production/{way}")


def strategy(admin, name, *segments, project="default"):
    path = f"/projects/{project}/features/{name}/environments/production/strategies"
    return admin.ok("POST", path, {"name": "default", "segments": list(segments)})["id"]


class Follower:
    """An SDK that reads deltas and applies them, as the SDK for Node does."""

    def __init__(self, sdk, query=""):
        self.sdk, self.path = sdk, f"delta{query}"
        self.etag = ""
        self.features, self.segments = {}, {}

    def ask(self):
        """The types of the events that came, with the name of what each is about."""
        answer = self.sdk.get(self.path, If_None_Match=self.etag)
        if answer.status_code == 304:
            return []
        assert answer.status_code == 200, answer.text
        self.etag = answer.headers["ETag"]
        return [self.apply(event) for event in answer.json["events"]]

    def apply(self, event):
        match event["type"]:
            case "hydration":
                self.features = {one["name"]: one for one in event["features"]}
                self.segments = {one["id"]: one for one in event["segments"]}
                return ("hydration", len(self.features))
            case "feature-updated":
                self.features[event["feature"]["name"]] = event["feature"]
                return (event["type"], event["feature"]["name"])
            case "feature-removed":
                del self.features[event["featureName"]]
                return (event["type"], event["featureName"])
            case "segment-updated":
                self.segments[event["segment"]["id"]] = event["segment"]
                return (event["type"], event["segment"]["name"])
            case "segment-removed":
                del self.segments[event["segmentId"]]
                return (event["type"], event["segmentId"])


@pytest.fixture
def follower(sdk):
    return Follower(sdk)


def test_the_first_answer_has_all_features_and_the_next_only_what_has_changed(admin, follower):
    create(admin, "cart")
    create(admin, "search")
    assert follower.ask() == [("hydration", 2)]
    assert follower.ask() == []
    strategy(admin, "cart")
    switch(admin, "cart", "on")
    assert follower.ask() == [("feature-updated", "cart")]
    assert follower.features["cart"]["enabled"] is True
    admin.ok("DELETE", f"{FEATURES}/search")
    create(admin, "menu")
    assert follower.ask() == [("feature-updated", "menu"), ("feature-removed", "search")]


def test_a_segment_comes_before_the_feature_that_needs_it_and_goes_after_it(admin, follower):
    create(admin, "cart")
    segment = admin.ok("POST", "/segments", SEGMENT)["id"]
    follower.ask()
    added = strategy(admin, "cart", segment)
    assert follower.ask() == [("segment-updated", "nordic"), ("feature-updated", "cart")]
    assert follower.segments[segment]["constraints"][0]["values"] == ["shop"]
    [constraint] = SEGMENT["constraints"]
    body = SEGMENT | {"constraints": [constraint | {"values": ["web"]}]}
    admin.ok("PUT", f"/segments/{segment}", body)
    assert follower.ask() == [("segment-updated", "nordic")]
    path = f"{FEATURES}/cart/environments/production/strategies/{added}"
    admin.ok("DELETE", path)
    assert follower.ask() == [("feature-updated", "cart"), ("segment-removed", segment)]


def test_a_token_learns_only_of_its_projects(admin, new_sdk):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    follower = Follower(new_sdk(projects=["default"]))
    other = Follower(new_sdk(projects=["shop"]))
    assert (follower.ask(), other.ask()) == ([("hydration", 0)], [("hydration", 0)])
    create(admin, "cart", "shop")
    strategy(admin, "cart", admin.ok("POST", "/segments", SEGMENT)["id"], project="shop")
    assert follower.ask() == []
    assert other.ask() == [("segment-updated", "nordic"), ("feature-updated", "cart")]


def test_clients_that_have_what_is_no_longer_known_get_all_features(admin, follower):
    create(admin, "cart")
    follower.etag = '"what-another-server-said"'
    assert follower.ask() == [("hydration", 1)]


def test_changes_that_cancel_each_other_out_are_no_news(admin, follower):
    create(admin, "cart")
    strategy(admin, "cart")
    follower.ask()
    for way in ("on", "off"):
        switch(admin, "cart", way)
    assert follower.ask() == []


def test_features_with_a_tag_come_again_when_one_gets_the_tag(admin, sdk):
    create(admin, "cart")
    create(admin, "menu")
    follower = Follower(sdk, "?tag=simple:pay")
    assert follower.ask() == [("hydration", 0)]
    admin.ok("POST", "/features/cart/tags", {"type": "simple", "value": "pay"})
    assert follower.ask() == [("hydration", 1)]


@pytest.mark.parametrize("seed", range(3))
def test_clients_that_apply_every_delta_have_what_others_read_whole(admin, new_sdk, seed):
    dice = random.Random(seed)
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    segments = [
        admin.ok("POST", "/segments", SEGMENT | {"name": f"segment {number}"})["id"]
        for number in range(3)
    ]
    features = {f"feature-{number}": dice.choice(["default", "shop"]) for number in range(5)}
    for name, project in features.items():
        create(admin, name, project)
    sdks = [new_sdk(), new_sdk(projects=["default"]), new_sdk(projects=["shop"])]
    followers = [Follower(sdk) for sdk in sdks]
    archived = set()
    for _ in range(25):
        name = dice.choice(list(features))
        path = f"/projects/{features[name]}/features/{name}"
        match "revive" if name in archived else dice.choice(["add", "switch", "archive", "edit"]):
            case "add":
                strategy(admin, name, *dice.sample(segments, 2), project=features[name])
            case "switch":
                admin.post(f"{path}/environments/production/{dice.choice(['on', 'off'])}")
            case "archive":
                admin.ok("DELETE", path)
                archived.add(name)
            case "revive":
                admin.ok("POST", f"/archive/revive/{name}")
                archived.remove(name)
            case "edit":
                body = SEGMENT | {"name": f"segment {dice.random()}"}
                admin.ok("PUT", f"/segments/{dice.choice(segments)}", body)
        for follower in dice.sample(followers, 2):
            follower.ask()
            whole = follower.sdk.read()
            assert follower.features == {one["name"]: one for one in whole["features"]}
            assert follower.segments == {one["id"]: one for one in whole["segments"]}
