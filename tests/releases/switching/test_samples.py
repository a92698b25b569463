"""The people beside the form of a strategy."""

import pytest

from tests.support.browser import text_of

FEATURE = "/projects/default/features/a"
NEW = f"{FEATURE}/environments/development/strategies/new"


@pytest.fixture(autouse=True)
def world(admin):
    admin.ok("POST", "/projects/default/features", {"name": "a"})
    admin.ok("POST", "/context", {"name": "country", "stickiness": True})
    admin.ok("POST", "/context", {"name": "appVersion"})
    staff = {"contextName": "userId", "operator": "STR_ENDS_WITH", "values": ["@us"]}
    admin.ok("POST", "/segments", {"name": "Staff", "constraints": [staff]})


def people(page):
    return [
        [text_of(each) for each in item.css(".mono, .answer, .faint")[:3]]
        for item in page.select("[data-samples] li")
    ]


def constraint(number, field, operator, values):
    start = f"constraint-{number}"
    return {
        f"{start}-contextName": field,
        f"{start}-operator": operator,
        f"{start}-values": values,
    }


def checked(browser, **changes):
    page = browser.get(NEW)
    changes = {name.replace("__", "-"): value for name, value in changes.items()}
    for _ in range(sum(name.endswith("-operator") for name in changes)):
        page = browser.submit(page, form="Add constraint", button="Add constraint")
    return browser.submit(page, changes, form="Add strategy", button="Check without saving")


def test_a_strategy_for_everyone_has_one_person(browser):
    assert people(browser.get(NEW)) == [["userId 1042", "Yes", "Meets all of it"]]


def test_a_rollout_shows_one_who_gets_it_and_one_who_does_not(browser):
    page = checked(browser, rollout="40")
    (_, yes, why), (_, no, why_not) = people(page)
    assert (yes, no) == ("Yes", "No")
    assert why.startswith("Falls at ")
    assert why.endswith("of 100; within 40%")
    assert why_not.endswith("of 100; the rollout stops at 40%")


def test_each_constraint_has_someone_who_does_not_meet_it(browser):
    two = constraint(0, "country", "IN", "NO\nSE") | constraint(
        1, "appVersion", "SEMVER_GTE", "5.2.0"
    )
    found = people(checked(browser, **two))
    assert [answer for _, answer, _ in found] == ["Yes", "No", "No"]
    assert found[0][0] == "userId 1042, country NO, appVersion 5.2.0"
    assert "country is NO or SE · theirs is" in found[1][2]
    assert "appVersion is version 5.2.0 or later · theirs is" in found[2][2]


def test_the_people_of_a_segment_are_found_too(browser):
    found = people(checked(browser, segments="1"))
    assert [answer for _, answer, _ in found] == ["Yes", "No"]
    assert found[0][0] == "userId @us"
    assert found[1][2] == "Not in segment Staff"


def test_a_random_share_says_so(browser):
    found = people(checked(browser, rollout="50", stickiness="random"))
    assert {why for _, _, why in found} == {"At random: the next check may differ"}


@pytest.mark.parametrize(
    ("field", "operator", "values"),
    [
        ("currentTime", "DATE_AFTER", "9999-12-31T23:59:59.999Z"),
        ("currentTime", "DATE_BEFORE", "0001-01-01T00:00:00.000Z"),
        ("userId", "NUM_GT", "999999999999999"),
        ("userId", "REGEX", "^(a|b)+$"),
        ("remoteAddress", "IN_CIDR", "10.0.0.0/8"),
        ("appVersion", "SEMVER_LT", "999999999.0.0"),
        ("country", "STR_CONTAINS", "{{7*7}}"),
        ("country", "NOT_IN", '"]} or true'),
    ],
)
def test_every_operator_has_people(browser, field, operator, values):
    page = checked(browser, **constraint(0, field, operator, values))
    assert page.status == 200
    assert people(page)


def test_a_form_that_is_wrong_has_no_people_yet(browser):
    page = checked(browser, rollout="many")
    assert page.has("Correct the form to see who would get it.")


def test_people_are_those_of_the_group_that_the_strategy_has(browser, admin):
    place = f"{FEATURE}/environments/development/strategies"
    parameters = {"rollout": "40", "groupId": "another", "stickiness": "userId"}
    id = admin.ok("POST", place, {"name": "flexibleRollout", "parameters": parameters})["id"]
    before = people(browser.get(f"{place}/{id}"))
    page = browser.submit(
        browser.get(f"{place}/{id}"), form="Save strategy", button="Check without saving"
    )
    assert people(page) == before
    [first, *_] = before
    user = first[0].removeprefix("userId ")
    admin.ok("POST", f"{FEATURE}/environments/development/on")
    body = {"environment": "development", "projects": "*", "context": {"userId": user}}
    [answer] = admin.ok("POST", "/playground", body)["features"]
    assert answer["isEnabled"]
    assert f"Falls at {answer['strategies']['data'][0]['result']['fallsAt']} of 100" in first[2]


def test_the_feature_leads_to_the_playground(browser):
    page = browser.get(FEATURE)
    found = browser.get(page.links["Try it"])
    assert found.has("Someone unknown doesn’t get a in production.")
