"""What people and applications can make the server keep has an end."""

from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from app.access.security_log.models import SecurityEntry
from app.accounts.mails.models import MailStop
from app.accounts.sessions import service as sessions
from app.accounts.sessions.models import SESSIONS, KeptForm, Session
from app.accounts.tokens.models import TOKENS, Token
from app.catalogue.favourites.models import Favourite
from app.catalogue.usage import service as usage
from app.catalogue.usage.models import Application, Instance, Span, VariantUsage
from app.catalogue.usage.service import Counted, Report, Running, Seen
from app.core.clock import utcnow
from app.core.db import Model, db, unit_of_work
from app.core.events.models import Event, EventHead
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.portal.display.models import HiddenPart
from app.portal.notices.models import NoticesRead
from app.releases.change_requests import editing, outcomes, steps
from app.web import idempotency, rooms
from app.web.idempotency import FIRST_ANSWERS, FirstAnswer
from app.web.routes import PageBlueprint, check_every_route_is_guarded
from tests.support.change_requests import LIST, new_desk, rollout, switching
from tests.support.clients import error_of
from tests.support.instances import reset_database, state_of
from tests.support.writes import WRITES, filled

LOG = {Event, EventHead, SecurityEntry}
MARKS = {Favourite, HiddenPart, MailStop, NoticesRead}
"""A person has at most one for each thing that there is."""


def rows(app, model, *conditions):
    with app.app_context():
        query = sa.select(sa.func.count()).select_from(model).where(*conditions)
        return db.session.scalar(query)


def fewer(monkeypatch, module, name, number):
    monkeypatch.setattr(module, name, replace(getattr(module, name), rows=number))


@pytest.mark.parametrize(
    ("needs", "keeps", "starts"),
    [
        (Access.SIGNED_IN, None, False),
        (Access.PUBLIC, None, False),
        (Access.SIGNED_IN, NOTHING, True),
        (Access.SIGNED_IN, (SESSIONS,), True),
        (Permission.CREATE_PROJECT, None, True),
    ],
)
def test_a_route_that_needs_no_permission_says_what_it_keeps(needs, keeps, starts):
    app, pages = Flask("app"), PageBlueprint("pages", __name__)
    pages.post("/", needs=needs, keeps=keeps)(lambda: "")
    app.register_blueprint(pages)
    if starts:
        check_every_route_is_guarded(app)
    else:
        with pytest.raises(RuntimeError, match="No `keeps` declared for: pages"):
            check_every_route_is_guarded(app)


def is_part_of(table, wholes):
    """Whether its rows belong to rows of one of the tables."""
    return table in wholes or any(key.column.table in wholes for key in table.foreign_keys)


@pytest.mark.slow
def test_a_route_that_needs_no_permission_keeps_only_what_it_declares(app, root, world, people):
    member = people.member("mia", "bank")
    with app.app_context():
        state = state_of(db.engine)
    tables = Model.metadata.sorted_tables
    router, before, kept = app.url_map.bind("localhost"), rows_of(app, tables), set()
    for method, path, body in WRITES:
        there = path.format_map(world)
        endpoint, _ = router.match(f"/api/admin{there}", method)
        view = app.view_functions[endpoint]
        if isinstance(view.needs, Permission):
            continue
        headers = {"Idempotency-Key": "one"} if method == "POST" else {}
        member.request(method, there, json=filled(body, world), headers=headers)
        after = rows_of(app, tables)
        grown = {table for table in tables if after[table] > before[table]}
        always = LOG | MARKS | {FirstAnswer}
        allowed = {each.__table__ for each in always | {quota.model for quota in view.keeps}}
        assert all(is_part_of(table, allowed) for table in grown), (method, path, grown)
        kept |= {quota.things for quota in view.keeps if quota.model.__table__ in grown}
        with app.app_context():
            reset_database(state)
    assert len(kept) > 4


def rows_of(app, tables):
    with app.app_context():
        return {
            table: db.session.scalar(sa.select(sa.func.count()).select_from(table))
            for table in tables
        }


def test_the_help_lists_all_quotas(app, visitor):
    with app.app_context():
        declared = rooms.quotas()
    page = visitor.get("/help/operating")
    listed = [row.css_first("th").text(strip=True) for row in page.select("#quotas ~ * tbody tr")]
    assert sorted(listed) == sorted(f"{q.things[:1].upper()}{q.things[1:]}" for q in declared)
    assert len(declared) > 10


@pytest.mark.slow
def test_of_too_many_sessions_the_one_unused_longest_ends(app, people):
    id = people.person("kim")
    browser = sessions.Browser(ip=None, user_agent="", idle_hours=12)
    with app.app_context():
        for number in range(SESSIONS.rows + 1):
            with unit_of_work(writes=True):
                secret = sessions.open(id, browser)
                if number < 2:
                    sessions.keep_form(secret, {"name": ["typed"]})
                early = utcnow() - timedelta(minutes=90 - number)
                last = sa.select(sa.func.max(Session.id)).scalar_subquery()
                change = sa.update(Session).where(Session.id == last)
                db.session.execute(change.values(last_used_at=early))
    assert rows(app, Session) == SESSIONS.rows
    assert rows(app, KeptForm) == 1


@pytest.mark.slow
def test_there_is_an_end_to_the_tokens_of_a_person_and_revoked_ones_go(app, people):
    kim = people.client("kim")
    for number in range(TOKENS.rows - 1):
        made = kim.ok("POST", "/user/tokens", {"description": f"t{number}"})
    refused = kim.post("/user/tokens", {"description": "one more"})
    assert error_of(refused) == (409, "ConflictError")
    assert "at most 100 access tokens. Revoke one first." in refused.json["message"]
    for number in range(TOKENS.rows + 5):
        kim.ok("DELETE", f"/user/tokens/{made['id']}")
        made = kim.ok("POST", "/user/tokens", {"description": f"again {number}"})
    assert rows(app, Token, Token.revoked_at.is_not(None)) <= TOKENS.rows + 1


@pytest.mark.slow
def test_the_oldest_first_answers_of_a_token_go(app, people):
    kim = people.client("kim")
    with app.app_context(), unit_of_work(writes=True):
        [token_id] = db.session.scalars(sa.select(Token.id))
        early = utcnow() - timedelta(hours=1)
        db.session.execute(
            sa.insert(FirstAnswer),
            [
                {"token_id": token_id, "key": f"k{n}", "request_digest": b"", "created_at": early}
                for n in range(FIRST_ANSWERS.rows)
            ],
        )
    for number in range(2):
        headers = {"Idempotency-Key": f"new {number}".replace(" ", "-")}
        body = {"description": f"t{number}"}
        assert kim.post("/user/tokens", body, headers=headers).status_code == 201
    assert rows(app, FirstAnswer) == FIRST_ANSWERS.rows
    assert rows(app, FirstAnswer, FirstAnswer.key.like("new-%")) == 2


def test_a_long_first_answer_is_not_stored_and_a_retry_says_so(admin, monkeypatch):
    monkeypatch.setattr(idempotency, "FIRST_ANSWERS", replace(FIRST_ANSWERS, bytes=10))
    body, headers = {"id": "shop", "name": "Shop"}, {"Idempotency-Key": "long"}
    sent = [admin.post("/projects", body, headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in sent] == [201, 409]
    assert "Its response is not stored" in sent[1].json["message"]


def test_answers_to_surveys_and_seen_notices_have_an_end(people):
    kim = people.client("kim")
    for path, body in (("/feedback", {"feedbackId": "f{}"}), ("/splash/s{}", None)):
        sent = [
            kim.post(
                path.format(number),
                body and {name: value.format(number) for name, value in body.items()},
            )
            for number in range(101)
        ]
        assert {answer.status_code for answer in sent[:100]} <= {200, 201}
        assert error_of(sent[100]) == (409, "ConflictError")


def seen(at, sdk=None):
    return Seen(at, at, sdk, token_id=0)


def report(**found):
    with unit_of_work(writes=True):
        usage.write(Report(**found))


def test_unknown_applications_and_processes_are_stored_as_far_as_there_is_room(app, monkeypatch):
    fewer(monkeypatch, usage, "APPLICATIONS", 2)
    fewer(monkeypatch, usage, "INSTANCES", 2)
    with app.app_context():
        for names in ("ab", "bcd"):
            running = {Running("production", name, "1"): seen(utcnow()) for name in names}
            strategies = {name: ["default"] for name in names}
            report(instances=running, strategies=strategies)
        assert list(db.session.scalars(sa.select(Application.name))) == ["a", "b"]
        later = utcnow() + timedelta(minutes=1)
        more = {Running("production", "b", id): seen(later, "sdk:2") for id in ("1", "2")}
        report(instances=more)
        found = db.session.execute(sa.select(Instance.application_id, Instance.id, Instance.sdk))
        assert sorted(map(tuple, found)) == [(1, "1", None), (2, "1", "sdk:2")]


def test_an_application_makes_up_so_many_names_of_variants_a_day(app, admin):
    admin.ok("POST", "/projects/default/features", {"name": "menu"})
    key = Counted(utcnow().replace(minute=0, second=0, microsecond=0), "production", "menu", "web")
    with app.app_context():
        for start in (0, 90, 180):
            names = [f"v{number:03}" for number in range(start, start + 90)]
            report(counts={key: (1, 0)}, variants={(key, name): 1 for name in [*names, "v000"]})
        found = sa.select(VariantUsage.variant, VariantUsage.times).where(
            VariantUsage.span == Span.DAY
        )
        times = dict(db.session.execute(found).all())
    assert len(times) == 100
    assert times["v000"] == 3


@pytest.fixture
def desk(admin, people):
    return new_desk(admin, people)


def test_a_person_has_so_many_open_change_requests_in_a_project(desk, monkeypatch):
    fewer(monkeypatch, editing, "OPEN_REQUESTS", 2)
    number = desk.open(switching("card", on=True))
    desk.draft(switching("tips", on=True))
    desk.to("In review", number + 1)
    place = "/projects/pay/environments/production/change-requests"
    refused = desk.kim.post(place, switching("card", on=True))
    assert error_of(refused) == (409, "ConflictError")
    assert "Cancel or discard some first." in refused.json["message"]
    desk.open(switching("card", on=True), by=desk.finn)
    desk.to("Cancelled", number)
    desk.draft(switching("card", on=True))


def test_a_change_request_has_so_many_bytes(desk, monkeypatch):
    monkeypatch.setattr(outcomes, "OPEN_REQUESTS", replace(outcomes.OPEN_REQUESTS, bytes=2_000))
    place = "/projects/pay/environments/production/change-requests"
    added = {"feature": "card", "action": "addStrategy", "payload": rollout(5)}
    assert desk.kim.post(place, added).status_code == 200
    refused = desk.kim.post(place, [added] * 5)
    assert error_of(refused) == (409, "ConflictError")


def test_after_too_many_steps_a_change_request_can_still_be_closed(desk, monkeypatch):
    fewer(monkeypatch, steps, "STEPS", 3)
    number = desk.open(switching("card", on=True))
    said = [desk.kim.post(f"{LIST}/{number}/comments", {"text": "Well"}) for _ in range(3)]
    assert [answer.status_code for answer in said] == [201, 201, 409]
    assert error_of(desk.ask("Approved", number, by=desk.finn)) == (409, "ConflictError")
    desk.to("Cancelled", number)
