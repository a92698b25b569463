"""What is found, in which order, and with which facts."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.catalogue.features.models import Feature, FeatureType
from app.core.clock import utcnow
from app.core.db import insert_all, unit_of_work
from app.portal.search import sources
from tests.portal.search.conftest import answer, found
from tests.support.clients import error_of, problems_of

pytestmark = pytest.mark.slow


def test_everything_that_has_a_name_is_found_by_it(admin, shop):
    got = found(admin, "exp")
    assert "Export events…" in got.pop("pages")
    assert len(got.pop("features")) == 5
    assert got == {
        "projects": ["Expansion"],
        "tags": ["team:experience"],
        "segments": ["Experts", "Explorers"],
        "contextFields": ["experience"],
        "strategyTypes": ["expert-panel"],
        "environments": ["experiments"],
        "applications": ["experiment-runner"],
        "users": ["Tom Expósito"],
        "serviceAccounts": ["exporter"],
        "sdkTokens": ["expiry", "export-job"],
        "accessTokens": ["experiment"],
        "releases": ["Release of search.expand-synonyms"],
    }


def test_parts_of_names_that_start_so_come_before_what_is_inside_of_a_word(admin, shop):
    assert found(admin, "exp", limit=50)["features"] == [
        "hidden.express",
        "checkout.express",
        "search.expand-synonyms",
        "checkout.express.wallet",
        "old.express",
        "inexpensive",
    ]


def test_all_words_must_be_found_in_any_order_also_in_descriptions(admin, shop, subtests):
    for asked, names in (
        ("checkout.express", ["checkout.express", "checkout.express.wallet"]),
        ("CHECKOUT.Express", ["checkout.express", "checkout.express.wallet"]),
        ("express wallet", ["checkout.express.wallet"]),
        ("wallet check", ["checkout.express.wallet"]),
        ("and-syn", ["search.expand-synonyms"]),
        ("  expand   synonyms ", ["search.expand-synonyms"]),
        ("one step", ["checkout.express"]),
        ("step express", ["checkout.express"]),
    ):
        with subtests.test(asked=asked, names=names):
            assert found(admin, asked)["features"] == names


def test_what_has_exactly_this_name_comes_first_of_all(admin, shop):
    assert list(found(admin, "payments")) == ["projects"]
    admin.ok("POST", "/projects/payments/features", {"name": "payments.refunds"})
    assert list(found(admin, "payments")) == ["projects", "features"]
    assert list(found(admin, "payment")) == ["features", "projects"]


def test_signs_that_mean_something_to_databases_are_only_signs(admin, shop):
    admin.ok("POST", "/segments", {"name": r'100% "of_it\ *', "constraints": []})
    for asked in ("100%", '"of_', "_it\\", r'100% "of_it\ *'):
        assert found(admin, asked)["segments"] == [r'100% "of_it\ *'], asked
    for asked in ("%", "e_p", "exp*", "%exp%", "' OR 1=1 --", 'name:exp OR "', "NEAR(exp)"):
        assert "features" not in found(admin, asked), asked


def test_letters_of_any_alphabet_are_found_in_any_case(admin):
    for name in ("Ådne og Øyvind", "Ärger", "Οδός"):
        admin.ok("POST", "/segments", {"name": name, "constraints": []})
    for asked, name in (
        ("ådne", "Ådne og Øyvind"),
        ("ÅDNE", "Ådne og Øyvind"),
        ("øyv", "Ådne og Øyvind"),
        ("ärger", "Ärger"),
        ("A\u0308rg", "Ärger"),
        ("οδός", "Οδός"),
    ):
        assert found(admin, asked)["segments"] == [name], asked


def test_an_archived_feature_says_so_and_comes_after_the_active_ones(admin, shop):
    [group] = [g for g in answer(admin, "express")["groups"] if g["kind"] == "features"]
    last = group["hits"][-1]
    assert last == {
        "name": "old.express",
        "about": "Payments · archived",
        "archived": True,
        "path": "/projects/payments/features/old.express",
    }
    assert [hit["archived"] for hit in group["hits"]].count(True) == 1


def test_a_feature_says_how_it_is_in_production(admin, shop):
    place = "/projects/payments/features/checkout.express/environments/production"
    abouts = [about(admin, "checkout.express")]
    admin.ok("POST", f"{place}/on")
    abouts.append(about(admin, "checkout.express"))
    [strategy] = admin.ok("GET", f"{place}/strategies")
    rollout = {"name": "flexibleRollout", "parameters": {"rollout": "25"}}
    admin.ok("PUT", f"{place}/strategies/{strategy['id']}", rollout)
    abouts.append(about(admin, "checkout.express"))
    assert abouts == [
        "Payments · off in production",
        "Payments · on in production",
        "Payments · on in production for 25%",
    ]


def about(client, asked):
    return answer(client, asked)["groups"][0]["hits"][0]["about"]


def test_the_state_in_an_environment_can_be_asked_for(admin, shop):
    place = "/projects/payments/features/checkout.express/environments/production"
    admin.ok("POST", f"{place}/on")
    assert found(admin, "on:production") == {"features": ["checkout.express"]}
    assert found(admin, "on:PRODUCTION wallet") == {}
    assert found(admin, "off:production checkout") == {"features": ["checkout.express.wallet"]}
    assert "old.express" not in found(admin, "off:production", limit=50)["features"]
    assert found(admin, "on:nowhere") == {}
    assert found(admin, "in:production") == {}


def test_only_pages_and_actions_follow_the_sign_for_them(admin, shop):
    assert list(found(admin, "> exp")) == ["pages"]
    assert "Export events…" in found(admin, ">exp", limit=50)["pages"]
    everything = answer(admin, ">", limit=50)["groups"]
    assert [group["kind"] for group in everything] == ["pages"]


def test_pages_are_found_by_other_words_too_and_settings_by_their_names(viewer):
    assert "Two-step sign-in" in found(viewer, "2fa")["pages"]
    assert found(viewer, "FLAGSTAFF_SESSION_HOURS")["pages"] == ["FLAGSTAFF_SESSION_HOURS"]


def test_a_tag_is_found_by_type_and_value(admin, shop):
    assert found(admin, "team:exp") == {"tags": ["team:experience"]}
    assert about(admin, "team:exp") == "on 2 features"


def test_tokens_are_found_by_the_end_of_the_secret(admin, shop):
    secret = shop["export-job"]["secret"]
    for asked in (secret, secret[-4:], f"…{secret[-4:]}"):
        assert found(admin, asked)["sdkTokens"] == ["export-job"], asked
    assert secret[-4:] in answer(admin, secret)["groups"][0]["hits"][0]["about"]
    own = admin.ok("POST", "/user/tokens", {"description": "laptop"})["secret"]
    assert found(admin, own[-4:])["accessTokens"] == ["laptop"]


def test_a_revoked_token_is_not_found(admin, shop):
    admin.ok("DELETE", f"/api-tokens/{shop['export-job']['id']}")
    assert found(admin, "export-job") == {}


def test_a_kind_alone_comes_in_pages(admin):
    for number in range(7):
        admin.ok("POST", "/projects/default/features", {"name": f"paging-{number}"})
    got = answer(admin, "paging", **{"in": "features", "limit": 3, "offset": 6})
    [group] = got["groups"]
    assert [hit["name"] for hit in group["hits"]] == ["paging-6"]
    assert (got["total"], group["total"], group["hasMore"]) == (7, 7, False)
    assert found(admin, "paging", **{"in": "tags"}) == {}


def test_where_nothing_matches_something_similar_is_named(admin, shop, subtests):
    for asked, meant in (
        ("exprs", "express"),
        ("chekcout", "checkout"),
        ("walet", "wallet"),
        ("checkout.expres.walet", "checkout.express.wallet"),
        ("Expsoito", "Expósito"),
        ("expreience", "experience"),
        ("Evnts", "events"),
        ("xyzzy", None),
        ("qq", None),
    ):
        with subtests.test(asked=asked, meant=meant):
            got = answer(admin, asked)
            assert (got["total"], got["suggestion"]) == (0, meant)
            if meant:
                assert answer(admin, meant)["total"] > 0


def test_an_empty_question_finds_nothing(viewer):
    for asked in ("", "   "):
        assert answer(viewer, asked) == {
            "version": 1,
            "total": 0,
            "groups": [],
            "suggestion": None,
        }
    assert viewer.ok("GET", "/search")["groups"] == []


def test_what_is_no_question_is_refused(viewer, stranger):
    assert error_of(stranger.get("/search?q=x")) == (401, "AuthenticationRequired")
    assert problems_of(viewer.get(f"/search?q={'x' * 101}")) == {
        "?q": "Enter at most 100 characters."
    }
    assert list(problems_of(viewer.get("/search?q=x&in=secrets&limit=51"))) == ["?in", "?limit"]
    assert error_of(viewer.get("/search?q=a%00b")) == (400, "ValidationError")


HOSTILE = st.text(max_size=110) | st.text("%_\\'\"*()-.:>^~ abON\0", max_size=110)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(asked=HOSTILE)
def test_no_question_breaks_it(admin, shop, asked):
    got = admin.get("/search", query_string={"q": asked.encode("utf-8", "replace")})
    assert got.status_code in {200, 400}, got.text


def test_a_question_of_many_words_takes_no_longer(admin, shop):
    many = " ".join("abcdefghijklmnopqrstuvwxyz"[:25])
    assert answer(admin, many)["total"] == 0
    assert error_of(admin.get("/search", query_string={"q": "x " * 5_000})) == (
        400,
        "ValidationError",
    )


def test_of_too_many_to_count_those_with_the_name_are_still_the_first(app, admin, many):
    got = answer(admin, "bulk")
    [group] = got["groups"]
    assert (group["total"], group["hasMore"]) == (sources.MAX_ROWS, True)
    assert group["hits"][0]["name"] == "bulk"
    assert all(hit["name"].startswith("bulk") for hit in group["hits"])


@pytest.fixture
def many(app, admin):
    """More features than are counted with “bulk” inside, then some that start so."""
    names = [f"x.inside-bulk-{number}" for number in range(sources.MAX_ROWS + 50)]
    names += [f"bulk-{number}" for number in range(sources.MAX_ROWS)] + ["bulk"]
    rest = {"project_id": "default", "type": FeatureType.RELEASE, "created_at": utcnow()}
    rest |= {"stale": False, "impression_data": False}
    with app.app_context(), unit_of_work(writes=True):
        insert_all([{"name": name} | rest for name in names], Feature)
