"""The engine follows what is delivered, and says loudly what it can't read."""

import logging
import threading

import pytest
import sqlalchemy as sa

from app.catalogue.features.models import Feature
from app.catalogue.strategies.models import Strategy
from app.core.db import db, transact
from app.delivery.sdk import engines
from tests.support.clients import error_of

FEATURES = "/projects/default/features"


def at(name, environment="production"):
    return f"{FEATURES}/{name}/environments/{environment}"


@pytest.fixture
def make(admin):
    def begin(name):
        admin.ok("POST", FEATURES, {"name": name})
        admin.ok("POST", f"{at(name)}/on")

    return begin


@pytest.fixture
def write(app):
    """Writes parameters of the strategies of a feature past every rule."""

    def put(name, **parameters):
        query = (
            sa.select(Strategy)
            .join(Feature, Feature.id == Strategy.feature_id)
            .where(Feature.name == name)
        )

        def change():
            for strategy in db.session.scalars(query):
                strategy.parameters = {**strategy.parameters, **parameters}

        with app.app_context():
            transact(change, writes=True)

    return put


@pytest.fixture
def errors(caplog):
    caplog.set_level(logging.ERROR)
    return lambda: [record.getMessage() for record in caplog.records]


def gauge(admin):
    headers = {"Authorization": admin.token}
    text = admin.app.test_client().get("/metrics", headers=headers).text
    [line] = [one for one in text.splitlines() if one.startswith("flagstaff_features_not")]
    return float(line.split()[-1])


def test_a_feature_that_the_engine_cannot_compile_is_off_and_told(
    app, admin, make, *, write, new_front, errors
):
    make("cart")
    make("broken")
    write("broken", groupId='a"b')
    front = new_front()
    for _ in range(3):
        assert front.on() == {"cart"}
    [said] = errors()
    assert "environment production" in said
    assert "broken" in said
    assert "cart" not in said
    assert gauge(admin) == 1
    [(environment, problems)] = app.extensions["flagstaff.source"].problems().items()
    assert (environment, list(problems)) == ("production", ["broken"])
    admin.ok("POST", "/projects/default/archive", {"features": ["broken"]})
    assert front.on() == {"cart"}
    assert gauge(admin) == 0
    assert app.extensions["flagstaff.source"].problems() == {}


def test_a_state_that_the_engine_refuses_leaves_the_last_one_answering(
    app, admin, make, *, write, new_front, errors
):
    make("cart")
    make("broken")
    front = new_front()
    assert front.on() == {"broken", "cart"}
    write("broken", rollout=50)
    make("shelf")  # so that it is noticed
    for _ in range(3):
        assert front.on() == {"broken", "cart"}
    [said] = errors()
    assert "refuses all" in said
    assert "broken" in said
    assert gauge(admin) == 1
    write("broken", rollout="100")
    make("table")
    assert front.on() == {"broken", "cart", "shelf", "table"}
    assert gauge(admin) == 0


def test_a_state_that_the_engine_refuses_from_the_start_is_503_and_never_401(
    app, make, monkeypatch, *, write, new_front, errors
):
    fresh = engines.Engines()  # earlier tests asked this server
    monkeypatch.setattr(app.extensions["flagstaff.source"], "_engines", fresh)
    make("broken")
    write("broken", rollout=50)
    answer = new_front().ask()
    assert error_of(answer) == (503, "UnavailableError")
    assert "production" in answer.json["message"]
    assert new_front().flag("broken").status_code == 503
    assert len(errors()) == 1


def test_one_engine_is_made_for_all_who_ask_and_only_after_a_change(
    app, admin, make, new_front, monkeypatch
):
    make("cart")
    fresh = engines.Engines()  # earlier tests asked this server
    monkeypatch.setattr(app.extensions["flagstaff.source"], "_engines", fresh)
    made, front, evaluator = [], new_front(), engines.Evaluator
    monkeypatch.setattr(engines, "Evaluator", lambda state: made.append(1) or evaluator(state))
    threads = [threading.Thread(target=front.on) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    admin.ok("POST", "/tag-types", {"name": "team"})  # may change delivery, and does not
    assert front.on() == {"cart"}
    assert len(made) == 1
    admin.ok("POST", f"{at('cart')}/off")
    assert front.on() == set()
    assert len(made) == 2
