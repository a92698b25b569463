"""The pages where a strategy is added, edited and deleted, all without scripts."""

import pytest

from tests.support.browser import Browser

PAGE = "/projects/default/features/cart"
PLACE = f"{PAGE}/environments/production"
NEW = f"{PLACE}/strategies/new"


@pytest.fixture(autouse=True)
def cart(admin):
    admin.ok("POST", "/projects/default/features", {"name": "cart"})


def saved(admin):
    return admin.ok("GET", f"{PLACE}/strategies")


def test_a_strategy_with_two_constraints_is_added(browser, admin):
    page = browser.get(NEW)
    assert page.fields(0)["rollout"] == "100"
    page = browser.submit(page, {"title": "Nordic", "rollout": "25", "step": "add-constraint"})
    assert page.fields(0)["title"] == "Nordic"
    page = browser.submit(page, {"constraint-0-values": "1\r\n 2 \n\n3", "step": "add-constraint"})
    second = {
        "constraint-1-contextName": "appName",
        "constraint-1-operator": "STR_STARTS_WITH",
        "constraint-1-values": "web",
        "constraint-1-inverted": "y",
    }
    assert saved(admin) == []
    done = browser.follow(browser.submit(page, second))
    assert done.messages == ["Strategy added in production."]
    assert done.has(
        "When on: 25% of users, by userId or sessionId, where userId is 1, 2 or 3 and appName "
        "doesn’t start with web Nordic"
    )
    [made] = saved(admin)
    assert made["constraints"][0]["values"] == ["1", "2", "3"]


def test_mistakes_are_shown_where_they_are_and_nothing_is_lost(browser, admin):
    page = browser.submit(browser.get(NEW), {"step": "add-constraint"})
    page = browser.submit(page, {"rollout": "120", "title": "Kept"})
    assert page.status == 400
    assert page.errors == ["Constraint 1: Enter at least one value."]
    number = {"constraint-0-operator": "NUM_GT", "constraint-0-values": "many"}
    page = browser.submit(page, number)
    assert page.errors == ["Constraint 1: Must be a number, like 5 or -0.5."]
    page = browser.submit(page, {"constraint-0-values": "5"})
    assert page.errors == ["Rollout in percent: Enter a whole number from 0 to 100."]
    assert page.fields(0)["title"] == "Kept"
    browser.submit(page, {"rollout": "12"})
    assert saved(admin)[0]["constraints"][0]["value"] == "5"


def test_a_strategy_is_edited_from_the_page_of_its_feature(browser, admin):
    constraint = {"contextName": "userId", "operator": "IN", "values": ["1"]}
    variants = [{"name": "a"}, {"name": "b"}]
    body = {"name": "flexibleRollout", "constraints": [constraint], "variants": variants}
    made = admin.ok("POST", f"{PLACE}/strategies", body)
    link = next(
        href for text, href in browser.get(PAGE).links.items() if text.startswith("Edit strategy 1")
    )
    page = browser.get(link)
    assert page.has("When on: everyone where userId is 1 a 50% b 50%")
    page = browser.submit(page, {"rollout": "40", "step": "remove-constraint-0"})
    done = browser.follow(browser.submit(page, {"disabled": "y"}))
    assert done.messages == ["Strategy in production saved."]
    [changed] = saved(admin)
    assert (changed["constraints"], changed["disabled"]) == ([], True)
    assert changed["parameters"] == made["parameters"] | {"rollout": "40"}
    assert changed["variants"] == made["variants"]
    again = browser.follow(browser.submit(browser.get(link)))
    assert "Nothing changed." in again.messages


def test_an_edit_by_someone_else_is_shown_first(browser, admin):
    made = admin.ok("POST", f"{PLACE}/strategies", {"name": "flexibleRollout"})
    path = f"{PLACE}/strategies/{made['id']}"
    page = browser.get(path)
    admin.ok("PUT", path, {"parameters": {"rollout": "7"}})
    refused = browser.submit(page, {"rollout": "50"})
    assert refused.status == 409
    assert refused.has("They changed Rollout from “100” to “7”.")
    browser.submit(refused)
    assert saved(admin)[0]["parameters"]["rollout"] == "50"


def test_a_strategy_is_deleted_and_the_feature_is_off(browser, admin):
    admin.ok("POST", f"{PLACE}/on")
    [made] = saved(admin)
    page = browser.get(f"{PLACE}/strategies/{made['id']}")
    done = browser.follow(browser.submit(page, form="Delete strategy"))
    assert done.messages == ["Strategy in production deleted."]
    assert saved(admin) == []
    assert admin.ok("GET", PLACE)["enabled"] is False


def test_a_guarded_environment_asks_for_a_reason(browser, admin):
    admin.ok("POST", f"{PLACE}/on")
    rules = [{"name": "production", "requiredApprovals": 1}]
    body = {"environments": ["production"], "changeRequestEnvironments": rules}
    admin.ok("PUT", "/projects/default/environments", body)
    page = browser.follow(browser.get(NEW))
    assert page.has("Changes here need 1 approval")
    button = "Add strategy without approval"
    refused = browser.submit(page, button=button)
    assert refused.status == 400
    assert "1 approval in production" in refused.errors[0]
    browser.submit(refused, {"reason": "The shop is down"}, button=button)
    assert len(saved(admin)) == 2


def test_of_a_place_that_is_not_there_nothing_is_shown(browser):
    assert browser.get(NEW.replace("production", "moon")).status == 404
    assert browser.get(NEW.replace("cart", "nope")).status == 404


def test_saving_without_an_edit_changes_nothing(browser, admin):
    constraint = {"contextName": "userId", "operator": "IN", "values": ["Smith, John", "1"]}
    blue = {"name": "blue", "weight": 333, "weightType": "fix"}
    blue |= {"payload": {"type": "string", "value": "a\nb"}}
    body = {"constraints": [constraint], "variants": [blue, {"name": "red"}]}
    made = admin.ok("POST", f"{PLACE}/strategies", {"name": "flexibleRollout", **body})
    page = browser.get(f"{PLACE}/strategies/{made['id']}")
    lines = {"variant-0-payload": "a\r\nb", "constraint-0-values": "Smith, John\r\n1"}
    done = browser.follow(browser.submit(page, lines))
    assert "Nothing changed." in done.messages
    assert saved(admin) == [made]


@pytest.mark.parametrize("weight", ["many", "-1", "33.33", "9e999998", "\u0665"])
def test_a_weight_is_a_percentage(browser, admin, weight):
    page = browser.submit(browser.get(NEW), {"step": "add-variant"})
    given = {"shares": "own", "variant-0-name": "blue", "variant-0-weight": weight}
    page = browser.submit(page, given)
    assert page.errors == ["Variant 1: Enter a weight from 0 to 100, with at most 1 decimal."]
    assert saved(admin) == []


def test_variants_follow_the_stickiness_of_their_strategy(browser, admin):
    body = {"parameters": {"stickiness": "userId"}, "variants": [BY_USER, BY_SESSION]}
    made = admin.ok("POST", f"{PLACE}/strategies", {"name": "flexibleRollout", **body})
    page = browser.get(f"{PLACE}/strategies/{made['id']}")
    browser.submit(page, {"stickiness": "random"})
    [changed] = saved(admin)
    assert [each["stickiness"] for each in changed["variants"]] == ["random", "sessionId"]


def test_a_strategy_of_another_type_is_added_and_edited(browser, admin):
    page = browser.get(NEW)
    assert page.links["userWithId"] == f"{NEW}?type=userWithId"
    page = browser.submit(browser.get(f"{NEW}?type=userWithId"))
    assert page.errors == ["userIds: Enter at least one, separated by commas."]
    done = browser.follow(browser.submit(page, {"parameter-userIds": "1,2"}))
    assert done.has("When on: userId 1 or 2")
    assert browser.get(f"{NEW}?type=nope").status == 404


def test_a_parameter_that_can_be_left_out_can_be_cleared(browser, admin):
    parameters = [{"name": "regions", "required": True}, {"name": "limit", "type": "percentage"}]
    admin.ok("POST", "/strategies", {"name": "by-region", "parameters": parameters})
    given = {"regions": "north", "limit": "5"}
    body = {"name": "by-region", "parameters": given}
    made = admin.ok("POST", f"{PLACE}/strategies", body)
    admin.ok("POST", "/strategies/by-region/deprecate")
    page = browser.get(f"{PLACE}/strategies/{made['id']}")
    browser.submit(page, {"parameter-limit": ""})
    assert saved(admin)[0]["parameters"] == {"regions": "north"}


BY_USER = {"name": "blue", "stickiness": "userId"}
BY_SESSION = {"name": "red", "stickiness": "sessionId"}


def with_variants(browser, *variants, **fields):
    """The form of a new strategy with variants, each (name, weight)."""
    page = browser.get(NEW)
    for number, (name, weight) in enumerate(variants):
        page = browser.submit(page, {**fields, "step": "add-variant"})
        page = browser.submit(
            page,
            {f"variant-{number}-name": name, f"variant-{number}-weight": weight, "step": "check"},
        )
    return page


@pytest.mark.parametrize(
    ("shares", "weights", "saved_weights"),
    [
        ("equal", ("", ""), [500, 500]),
        ("own", ("50", "50"), [500, 500]),
        ("own", ("33.3", "66.7"), [333, 667]),
        ("own", ("30", ""), [300, 700]),
        ("own", ("30", "", ""), [300, 350, 350]),
        ("own", ("100", "0"), [1000, 0]),
    ],
)
def test_shares_that_make_the_whole_are_taken(browser, admin, shares, weights, saved_weights):
    given = [(f"v{number}", weight) for number, weight in enumerate(weights)]
    page = with_variants(browser, *given, shares=shares)
    browser.follow(browser.submit(page))
    [made] = saved(admin)
    assert [each["weight"] for each in made["variants"]] == saved_weights
    page = browser.get(f"{PLACE}/strategies/{made['id']}")
    assert page.fields(0)["shares"] == shares
    done = browser.follow(browser.submit(page))
    assert done.messages == ["Nothing changed."]


@pytest.mark.parametrize(("weights", "sum"), [(("50", "40"), 90), (("60", "50"), 110)])
def test_shares_that_do_not_make_the_whole_are_refused(browser, admin, weights, sum):
    given = [(f"v{number}", weight) for number, weight in enumerate(weights)]
    page = browser.submit(with_variants(browser, *given, shares="own"))
    assert page.errors == [
        f"The weights add up to {sum}%. Make them 100%, or let one variant take what is left."
    ]
    assert page.fields(0)["variant-1-weight"] == weights[1]
    assert saved(admin) == []


def test_the_variant_that_takes_what_is_left_stays_the_one(browser, admin):
    variants = [{"name": "rest"}, {"name": "fixed", "weightType": "fix", "weight": 400}]
    body = {"name": "flexibleRollout", "variants": variants}
    made = admin.ok("POST", f"{PLACE}/strategies", body)
    page = browser.get(f"{PLACE}/strategies/{made['id']}")
    assert page.fields(0)["variant-0-weight"] == "60"
    assert browser.follow(browser.submit(page)).messages == ["Nothing changed."]
    given = {"variant-0-weight": "70", "variant-1-weight": "30"}
    browser.follow(browser.submit(page, given))
    found = [(each["weight"], each["weightType"]) for each in saved(admin)[0]["variants"]]
    assert found == [(700, "variable"), (300, "fix")]


def test_equal_shares_are_shown_as_variants_come_and_go(browser):
    page = with_variants(browser, ("a", ""), ("b", ""), ("c", ""))
    assert page.fields(0)["variant-2-weight"] == "33.3"
    page = browser.submit(page, {"step": "remove-variant-1"})
    assert page.fields(0)["variant-1-name"] == "c"
    assert page.fields(0)["variant-1-weight"] == "50"


def test_a_payload_is_kept_without_a_type_and_checked_with_one(browser, admin):
    page = with_variants(browser, ("a", ""))
    wrong = {"variant-0-payload": '{"steps": 1', "variant-0-payloadType": "json"}
    page = browser.submit(page, wrong)
    assert page.errors == [
        "Variant 1: The payload isn’t valid JSON: expecting ',' delimiter at line 1, character 12."
    ]
    browser.follow(browser.submit(page, {"variant-0-payloadType": ""}))
    [made] = saved(admin)
    assert made["variants"][0]["payload"] == {"type": "string", "value": '{"steps": 1'}


def offered(page, number=0):
    """The groups of operators and the values that a constraint offers."""
    groups = page.select(f"#constraint-{number}-operator optgroup")
    boxes = page.select(f'[type="checkbox"][name="constraint-{number}-values"]')
    return [g.attributes["label"] for g in groups], [b.attributes["value"] for b in boxes]


def test_a_constraint_offers_what_fits_its_field(browser, admin, subtests):
    values = [{"value": value} for value in ("NO", "SE")]
    admin.ok("POST", "/context", {"name": "country", "legalValues": values})
    versions = [{"value": value} for value in ("1.0.0", "2.0.0")]
    admin.ok("POST", "/context", {"name": "release", "legalValues": versions})
    admin.ok("POST", "/context", {"name": "plan"})
    every = ["Values", "Text", "Number", "Date", "Version", "Address"]
    for field, groups, boxes in (
        ("country", ["Values", "Text"], ["NO", "SE"]),
        ("release", ["Values", "Text", "Version"], ["1.0.0", "2.0.0"]),
        ("plan", every, []),
        ("userId", ["Values", "Text", "Number"], []),
        ("currentTime", ["Values", "Date"], []),
    ):
        with subtests.test(field=field):
            page = browser.submit(browser.get(NEW), {"step": "add-constraint"})
            chosen = {"constraint-0-contextName": field, "step": "refresh"}
            assert offered(browser.submit(page, chosen)) == (groups, boxes)


def test_what_was_typed_for_another_field_is_kept_among_the_boxes(browser, admin):
    values = [{"value": value} for value in ("NO", "SE")]
    admin.ok("POST", "/context", {"name": "country", "legalValues": values})
    page = browser.submit(browser.get(NEW), {"step": "add-constraint"})
    chosen = {"constraint-0-contextName": "country", "constraint-0-values": "SE\r\nSweden"}
    page = browser.submit(page, chosen | {"step": "refresh"})
    assert offered(page)[1] == ["NO", "SE", "Sweden"]
    assert page.has("Sweden (not a legal value)")
    assert page.fields(0)["constraint-0-values"] == ["SE", "Sweden"]
    refused = browser.submit(page)
    assert refused.errors == ["Constraint 1: country can’t be 'Sweden'. Choose from: NO and SE."]
    browser.follow(browser.submit(refused, {"constraint-0-values": ["NO", "SE"]}))
    assert saved(admin)[0]["constraints"][0]["values"] == ["NO", "SE"]


def test_a_button_fills_in_a_common_share(browser):
    page = browser.submit(browser.get(NEW), {"title": "Kept", "step": "rollout-10"})
    assert (page.fields(0)["rollout"], page.fields(0)["title"]) == ("10", "Kept")
    assert page.has("When on: 10% of users")
    other = browser.get(f"{NEW}?type=userWithId")
    assert browser.submit(other, {"step": "rollout-10"}).status == 200


def test_a_strategy_is_added_and_switched_on_in_one_step_and_undone_as_one(browser, admin):
    page = browser.get(NEW)
    assert page.has("cart is off in production No one gets it until you switch it on.")
    done = browser.follow(browser.submit(page, {"rollout": "10"}, button="Add and switch on"))
    assert done.messages[0].startswith("Strategy added in production, and cart switched on there.")
    assert done.has("On for 10% of users")
    assert admin.ok("GET", PLACE)["enabled"] is True
    undo = "Undo adding the strategy in production"
    undone = browser.follow(browser.submit(done, form=undo))
    assert undone.messages == ["Undone. You had switched feature cart on in production."]
    assert admin.ok("GET", PLACE)["enabled"] is False
    assert saved(admin) == []
    again = browser.follow(browser.submit(undone, form="Undo undoing it"))
    assert again.has("On for 10% of users")
    assert admin.ok("GET", PLACE)["enabled"] is True


def test_an_edit_and_a_deletion_are_undone(browser, admin):
    body = {"name": "flexibleRollout", "title": "First", "parameters": {"rollout": "30"}}
    made = admin.ok("POST", f"{PLACE}/strategies", body)
    admin.ok("POST", f"{PLACE}/on")
    path = f"{PLACE}/strategies/{made['id']}"
    done = browser.follow(browser.submit(browser.get(path), {"title": "", "rollout": "60"}))
    assert saved(admin)[0]["parameters"]["rollout"] == "60"
    browser.follow(browser.submit(done, form="Undo saving the strategy in production"))
    assert saved(admin) == [made]
    done = browser.follow(browser.submit(browser.get(path), form="Delete strategy"))
    assert admin.ok("GET", PLACE)["enabled"] is False
    browser.follow(browser.submit(done, form="Undo deleting the strategy in production"))
    assert saved(admin) == [made]
    assert admin.ok("GET", PLACE)["enabled"] is True


def test_what_someone_changed_since_is_not_undone(browser, admin):
    made = admin.ok("POST", f"{PLACE}/strategies", {"name": "flexibleRollout"})
    path = f"{PLACE}/strategies/{made['id']}"
    done = browser.follow(browser.submit(browser.get(path), {"rollout": "60"}))
    admin.ok("PUT", path, {"parameters": {"rollout": "70"}})
    refused = browser.follow(browser.submit(done, form="Undo saving the strategy in production"))
    assert refused.messages == [
        "Someone changed this strategy since, so it can’t be undone. The history says who."
    ]
    assert saved(admin)[0]["parameters"]["rollout"] == "70"


def test_undoing_takes_the_permission_for_it(app, browser, admin, people):
    done = browser.follow(browser.submit(browser.get(NEW)))
    [form] = [f for f in done.select("form") if "/undo?batch=" in (f.attributes["action"] or "")]
    people.person("vera")
    assert Browser(app).sign_in("vera").post(form.attributes["action"]).status == 404
    assert len(saved(admin)) == 1
    assert browser.post("/events/undo?batch=unknown").status == 404


def test_where_approvals_are_needed_nothing_is_switched_on_along_the_way(browser, admin):
    rules = [{"name": "production", "requiredApprovals": 1}]
    body = {"environments": ["production"], "changeRequestEnvironments": rules}
    admin.ok("PUT", "/projects/default/environments", body)
    page = browser.get(NEW)
    assert not page.select('[name="then"]')
    done = browser.follow(browser.submit(page))
    assert done.messages == ["Strategy added in production."]
