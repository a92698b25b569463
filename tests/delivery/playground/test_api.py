import json

import pytest
from jsonschema import Draft202012Validator

from app.core.actor import COMMAND_LINE
from app.core.db import transact
from app.delivery.playground import queries
from app.delivery.sdk import state
from tests.delivery.playground.conftest import place
from tests.support.clients import error_of, problems_of
from tests.support.statements import statements

ADVANCED = "/playground/advanced"


def question(**context):
    return {"environments": ["development", "production"], "projects": "*", "context": context}


def ask(client, **context):
    """The answers by feature, environment and number."""
    found = client.ok("POST", ADVANCED, question(**context))
    return {each["name"]: each["environments"] for each in found["features"]}


def test_each_feature_is_answered_in_each_environment_with_reasons(shop):
    found = ask(shop, userId="1", properties={"country": "NO"})
    assert sorted(found) == ["child", "off", "parent"]
    [child] = found["child"]["development"]
    assert child["isEnabledInCurrentEnvironment"]
    assert not child["hasUnsatisfiedDependency"]
    assert child["context"] == {"userId": "1", "properties": {"country": "NO"}}
    paused, nordic, own = child["strategies"]["data"]
    assert paused["result"]["evaluationStatus"] == "unevaluated"
    assert (paused["disabled"], paused["result"]["enabled"]) == (True, "unknown")
    at = nordic["result"]["fallsAt"]
    assert nordic["result"]["enabled"] is (at <= 40) is child["isEnabled"]
    assert nordic["constraints"][0]["result"] is True
    assert nordic["constraints"][0]["contextValue"] == "NO"
    assert (nordic["segments"][0]["name"], nordic["segments"][0]["result"]) == ("Beta", True)
    assert nordic["links"]["edit"].endswith(f"/strategies/{nordic['id']}")
    assert own["result"] | {"variant": None} == {
        "enabled": "unknown",
        "evaluationStatus": "incomplete",
        "variant": None,
        "fallsAt": None,
        "random": False,
    }
    [off] = found["off"]["production"]
    assert not off["isEnabled"]
    assert not off["isEnabledInCurrentEnvironment"]
    assert off["strategies"] == {"result": False, "data": []}


@pytest.mark.parametrize("path", ["/playground", ADVANCED])
def test_answers_are_as_the_description_says(shop, path):
    document = shop.ok("GET", "/api/openapi.json")
    asked = question(userId="1,2", properties={"country": "NO"})
    if path != ADVANCED:
        asked["environment"] = asked.pop("environments")[0]
    operation = document["paths"][f"/api/admin{path}"]["post"]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    answer = shop.ok("POST", path, asked)
    faults = Draft202012Validator(schema | {"components": document["components"]})
    assert [error.message for error in faults.iter_errors(answer)] == []
    assert answer["features"]


def test_values_with_commas_are_multiplied_out(shop):
    found = ask(shop, userId="1, 2,,1", properties={"country": "NO,DK", "plan": ""})
    contexts = [each["context"] for each in found["child"]["development"]]
    assert contexts == [
        {"userId": user, "properties": {"country": country}}
        for user in ("1", "2")
        for country in ("NO", "DK")
    ]


def test_the_variant_is_that_of_the_strategy_that_matches(shop):
    found = ask(shop, userId=",".join(map(str, range(30))), country="SE")
    on = [each for each in found["child"]["development"] if each["isEnabled"]]
    assert on
    for each in on:
        assert each["variant"]["name"] == "blue"
        assert each["variant"]["payload"] == {"type": "string", "value": "x"}
        assert each["variants"][0]["name"] == "blue"


def test_a_parent_that_is_off_is_an_unmet_dependency(shop):
    shop.ok("POST", f"{place('parent')}/off")
    [child] = ask(shop, userId="1", country="NO")["child"]["development"]
    assert (child["isEnabled"], child["hasUnsatisfiedDependency"]) == (False, True)


def test_the_older_question_is_about_one_environment(shop):
    asked = {"environment": "development", "projects": ["default"], "context": {"userId": "1,2"}}
    found = shop.ok("POST", "/playground", asked)
    assert found["input"] == asked
    assert [each["name"] for each in found["features"]] == ["child", "off", "parent"]
    assert found["features"][2]["isEnabled"]


def test_what_is_no_plain_value_is_left_out_with_a_warning(shop):
    asked = question(
        userId="1", country={"is": "NO"}, properties={"plan": ["a"], "n": 5, "y": True}
    )
    found = shop.ok("POST", ADVANCED, asked)
    assert found["warnings"] == {"invalidContextProperties": ["country", "plan"]}
    context = found["features"][0]["environments"]["development"][0]["context"]
    assert context == {"userId": "1", "properties": {"n": "5", "y": "true"}}


def test_asking_reads_exactly_what_sdks_get(app, shop):
    for environment in ("development", "production"):
        with app.app_context():
            sent = transact(lambda: state.read(environment), writes=False)  # noqa: B023
            actor_sees = everything(environment)
        assert {place.feature for place in actor_sees} == set(sent.features)
        for place_, facts in actor_sees.items():
            delivered = json.loads(sent.features[place_.feature].by_reference)
            kept = ("name", "parameters", "constraints", "segments", "variants")
            assert delivered["strategies"] == [
                {key: each[key] for key in kept if key != "segments" or each[key]}
                for each in facts.active
            ]
            assert delivered["enabled"] is facts.is_enabled
            assert delivered["variants"] == list(facts.variants)
            assert delivered.get("dependencies", []) == list(facts.parents)


def everything(environment):
    return transact(
        lambda: queries.read(COMMAND_LINE, [environment]).features,
        writes=False,
    )


def test_a_wrong_question_is_refused_with_its_place(admin, subtests):
    for change, path in (
        ({"environments": []}, "/environments"),
        ({"environments": ["nowhere"]}, "/environments/0"),
        ({"environments": "development"}, "/environments"),
        ({"projects": ["nothing"]}, "/projects/0"),
        ({"projects": "default"}, "/projects"),
        ({"projects": [1]}, "/projects/0"),
        ({"context": []}, "/context"),
        ({"context": {"properties": "a"}}, "/context/properties"),
        ({"context": {"currentTime": "now"}}, "/context/currentTime"),
        ({"context": {"properties": {"currentTime": "now"}}}, "/context/properties/currentTime"),
        ({"context": {"userId": "x" * 10_001}}, "/context/userId"),
        ({"context": {f"p{n}": "1" for n in range(501)}}, "/context"),
        ({"context": {"userId": ",".join(map(str, range(101)))}}, "/context"),
        ({"unknown": 1}, "/unknown"),
    ):
        with subtests.test(change=change, path=path):
            problems = problems_of(admin.post(ADVANCED, json=question(userId="1") | change))
            assert list(problems) == [path]


def test_too_many_answers_are_refused_with_what_to_do(admin, monkeypatch):
    admin.ok("POST", "/projects/default/features", {"name": "a"})
    monkeypatch.setattr("app.delivery.playground.api.MOST_EXPLAINED", 3)
    problems = problems_of(admin.post(ADVANCED, json=question(userId="1,2")))
    assert "1 feature in 2 environments" in problems[""]
    assert "Name fewer projects, environments or values" in problems[""]


def test_the_older_question_names_its_own_field(admin):
    asked = {"environment": "nowhere", "context": {}}
    assert list(problems_of(admin.post("/playground", json=asked))) == ["/environment"]


def test_only_projects_that_the_caller_can_see_are_answered(people, admin, viewer):
    admin.ok("POST", "/projects", {"id": "secret", "name": "Secret", "mode": "private"})
    admin.ok("POST", "/projects/secret/features", {"name": "hidden"})
    assert "hidden" in ask(admin, userId="1")
    assert ask(viewer, userId="1") == {}
    asked = question(userId="1") | {"projects": ["secret"]}
    refusal = viewer.post(ADVANCED, json=asked)
    unknown = viewer.post(ADVANCED, json=asked | {"projects": ["nothing"]})
    assert problems_of(refusal).keys() == problems_of(unknown).keys() == {"/projects/0"}


def test_archived_features_are_not_answered(admin):
    for name in ("a", "b"):
        admin.ok("POST", "/projects/default/features", {"name": name})
    admin.ok("POST", "/projects/default/archive", {"features": ["a"]})
    assert list(ask(admin, userId="1")) == ["b"]


def test_asking_takes_no_token_less(stranger):
    assert error_of(stranger.post(ADVANCED, json=question()))[0] == 401


def test_the_number_of_statements_does_not_depend_on_the_number_of_features(app, admin):
    admin.ok("POST", "/projects/default/features", {"name": "a"})
    with statements(app) as few:
        ask(admin, userId="1")
    for n in range(20):
        admin.ok("POST", "/projects/default/features", {"name": f"b{n}"})
        admin.ok("POST", f"{place(f'b{n}')}/on")
    with statements(app) as many:
        ask(admin, userId="1")
    assert len(many) == len(few)
