"""Who finds what: nothing that someone can't see is found, counted or suggested."""

import pytest

from tests.portal.search.conftest import answer, found
from tests.support.clients import ApiClient

pytestmark = pytest.mark.slow

HIDDEN = {"hidden.express", "Expansion", "Explorers"}
FOR_ADMINS = {"users", "serviceAccounts", "sdkTokens"}


def names(client: ApiClient, asked: str) -> set[str]:
    return {name for each in found(client, asked, limit=50).values() for name in each}


@pytest.fixture
def readers(people, shop) -> dict[str, ApiClient]:
    robot = people.service_account("robot", role="Viewer")
    return {
        "viewer": people.client("reader", role="Viewer"),
        "editor": people.client("writer", role="Editor"),
        "owner elsewhere": people.member("elsewhere", "payments", role="Owner"),
        "robot": ApiClient(people.app, people.token(robot)),
    }


def test_what_is_in_a_private_project_is_found_by_its_members_and_admins(admin, people, readers):
    member = people.member("insider", "secret-exp")
    for client in (admin, member):
        assert names(client, "exp") >= HIDDEN
    for who, client in readers.items():
        assert not names(client, "exp") & HIDDEN, who


def test_what_is_hidden_is_not_counted(admin, readers):
    totals = {
        who: {group["kind"]: group["total"] for group in answer(client, "expr")["groups"]}
        for who, client in {"admin": admin, **readers}.items()
    }
    assert totals["admin"]["features"] == 4
    assert {each["features"] for who, each in totals.items() if who != "admin"} == {3}
    [tag] = answer(readers["viewer"], "team:exp")["groups"][0]["hits"]
    assert tag["about"] == "on 1 feature"


def test_what_is_hidden_is_not_suggested(admin, readers):
    assert answer(admin, "hiden")["suggestion"] == "hidden"
    for who, client in readers.items():
        assert answer(client, "hiden")["suggestion"] is None, who


def test_what_is_hidden_is_found_by_no_state_either(admin, readers):
    place = "/projects/secret-exp/features/hidden.express/environments/production"
    admin.ok("POST", f"{place}/on")
    assert names(admin, "on:production") == {"hidden.express"}
    for who, client in readers.items():
        assert names(client, "on:production") == set(), who


def test_people_and_their_tokens_are_found_by_admins_alone(admin, readers):
    assert found(admin, "exp").keys() >= FOR_ADMINS
    for who, client in readers.items():
        kinds = found(client, "exp").keys()
        assert not kinds & (FOR_ADMINS - {"sdkTokens"}), who
        assert "accessTokens" not in kinds, who
        assert found(client, "tom exp") == {}, who


def test_an_owner_finds_the_tokens_for_their_project_alone(shop, readers):
    assert found(readers["owner elsewhere"], "exp")["sdkTokens"] == ["expiry"]
    mine, other = (shop[name]["secret"][-4:] for name in ("expiry", "export-job"))
    # Four random characters can also be part of the name of a page.
    [group] = answer(readers["owner elsewhere"], mine, **{"in": "sdkTokens"})["groups"]
    [hit] = group["hits"]
    assert hit["path"] == "/projects/payments/sdk-tokens?text=expiry"
    assert "sdkTokens" not in found(readers["owner elsewhere"], other)
    for who in ("viewer", "editor", "robot"):
        assert "sdkTokens" not in found(readers[who], "exp"), who


def test_everyone_finds_their_own_tokens(people, readers):
    for who, client in readers.items():
        assert found(client, "test").get("accessTokens") == ["test"], who


def test_pages_and_actions_are_those_that_one_can_open(admin, readers):
    pages = {
        who: set(found(client, ">", limit=50)["pages"])
        for who, client in {"admin": admin, **readers}.items()
    }
    assert {"New user", "Users", "Check a leaked token", "Security log"} <= pages["admin"]
    assert {"New project", "Export events…"} <= pages["editor"]
    assert "New feature" in pages["owner elsewhere"]
    assert not {"New project", "New user", "Users", "New feature"} & pages["viewer"]


def test_every_page_that_is_found_opens(browser, people, shop):
    people.person("plain")
    for who in ("boss", "plain"):
        visitor = browser.sign_in(who)
        page = visitor.get("/search?q=%3E&in=pages")
        more = visitor.get("/search?q=%3E&in=pages&offset=50")
        links = [a.attributes["href"] for each in (page, more) for a in each.select("a.hit")]
        assert len(links) > 30
        for link in links:
            assert visitor.get(link).status == 200, (who, link)
