"""Several processes on one PostgreSQL: what one knows, the others know at their next request."""

import re
from urllib.request import Request, build_opener

import pytest
import sqlalchemy as sa

from app.core.files import revisions
from tests.support.servers import TOKEN
from tests.support.windows import ADMIN, Window, set_password, sign_in, status

pytestmark = pytest.mark.one_in(2)


def test_four_that_start_at_once_on_nothing_are_all_ready(machine, empty_postgresql, servers):
    assert len(servers(4)) == 4
    engine = sa.create_engine(empty_postgresql.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        found = connection.scalars(sa.text("SELECT version_num FROM alembic_version")).all()
        names = connection.scalars(sa.text("SELECT username FROM accounts")).all()
    engine.dispose()
    assert found == [revisions()[-1]]
    assert names == ["bootstrap"]


def test_a_token_and_a_role_end_everywhere_at_once(servers):
    here, there = servers(2)
    made = here.call("POST", f"{ADMIN}/service-account", {"name": "CI", "rootRole": 1}).json
    path = f"{ADMIN}/service-account/{made['id']}"
    token = here.call("POST", f"{path}/token", {"description": "deploy"}).json
    assert (status(here, token["secret"]), status(there, token["secret"])) == (200, 200)
    seen = here.call("GET", path).json["tokens"][0]["seenAt"]
    assert seen is not None  # whichever of them noted it
    assert here.call("PUT", path, {"rootRole": 3}).status == 200
    mode = {"id": "x", "name": "X"}
    refused = there.call("POST", f"{ADMIN}/projects", mode, token=token["secret"])
    assert refused.status == 403
    assert here.call("DELETE", f"{path}/token/{token['id']}").status == 200
    assert (status(there, token["secret"]), status(here, token["secret"])) == (401, 401)


def test_a_repeated_request_gets_its_first_answer_from_another(servers):
    here, there = servers(2)
    body = {"id": "shop", "name": "Shop"}
    answers = []
    for server in (here, there):
        connection = build_opener()
        request = Request(
            f"http://127.0.0.1:{server.port}{ADMIN}/projects",
            data=b'{"id": "shop", "name": "Shop"}',
            headers={
                "Authorization": TOKEN,
                "Content-Type": "application/json",
                "Idempotency-Key": "once",
            },
        )
        with connection.open(request, timeout=30) as answer:
            answers.append((answer.status, answer.read(), answer.headers["Idempotent-Replay"]))
    assert answers[0][:2] == answers[1][:2]
    assert [replay for *_, replay in answers] == [None, "true"]
    assert there.call("POST", f"{ADMIN}/projects", body).status == 409


def test_who_signs_in_at_one_is_signed_in_at_all_and_signs_out_of_all(machine, servers):
    here, there = servers(2)
    set_password(machine, here)
    window = Window()
    assert sign_in(window, here).status == 200
    page = window.get(there, "/account")
    assert (page.status, "ada" in page.text) == (200, True)
    token = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
    assert token is not None
    window.post(there, "/sign-out", csrf_token=token[1])
    assert "/sign-in" in window.get(here, "/account").url


def test_wrong_passwords_are_counted_over_all(machine, servers):
    here, there = servers(2)
    set_password(machine, here)
    answers = [sign_in(Window(), (here, there)[n % 2], "not the right one") for n in range(7)]
    assert [answer.status for answer in answers[:5]] == [400] * 5
    assert 429 in [answer.status for answer in answers[5:]]
    assert sign_in(Window(), there).status == 429


def test_what_was_reviewed_at_one_is_done_at_another(machine, servers):
    here, there = servers(2)
    set_password(machine, here)
    here.call("POST", f"{ADMIN}/projects", {"id": "shop", "name": "Shop"})
    here.call("POST", f"{ADMIN}/projects/shop/features", {"name": "basket"})
    window = Window()
    sign_in(window, here)
    token = window.get(here, "/projects/shop").field("csrf_token")
    review = window.post(
        there, "/projects/shop/selection", csrf_token=token, feature="basket", to="archive"
    )
    assert review.status == 200
    path = review.url.partition(str(there.port))[2]
    sent = {name: review.field(name) for name in ("csrf_token", "plan")}
    assert "1 feature archived" in window.post(here, path, **sent).text
    shown = there.call("GET", f"{ADMIN}/projects/shop/features/basket").json
    assert shown["archivedAt"] is not None
