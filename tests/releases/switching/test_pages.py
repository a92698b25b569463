"""The switches on the page of a feature."""

import pytest

from tests.support.browser import Browser, sent_by, text_of

PAGE = "/projects/default/features/cart"
PLACE = "/projects/default/features/cart/environments/production"
SWITCHED_ON = "Switched on cart in production. No application has checked it there yet."


@pytest.fixture(autouse=True)
def cart(admin):
    admin.ok("POST", "/projects/default/features", {"name": "cart"})


def is_on(client, place=PLACE):
    return client.ok("GET", place)["enabled"]


def row(page, name):
    """The text of a feature's row in a list."""
    [found] = [each for each in page.select("tbody tr") if each.attributes["id"] == f"row-{name}"]
    return text_of(found)


def press_in_list(browser, page, words):
    """Press the button of a row whose text ends with these words."""
    [button] = [each for each in page.select("tbody button") if text_of(each).endswith(words)]
    [form] = page.select(f"#{button.attributes['form']}")
    return browser.post(button.attributes["formaction"], sent_by(form))


def test_a_feature_is_switched_on_and_off_on_its_page(browser, admin):
    page = browser.get(PAGE)
    assert page.has("No strategy yet. Switching on adds the project’s default: on for everyone.")
    done = browser.follow(browser.submit(page, form="cart in production Off"))
    assert done.messages == [SWITCHED_ON]
    assert done.has("production cart in production On On for everyone")
    assert is_on(admin)
    done = browser.follow(browser.submit(done, form="cart in production On"))
    assert "Switched off cart in production." in done.messages[0]
    assert not is_on(admin)


def test_a_switch_is_undone_from_its_note(browser, admin):
    answer = browser.submit(browser.get(PAGE), form="cart in production Off")
    assert answer.answer.headers["Location"].endswith(f"{PAGE}#done")
    done = browser.follow(answer)
    assert done.select("#done")[0].attributes["tabindex"] == "-1"
    undone = browser.follow(browser.submit(done, form="Undo switching on cart in production"))
    assert undone.messages == ["Undone. You had switched feature cart on in production."]
    assert not is_on(admin)
    assert not admin.ok("GET", PLACE)["strategies"]
    browser.follow(browser.submit(undone, form="Undo undoing it"))
    assert is_on(admin)
    assert browser.get(PAGE).messages == []


def test_what_was_switched_already_has_no_undo(browser, admin):
    page = browser.get(PAGE)
    admin.ok("POST", f"{PLACE}/on")
    done = browser.follow(browser.submit(page, form="cart in production Off"))
    assert done.messages == ["cart was already on in production."]
    assert is_on(admin)


def test_an_environment_says_what_the_project_adds_by_default(browser, admin):
    path = "/projects/default/environments/production/default-strategy"
    body = {"name": "flexibleRollout", "parameters": {"rollout": "25", "stickiness": "userId"}}
    admin.ok("POST", path, body)
    assert browser.get(PAGE).has(
        "Switching on adds the project’s default: on for 25% of users, by userId."
    )


def test_each_environment_says_who_changed_it_last(app, browser, admin, people):
    member = people.member("mia", "default", "Member")
    member.ok("POST", f"{PLACE}/on")
    development = PLACE.replace("production", "development")
    member.ok("POST", f"{development}/strategies", {"name": "default"})
    browser.submit(browser.get(PAGE), form="cart in production On")
    page = browser.get(PAGE)
    assert page.has("Switched off by you just now")
    assert page.has("Strategy added by mia just now")
    people.person("vera")
    assert not Browser(app).sign_in("vera").get(PAGE).has("by mia")


def test_who_gets_it_is_shown_in_sentences(browser, admin):
    nordic = {"contextName": "userId", "operator": "IN", "values": ["1", "2"]}
    variants = [{"name": "blue", "weightType": "fix", "weight": 250}, {"name": "red"}]
    rollout = {"rollout": "25", "stickiness": "userId"}
    body = {"name": "flexibleRollout", "parameters": rollout, "constraints": [nordic]}
    admin.ok("POST", f"{PLACE}/strategies", body | {"variants": variants, "title": "Nordic"})
    admin.ok("POST", f"{PLACE}/strategies", {"name": "default", "disabled": True})
    page = browser.get(PAGE)
    assert page.has("When on: 25% of users, by userId, where userId is 1 or 2 Nordic")
    assert page.has("blue 25% red 75%")
    assert page.has("Paused: or for everyone")


def test_a_rollout_of_nothing_says_that_it_reaches_no_one(browser, admin):
    body = {"name": "flexibleRollout", "parameters": {"rollout": "0"}}
    admin.ok("POST", f"{PLACE}/strategies", body)
    admin.ok("POST", f"{PLACE}/on")
    assert browser.get(PAGE).has("On, but reaches no one: the rollout is 0%")


def test_a_child_says_where_its_parent_is_off(browser, admin):
    admin.ok("POST", "/projects/default/features", {"name": "base"})
    admin.ok("POST", f"{PAGE}/dependencies", {"feature": "base"})
    admin.ok("POST", "/projects/default/features/base/environments/development/on")
    assert browser.get(PAGE).words.count("which it depends on, is off in ") == 1


@pytest.fixture
def guarded(admin):
    rules = [{"name": "production", "requiredApprovals": 2}]
    body = {"environments": ["development", "production"], "changeRequestEnvironments": rules}
    admin.ok("PUT", "/projects/default/environments", body)


def test_a_guarded_environment_has_no_switch_and_an_admin_gives_a_reason(browser, admin, guarded):
    page = browser.get(PAGE)
    assert page.has("Needs 2 approvals")
    assert 'aria-label="cart in production' not in page.text
    form = "Switch on in production"
    refused = browser.follow(browser.submit(page, {"reason": ""}, form=form))
    assert any("need 2 approvals in production" in message for message in refused.messages)
    assert not is_on(admin)
    done = browser.follow(browser.submit(page, {"reason": "The shop is down"}, form=form))
    assert done.messages == [SWITCHED_ON]  # undoing it would need a reason too
    assert is_on(admin)


def test_who_may_not_switch_sees_the_state_and_whom_to_ask(app, admin, people):
    admin.ok("POST", f"{PLACE}/on")
    people.person("vera")
    page = Browser(app).sign_in("vera").get(PAGE)
    assert page.has("You can’t change this. Ask")
    assert page.has("production On On for everyone")
    assert 'role="switch"' not in page.text


LIST = "/projects/default"


@pytest.fixture
def three(admin):
    for name in ("a", "b"):
        admin.ok("POST", "/projects/default/features", {"name": name})
    return ["a", "b", "cart"]


def choose(browser, names, way="on", environment="production"):
    sent = {"feature": names, "environment": environment}
    page = browser.get(LIST)
    button = f"Switch {way}…"
    return browser.follow(browser.submit(page, sent, form=button, button=button))


def states(admin, names, environment="production"):
    path = f"{LIST}/features/{{}}/environments/{environment}"
    return [is_on(admin, path.format(name)) for name in names]


def test_several_are_switched_after_a_review_and_switched_back(browser, admin, three):
    admin.ok("POST", f"{LIST}/features/a/environments/production/on")
    review = choose(browser, three)
    assert review.h1 == "Switch 3 features on in production"
    assert review.has("2 of 3 features will change. 1 feature is already set.")
    assert review.has("+ strategy: On for everyone")
    assert states(admin, three) == [True, False, False]
    done = browser.follow(browser.submit(review))
    assert done.h1 == "2 features switched on in production"
    assert states(admin, three) == [True, True, True]
    undo = browser.get(done.links["Undo…"])
    assert undo.h1 == "Undo: switch 2 features off in production"
    assert browser.follow(browser.submit(undo)).h1 == "2 features switched off in production"
    assert states(admin, three) == [True, False, False]


def test_what_changed_since_the_review_is_shown_first(browser, admin, three):
    review = choose(browser, three)
    admin.ok("POST", f"{LIST}/features/a/environments/production/on")
    refused = browser.submit(review)
    assert refused.status == 409
    assert refused.errors[0].startswith("Something changed since your review")
    assert states(admin, three) == [True, False, False]
    browser.follow(browser.submit(refused))
    assert states(admin, three) == [True, True, True]


def test_several_in_a_guarded_environment_need_a_reason(browser, admin, three, guarded):
    review = browser.follow(choose(browser, three))
    button = "Switch on 3 features without approval"
    refused = browser.submit(review, form=button, button=button)
    assert refused.status == 400
    assert refused.has("Changes in production need 2 approvals.")
    assert states(admin, three) == [False] * 3
    browser.follow(browser.submit(refused, {"reason": "The shop is down"}))
    assert states(admin, three) == [True] * 3


@pytest.fixture
def partly_on(admin, three):
    """Feature a is on for everyone in development, and for 25% in production."""
    admin.ok("POST", f"{LIST}/features/a/environments/development/on")
    body = {"name": "flexibleRollout", "parameters": {"rollout": "25"}}
    admin.ok("POST", f"{LIST}/features/a/environments/production/strategies", body)
    admin.ok("POST", f"{LIST}/features/a/environments/production/on")


@pytest.mark.parametrize("path", [LIST, "/features"])
def test_a_list_says_where_features_are_on(browser, partly_on, path):
    page = browser.get(path)
    assert page.has("Type development production Tags Checked Age")
    assert row(page, "a").endswith("Release a in development On a in production 25% Never today")
    assert "b in development Off b in production Off" in row(page, "b")


@pytest.mark.parametrize(
    ("strategies", "word"),
    [
        ([{"rollout": "0"}], "0%"),
        ([{"rollout": "30"}, {"rollout": "30"}], "30%"),
        ([{"rollout": "30"}, {"rollout": "40"}], "2 strategies"),
        ([{"name": "userWithId", "parameters": {"userIds": "1"}}], "1 strategy"),
        ([{"constraints": 1}], "Constraint"),
        ([{"constraints": 2}], "2 constraints"),
        ([{"segments": 1}], "Segment"),
        ([{"segments": 2, "constraints": 1}], "2 segments"),
    ],
)
def test_a_list_says_for_whom_a_feature_is_on_in_a_word_or_two(
    browser, admin, three, strategies, word
):
    number = {"contextName": "userId", "operator": "NUM_GT", "value": "5"}
    segments = [
        admin.ok("POST", "/segments", {"name": name, "constraints": [number]})["id"]
        for name in ("one", "two")
    ]
    for given in strategies:
        body = {"name": "flexibleRollout", "parameters": {"rollout": given.get("rollout", "100")}}
        body |= {k: v for k, v in given.items() if k in {"name", "parameters"}}
        body["constraints"] = [number] * given.get("constraints", 0)
        body["segments"] = segments[: given.get("segments", 0)]
        admin.ok("POST", f"{LIST}/features/a/environments/production/strategies", body)
    admin.ok("POST", f"{LIST}/features/a/environments/production/on")
    assert f"a in production {word} Never" in row(browser.get(LIST), "a")


@pytest.mark.parametrize("path", [f"{LIST}?sort=-name", "/features?sort=-name"])
def test_a_switch_in_a_list_is_pressed_and_undone_and_leads_back_to_its_row(
    browser, admin, three, path
):
    pressed = press_in_list(browser, browser.get(path), "a in production")
    assert pressed.answer.headers["Location"].endswith(f"{path}#row-a")
    page = browser.get(path)
    [message] = page.messages
    assert message.startswith("Switched on a in production. No application has checked it there")
    assert states(admin, ["a"]) == [True]
    undone = browser.submit(page, form="Undo switching on a in production")
    assert undone.answer.headers["Location"].endswith(f"{path}#row-a")
    assert states(admin, ["a"]) == [False]


def test_a_list_offers_to_propose_where_approvals_are_needed(browser, admin, three, guarded):
    page = browser.get(LIST)
    assert page.has("production (needs approvals)")
    assert "Off Propose… switching on a in production" in row(page, "a")
    draft = browser.follow(press_in_list(browser, page, "switching on a in production"))
    assert draft.messages == ["Added to your draft. Send it for review when it’s complete."]
    assert states(admin, ["a"]) == [False]
    page = browser.get(LIST)
    assert "Off → On in your draft for a in production" in row(page, "a")
    assert "Propose… switching on b in production" in row(page, "b")


def test_a_list_has_no_switch_for_people_who_may_not_switch(app, browser, three, people):
    people.person("vera")
    for path in (LIST, "/features"):
        page = Browser(app).sign_in("vera").get(path)
        assert not page.select('[role="switch"]')
        assert "Off Off" in row(page, "a")
        assert "Propose…" not in page.text


def test_in_an_open_project_the_list_lets_everyone_propose(app, admin, three, guarded, people):
    people.person("vera")
    vera = Browser(app).sign_in("vera")
    for path in (LIST, "/features"):
        page = vera.get(path)
        assert not page.select('[role="switch"]')
        assert "Propose… switching on a in production" in row(page, "a")
    draft = vera.follow(press_in_list(vera, page, "switching on a in production"))
    assert draft.messages == ["Added to your draft. Send it for review when it’s complete."]
    admin.ok("PUT", "/projects/default", {"name": "Default", "mode": "protected"})
    assert "Propose…" not in vera.get(LIST).text


def test_a_list_shows_three_environments_and_counts_the_others(browser, admin, three):
    for name in ("qa", "load", "eu"):
        admin.ok("POST", "/environments", {"name": name, "type": "test"})
    body = {"environments": ["development", "production", "qa", "load"]}
    admin.ok("PUT", "/projects/default/environments", body)
    for name in ("development", "production"):
        admin.ok("POST", f"{LIST}/features/a/environments/{name}/on")
    page = browser.get(LIST)
    assert page.has("Type production qa load 1 more Tags")
    assert "a in production On a in qa Off a in load Off 1 of 1 on elsewhere: a" in row(page, "a")
    assert browser.get("/features").has("Type production qa load 1 more Tags")
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    admin.ok("PUT", "/projects/shop/environments", {"environments": ["eu"]})
    admin.ok("POST", "/projects/shop/features", {"name": "sale"})
    page = browser.get("/features")
    assert page.has("Type production load eu 2 more Tags")
    assert "a in load Off Not used 1 of 2 on elsewhere: a" in row(page, "a")


def test_without_an_environment_the_list_comes_back(browser, three):
    answer = browser.follow(browser.get(f"{LIST}/switch?to=on&selection=x"))
    assert "Choose an environment first." in answer.messages
