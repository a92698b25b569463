"""The playground without scripts."""

from urllib.parse import urljoin

import pytest

from tests.delivery.playground.conftest import place
from tests.support.browser import Browser, text_of

BOTH = "environment=development&environment=production"


def lines(page, feature):
    """The reasons of a row, with the marks that are read aloud."""
    [row] = [each for each in page.select(".matrix__row") if feature in cells(each)[0]]
    return [text_of(each.css_first("span")) for each in row.css(".reason")]


def cells(row):
    summary = row.css_first("summary")
    name = text_of(summary.css(".matrix__name")[0]).replace(" ", "")
    return [name, *(text_of(each) for each in summary.css(".matrix__cell"))]


def rows(page):
    return [cells(each) for each in page.select(".matrix__row")]


def follow(browser, page, link):
    return browser.get(urljoin(page.path, page.links[link]))


def falls_at(client, user):
    body = {"environment": "development", "projects": "*"}
    found = client.ok("POST", "/playground", body | {"context": {"userId": user, "country": "NO"}})
    return found["features"][0]["strategies"]["data"][1]["result"]["fallsAt"]


def test_without_a_question_there_is_a_form_and_no_answer(browser):
    page = browser.get("/playground")
    assert (page.status, page.h1) == (200, "Playground")
    assert page.has("Who do you want to know about?")
    assert not page.has("Copy link")


def test_each_feature_has_an_answer_in_each_environment(browser, shop):
    page = browser.get(f"/playground?context.userId=1&context.country=DK&{BOTH}")
    assert page.has("User 1 gets 1 of 3 features in production.")
    assert rows(page) == [
        ["child", "development Off country is DK", "production Off"],
        ["off", "development Off", "production Off"],
        ["parent", "development On", "production On"],
    ]


def test_reasons_name_the_rule_and_what_it_was_compared_with(browser, shop):
    page = browser.get("/playground?context.userId=1&context.country=DK&environment=development")
    at = falls_at(shop, "1")
    assert lines(page, "child") == [
        "Met: It’s on in development",
        "Met: parent, which it depends on, is on for them",
        "Not looked at: Strategy 1, paused: everyone · applications don’t get it",
        "Not met: Strategy 2: 40% of users, by userId, where country is NO or SE, in segment Beta",
        "Not met: country is NO or SE · theirs is DK",
        "Not met: in segment Beta",
        "Not met: country is NO or SE · theirs is DK",
        f"Not looked at: 40% rollout · would fall at {at} of 100",
        "Not met: Strategy 3: the people that our-own chooses, where country is NO or SE",
        "Not met: country is NO or SE · theirs is DK",
        "Not looked at: the type our-own · only applications know who gets it",
    ]


def test_where_a_feature_is_off_its_strategies_are_not_looked_at(browser, shop):
    shop.ok("POST", f"{place('child')}/off")
    page = browser.get("/playground?context.country=NO&environment=development")
    found = lines(page, "child")
    assert found[0] == "Not met: It’s off in development"
    assert not [line for line in found if "Strategy" in line and "Not looked at" not in line]


def test_several_people_are_counted_and_each_leads_to_their_reasons(browser, shop):
    page = browser.get(
        "/playground?context.userId=1,2&context.country=NO,DK&environment=development"
    )
    assert page.has("for at least one of 4 people in development.")
    assert cells(page.select(".matrix__row")[2]) == ["parent", "development 4 of 4"]
    assert lines(page, "parent") == ["On: userId 1, country NO and 3 more"]
    assert "Off: userId 1, country DK and 1 more · country is DK" in lines(page, "child")
    one = follow(browser, page, "userId 1, country NO")
    assert [cells(each)[0] for each in one.select(".matrix__row[open]")] == ["parent"]
    assert one.has("User 1 gets parent in development.")


def test_the_rows_are_limited_to_those_that_are_on_or_differ(browser, shop):
    shop.ok("POST", f"{place('parent')}/off")
    page = browser.get(f"/playground?context.userId=1&{BOTH}")
    assert [name for name, *_ in rows(follow(browser, page, "On in production 1"))] == ["parent"]
    different = follow(browser, page, "Different between environments 1")
    assert [name for name, *_ in rows(different)] == ["parent"]


def test_an_environment_that_a_project_does_not_use_has_no_answer(browser, shop):
    shop.ok("PUT", "/projects/default/environments", {"environments": ["development"]})
    page = browser.get(f"/playground?context.userId=1&{BOTH}&project=default")
    assert rows(page)[0][2] == "production Not used"


def test_a_long_context_is_answered_without_a_link(browser, shop):
    page = browser.get("/playground")
    users = ",".join(str(10**12 + number) for number in range(100))
    found = browser.submit(page, {"context.userId": users}, button="Keep it private")
    assert found.status == 200
    assert found.has("100 people")
    assert cells(found.select(".matrix__row")[2])[0] == "parent"
    assert not [text for text in found.links if "Download" in text]


def test_two_people_are_compared_and_what_differs_comes_first(browser, shop):
    users = (str(number) for number in range(500))
    user = next(user for user in users if falls_at(shop, user) <= 40)
    asked = f"context.userId={user}&context.country=NO&other.userId={user}&other.country=DK"
    page = browser.get(f"/playground/compare?{asked}&environment=development")
    assert page.has(f"1 of 3 features differs between user {user} and user {user} in development.")
    assert rows(page) == [["child", f"A: user {user} On blue", f"B: user {user} Off country is DK"]]
    same = follow(browser, page, "The same 2")
    assert [name for name, *_ in rows(same)] == ["off", "parent"]


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("context.currentTime=soon", "currentTime: Must be a time with its zone"),
        ("project=nothing", "projects: There is no project with the id 'nothing'."),
        ("project=a b", "project: Leave out spaces"),
        ("only=none", "only: Must be one of"),
        ("context.userId=" + ",".join(map(str, range(101))), "make 101 combinations"),
        ("context.userId=" + "x" * 10_001, "userId: Enter at most 10000 characters."),
    ],
)
def test_what_cannot_be_answered_says_why(browser, address, words):
    page = browser.get(f"/playground?{address}")
    assert page.status == 400
    assert page.has(words)
    assert not page.select(".matrix")


def test_fields_and_values_that_cannot_matter_are_pointed_out(browser, admin):
    admin.ok("POST", "/context", {"name": "country", "legalValues": [{"value": "NO"}]})
    page = browser.get("/playground?context.country=DK&context.plan=plus")
    assert page.has("plan isn’t a context field, so no constraint can use it.")
    assert page.has("DK isn’t a legal value of country.")
    assert page.fields(0)["context-more"] == "plan=plus"
    assert page.fields(0)["context.country"] == "DK"


def test_the_time_that_a_browser_sends_is_in_utc(browser, shop):
    after = {"contextName": "currentTime", "operator": "DATE_AFTER"}
    after["value"] = "2026-11-24T07:00:00Z"
    shop.ok("POST", f"{place('off')}/strategies", {"name": "default", "constraints": [after]})
    shop.ok("POST", f"{place('off')}/on")
    at = "/playground?environment=development&feature=off&context.currentTime=2026-11-24T"
    assert rows(browser.get(f"{at}08:00"))[0][1] == "development On"
    page = browser.get(f"{at}06:00")
    assert rows(page)[0][1] == "development Off it’s 24 Nov 2026, 06:00 UTC"
    assert page.fields(0)["context.currentTime"] == "2026-11-24T06:00"


def test_all_answers_can_be_had_as_a_file(browser, shop):
    page = browser.get("/playground?context.userId=1&context.country=DK&environment=development")
    found = follow(browser, page, "Download all 3 as CSV").text.splitlines()
    assert found[0] == "\ufefffeature,project,environment,person,on,variant,why"
    assert found[1].startswith("child,default,development,")
    assert found[1].endswith("country is DK")


def test_projects_that_someone_cannot_see_are_not_answered(app, people, shop):
    shop.ok("POST", "/projects", {"id": "secret", "name": "Secret", "mode": "private"})
    shop.ok("POST", "/projects/secret/features", {"name": "hidden"})
    people.person("kim", role="Viewer")
    browser = Browser(app).sign_in("kim")
    page = browser.get("/playground?context.userId=1")
    assert "hidden" not in [name for name, *_ in rows(page)]
    assert browser.get("/playground?project=secret&context.userId=1").status == 400
