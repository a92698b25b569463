"""The rest of the home page: the reader's projects, latest changes, and the first steps."""

from tests.support.browser import text_of


def rows(found):
    return [text_of(row) for row in found.page.select("table")[0].css("tr")[1:]]


def test_it_has_the_projects_of_the_reader_with_what_is_on_and_open(home, admin, people):
    for id in ("pay", "shop"):
        admin.ok("POST", "/projects", {"id": id, "name": id.capitalize()})
        admin.ok("PUT", f"/projects/{id}/environments", {"environments": ["production"]})
    for name in ("card", "tips"):
        admin.ok("POST", "/projects/pay/features", {"name": name})
    admin.ok("POST", "/projects/pay/features/card/environments/production/on")
    people.member("kim", "pay")
    [row] = rows(home("kim"))
    assert row.startswith("Favourite: Pay Pay 2 1 of 2 None")


def test_someone_who_belongs_to_no_project_has_those_that_they_can_see(home, admin, people):
    body = {"id": "vault", "name": "Vault", "mode": "private"}
    admin.ok("POST", "/projects", body)
    people.person("noa")
    found = home("noa")
    assert [row.split()[1] for row in rows(found)] == ["Default"]
    assert not found.page.has("Vault")


def test_it_has_the_latest_changes_that_the_reader_may_know(home, admin, people):
    admin.ok("POST", "/projects", {"id": "pay", "name": "Pay"})
    admin.ok("POST", "/projects/pay/features", {"name": "card"})
    people.member("kim", "pay")
    people.person("noa")
    assert home("kim").page.has("created feature card")
    assert not home("noa").page.has("card")


def test_the_first_steps_are_ticked_off_as_they_happen(home, admin, people, new_sdk):
    people.person("ada", role="Admin")

    def done():
        return [text_of(each) for each in home("ada").page.select(".todo__done h2")]

    assert done() == []
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    assert done() == ["Create a feature : done"]
    sdk = new_sdk()
    assert done() == ["Create a feature : done", "Create a token : done"]
    sdk.reports(cart=(1, 0))
    assert home("ada").page.select(".todo") == []


def test_who_cannot_take_the_first_steps_does_not_see_them(home, people):
    people.person("noa")
    assert home("noa").page.select(".todo") == []
