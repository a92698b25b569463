"""The pages of an import: choosing a source, the plan with its decisions, and the result."""

import io
import json

import pytest

from tests.support.imports import finish, settled
from tests.support.unleash import TOKEN, sample


@pytest.fixture
def planned(admin):
    """The address of a plan in which something needs each kind of decision."""
    admin.ok("POST", "/projects/default/features", {"name": "stale.feature"})
    found = admin.ok("POST", "/imports", {"content": sample("export-8.2.0")})
    return f"/imports/{found['id']}"


def test_the_plan_names_what_needs_a_decision(browser, planned):
    page = browser.get(planned)
    assert page.has("Needs a decision: 1")
    assert page.has("Here: stale: no. The file: stale: yes.")
    assert page.has("It depends on parent.feature and grand.parent")
    assert page.has("23 of 31 items can be imported.")


def test_choosing_otherwise_changes_the_plan(browser, planned):
    page = browser.get(planned)
    chosen = {"choice:features:stale.feature": "take", "choice:features:child.two": "switched-off"}
    page = browser.follow(browser.submit(page, chosen, form="/decide", button="Update the plan"))
    assert page.fields("/decide")["choice:features:stale.feature"] == "take"
    assert page.has("25 of 31 items can be imported.")


def test_one_button_decides_about_all_that_differs(browser, planned):
    page = browser.submit(browser.get(planned), form="/decide", button="Use the file’s")
    fields = browser.follow(page).fields("/decide")
    assert fields["choice:features:stale.feature"] == "take"


def test_a_whole_kind_can_be_left_out(browser, planned):
    page = browser.get(planned)
    kinds = [kind for kind in page.fields("/decide")["kind"] if kind != "tagTypes"]
    page = browser.follow(browser.submit(page, {"kind": kinds}, form="/decide"))
    assert "tagTypes" not in page.fields("/decide")["kind"]


def test_a_plan_is_carried_out_as_it_was_shown(admin, browser, planned):
    browser.follow(browser.submit(browser.get(planned), form="/apply"))
    settled(admin, int(planned.rpartition("/")[2]))
    assert browser.get(planned).has("23 items imported.")


def test_the_result_says_what_to_do_next_and_can_be_undone(admin, browser, planned):
    id = int(planned.rpartition("/")[2])
    finish(admin, id)
    page = browser.get(planned)
    assert page.has("23 items imported.")
    assert page.has("Point one application here")
    page = browser.get(page.links["Undo import…"])
    assert page.has("23 items will be deleted, or changed back")


def test_the_plan_names_all_of_each_kind(browser, planned):
    page = browser.get(planned)
    assert page.has("child.off, child.on, child.two and 17 more")
    assert page.has("New: ops.Team and shop. Same: default.")
    assert page.has("Can’t come as they are: 3")
    assert page.has("shop.env-variants")


class TestChoosingFeatures:
    def test_shows_a_plan_for_these_alone(self, browser, planned):
        form = browser.get(browser.get(planned).links["Choose features…"])
        assert form.has("shop: 5 features")
        sent = {"projects": ["shop"], "names": "shop.europe\nshop.chekcout, child.on"}
        page = browser.follow(browser.submit(form, sent))
        assert page.has("1 of 20 features is chosen: those of shop")
        assert page.has("1 listed feature doesn’t fit the rest of the choice.")
        assert page.has("did you mean shop.checkout")

    def test_is_asked_again_when_nothing_fits(self, browser, planned):
        page = browser.submit(browser.get(f"{planned}/choose"), {"prefix": "nothing."})
        assert page.status == 400
        assert page.has("No feature there has a name that begins with 'nothing.'.")
        assert page.fields()["prefix"] == "nothing."

    def test_is_undone_by_leaving_all_blank(self, browser, planned):
        browser.submit(browser.get(f"{planned}/choose"), {"prefix": "shop."})
        page = browser.submit(browser.get(f"{planned}/choose"), {"prefix": ""})
        assert browser.follow(page).has("23 of 31 items can be imported.")

    def test_leaves_the_choice_of_kinds_as_it_was(self, browser, planned):
        before = browser.get(planned).fields("/decide")["kind"]
        browser.submit(browser.get(f"{planned}/choose"), {"prefix": "going"})
        browser.submit(browser.get(planned), form="/decide", button="Update the plan")
        browser.submit(browser.get(f"{planned}/choose"), {"prefix": ""})
        assert browser.get(planned).fields("/decide")["kind"] == before


def test_a_result_that_was_undone_no_longer_says_imported(admin, browser, planned):
    id = int(planned.rpartition("/")[2])
    finish(admin, id)
    admin.ok("POST", f"/imports/{id}/undo")
    page = browser.get(planned)
    assert page.has("This import was undone")
    assert not page.has("items imported.")


def test_a_plan_can_be_downloaded(browser, planned):
    page = browser.get(f"{planned}/plan.json")
    assert json.loads(page.text)["plan"]["number"] == 23


class TestTheSource:
    def test_says_how_large_a_file_can_be(self, browser):
        assert browser.get("/imports/new").has("Up to 2 MB.")

    def test_can_be_a_file(self, browser):
        data = json.dumps(sample("export-5.12.8")).encode()
        answer = browser.client.post(
            "/imports/new",
            data={
                "source": "file",
                "file": (io.BytesIO(data), "export.json"),
                "csrf_token": browser.csrf_token(),
            },
            headers={"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"},
        )
        assert answer.status_code == 303
        assert browser.get(answer.location).has("An exported file")

    def test_can_be_a_running_unleash(self, admin, browser, old):
        sent = {"source": "unleash", "url": old.url, "token": TOKEN}
        page = browser.submit(browser.get("/imports/new"), sent)
        settled(admin, int(page.location.rpartition("/")[2]))
        assert browser.follow(page).has("Unleash 8.2.0 at")

    @pytest.mark.parametrize(
        ("sent", "problem"),
        [
            ({"source": "file"}, "Choose a file."),
            ({"url": "unleash"}, "Enter an address like"),
            ({"url": "http://127.0.0.1:1"}, "Enter 1 to 500 characters."),
            ({"url": "http://127.0.0.1:1", "token": "x"}, "FLAGSTAFF_IMPORT_HOSTS"),
        ],
    )
    def test_is_asked_for_again_if_it_can_not_be_one(self, browser, sent, problem):
        page = browser.submit(browser.get("/imports/new"), sent)
        assert page.status == 400
        assert page.has(problem)

    def test_that_can_not_be_read_is_named_with_the_reason(self, admin, browser, old):
        sent = {"source": "unleash", "url": old.url, "token": "wrong"}
        page = browser.submit(browser.get("/imports/new"), sent)
        settled(admin, int(page.location.rpartition("/")[2]))
        assert browser.follow(page).has("refuses the token")


def test_a_page_of_work_that_goes_on_reloads_itself(app, browser, monkeypatch):
    monkeypatch.setattr("app.exchange.unleash.requests._start", lambda _: None)
    monkeypatch.setattr("app.exchange.unleash.api_imports.Unleash", lambda *_: Stopped())
    page = browser.submit(browser.get("/imports/new"), {"url": "http://127.0.0.1:1", "token": "x"})
    page = browser.follow(page)
    assert page.answer.headers["Refresh"] == "3"
    assert page.has("Reading http://127.0.0.1:1.")


class Stopped:
    url = "http://127.0.0.1:1"
