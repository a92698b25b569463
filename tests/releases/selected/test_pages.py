"""Acting on selected features of several projects: choosing, reviewing, applying and undoing."""

import json

import pytest

from tests.support.browser import Browser

LIST = "/features"


@pytest.fixture(autouse=True)
def shops(admin, people):
    """Two projects with features, and a private one that kim is not a member of."""
    for id, mode in (("shop", "open"), ("pay", "open"), ("secret", "private")):
        admin.ok("POST", "/projects", {"id": id, "name": id.title(), "mode": mode})
    for project, name in (
        ("shop", "cart"),
        ("shop", "cart.icon"),
        ("pay", "card"),
        ("secret", "moonshot"),
    ):
        admin.ok("POST", f"/projects/{project}/features", {"name": name})
    people.person("boss", role="Admin")
    id = people.person("kim")
    people.join(id, "shop", "Member")
    return id


@pytest.fixture
def boss(app):
    return Browser(app).sign_in("boss")


@pytest.fixture
def kim(app):
    return Browser(app).sign_in("kim")


def choose(browser, button, *names, **values):
    """The page that follows the selection of these features in the list of all projects."""
    page = browser.get(LIST)
    page = browser.submit(page, {"feature": list(names), **values}, form=button, button=button)
    return browser.follow(page)


def is_on(admin, project, name, environment="production"):
    return admin.ok("GET", f"/projects/{project}/features/{name}/environments/{environment}")[
        "enabled"
    ]


def row(admin, name):
    [found] = admin.ok("GET", f"/features?text={name}&limit=1")["features"]
    return found


def test_features_of_two_projects_are_switched_at_once_and_that_is_undone(boss, admin):
    page = choose(boss, "Switch on…", "cart", "card", environment="production")
    assert page.h1 == "Switch 2 features on in production"
    assert page.has("2 of 2 features will change.")
    assert not is_on(admin, "shop", "cart")
    done = boss.follow(boss.submit(page, form="Switch on 2 features"))
    assert done.messages == ["2 features switched on in production."]
    assert is_on(admin, "shop", "cart")
    assert is_on(admin, "pay", "card")
    boss.follow(boss.submit(done, form="Undo changing 2 features"))
    assert not is_on(admin, "shop", "cart")
    assert not is_on(admin, "pay", "card")


def test_what_needs_approval_is_left_out_and_can_be_proposed(boss, admin):
    rules = [{"name": "production", "requiredApprovals": 1}]
    body = {"environments": ["production"], "changeRequestEnvironments": rules}
    admin.ok("PUT", "/projects/pay/environments", body)
    page = choose(boss, "Switch on…", "cart", "card", environment="production")
    assert page.has("Left out: 1 Changes in production need approval here. card")
    boss.follow(boss.submit(page, form="Switch on 1 feature"))
    assert is_on(admin, "shop", "cart")
    assert not is_on(admin, "pay", "card")
    proposed = boss.follow(boss.submit(page, form="Propose in Pay…"))
    assert boss.follow(proposed).path.startswith("/projects/pay/")


def test_projects_that_someone_cannot_change_are_left_out(kim, admin):
    page = choose(kim, "Switch on…", "cart", "card", environment="production")
    assert page.has("Left out: 1 You can’t change these. card")
    kim.follow(kim.submit(page, form="Switch on 1 feature"))
    assert is_on(admin, "shop", "cart")
    assert not is_on(admin, "pay", "card")


def test_who_loses_a_project_after_the_review_changes_nothing(kim, admin, shops):
    admin.ok("POST", "/projects/pay/access", {"id": shops, "roleId": 5})
    page = choose(kim, "Switch on…", "cart", "card", environment="production")
    admin.ok("DELETE", f"/projects/shop/access/{shops}")
    again = kim.submit(page, form="Switch on 2 features")
    assert again.status == 409
    assert again.has("Left out: 1 You can’t change these. cart")
    assert not is_on(admin, "pay", "card")


def test_features_of_hidden_projects_are_not_found(boss, kim):
    id = choose(boss, "Edit tags", "cart", "moonshot").path.partition("selection=")[2]
    page = kim.get(f"{LIST}/selected?to=archive&selection={id.partition('&')[0]}")
    assert page.has("Archive 1 feature")
    assert page.has("1 name isn’t found among the features that you can see")


def test_who_can_change_no_feature_selects_none(app, people):
    people.person("looker")
    looker = Browser(app).sign_in("looker")
    assert not looker.get(LIST).select("tbody input")
    refusal = "You can’t change features in any project."
    assert looker.follow(looker.get(f"{LIST}/paste")).has(refusal)
    sent = looker.post(f"{LIST}/selection", {"feature": "cart"})
    assert looker.follow(sent).has(refusal)


def test_tags_are_added_and_removed_over_projects(boss, admin):
    tags = {"addedTags": [{"value": "old"}], "removedTags": []}
    admin.ok("PUT", "/projects/pay/tags", {"features": ["card"], "tags": tags})
    page = choose(boss, "Edit tags", "cart", "card")
    page = boss.submit(page, {"add": "team:payments"}, form="Review")
    assert page.has("add: There is no tag type team. Create it first.")
    page = boss.submit(page, {"add": "beta, simple:new", "remove": "old"}, form="Review")
    assert page.has("+ simple:beta + simple:new − simple:old card")
    done = boss.follow(boss.submit(page, form="Change 2 features"))
    assert [tag["value"] for tag in row(admin, "card")["tags"]] == ["beta", "new"]
    assert [tag["value"] for tag in row(admin, "cart")["tags"]] == ["beta", "new"]
    boss.follow(boss.submit(done, form="Undo changing 2 features"))
    assert [tag["value"] for tag in row(admin, "card")["tags"]] == ["old"]
    assert row(admin, "cart")["tags"] == []


def test_type_and_state_are_set_over_projects(boss, admin):
    page = choose(boss, "Edit type and state…", "cart", "card")
    page = boss.submit(page, {"stale": "true", "type": "kill-switch"}, form="Review")
    boss.follow(boss.submit(page, form="Change 2 features"))
    for name in ("cart", "card"):
        assert row(admin, name) == row(admin, name) | {"stale": True, "type": "kill-switch"}


def test_archiving_leaves_out_what_others_depend_on(boss, admin):
    parent = {"feature": "cart"}
    admin.ok("POST", "/projects/shop/features/cart.icon/dependencies", parent)
    page = choose(boss, "Archive…", "cart", "card")
    assert page.has("Left out: 1 Features that stay depend on these. cart")
    boss.follow(boss.submit(page, form="Archive 1 feature"))
    [archived] = admin.ok("GET", "/features?archived=true")["features"]
    assert archived["name"] == "card"


def test_what_changed_since_the_review_is_shown_again_and_nothing_happens(boss, admin):
    page = choose(boss, "Switch on…", "cart", "card", environment="production")
    admin.ok("POST", "/projects/shop/features/cart/environments/production/on")
    again = boss.submit(page, form="Switch on 2 features")
    assert again.status == 409
    assert again.has("1 of 2 features will change. 1 feature is already set.")
    assert not is_on(admin, "pay", "card")


def test_features_of_one_project_get_the_pages_of_that_project(boss):
    page = choose(boss, "Edit tags", "cart", "cart.icon")
    assert page.path.startswith("/projects/shop/tags?")


def test_names_are_pasted_from_any_project(boss):
    names = {"names": "cart\ncard, cart.icno"}
    page = boss.follow(boss.submit(boss.get(f"{LIST}/paste"), names, form="Archive…"))
    assert page.has("cart.icno isn’t a feature that you can see. Did you mean cart.icon ?")
    page = boss.follow(boss.submit(page, form="Use cart.icon"))
    assert page.h1 == "Edit the tags of 3 features"


def test_all_that_match_are_selected_over_projects(boss, admin):
    admin.ok("POST", "/projects/shop/features/cart.icon/environments/production/on")
    page = boss.get(f"{LIST}?state=off:production&limit=1&all=1")
    page = boss.follow(boss.submit(page, form="Archive…", button="Archive…"))
    assert page.has("Archive 3 features")


def test_a_selection_is_kept_on_the_other_pages_of_the_list(boss):
    page = boss.get(f"{LIST}?limit=1")
    page = boss.follow(boss.submit(page, {"feature": "card"}, form="Archive…", button="Next 1"))
    assert page.has("1 feature selected")
    page = boss.follow(boss.submit(page, {"feature": "cart"}, form="Archive…", button="Archive…"))
    assert page.h1 == "Archive 2 features"


def test_selected_features_of_any_project_are_exported(boss):
    page = choose(boss, "Export…", "cart", "card")
    document = boss.submit(page, {"environment": "production"}, form="Download")
    assert [one["name"] for one in json.loads(document.text)["features"]] == ["card", "cart"]


def test_of_archived_features_alone_nothing_is_exported(boss, admin):
    path = choose(boss, "Export…", "cart", "card").path
    admin.ok("POST", "/projects/shop/archive", {"features": ["cart"]})
    admin.ok("POST", "/projects/pay/archive", {"features": ["card"]})
    page = boss.follow(boss.get(f"{path}&environment=production"))
    assert page.has("All of the selected features are archived.")


def test_switching_without_an_environment_asks_for_one(boss):
    path = choose(boss, "Switch on…", "cart", "card", environment="production").path
    page = boss.follow(boss.get(path.replace("&environment=production", "")))
    assert page.has("Choose an environment first.")
