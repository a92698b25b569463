"""Many tokens, and many uses of one."""

import secrets
import string
import time

import sqlalchemy as sa

from app.accounts.tokens.secrets import TokenKind, generate, may_be_one
from app.core.db import db
from tests.support.clients import ApiClient
from tests.support.statements import statements

MADE, MADE_UP = 10_000, 1_000_000
USES = 1_000
LETTERS = string.ascii_letters + string.digits


def test_no_token_is_made_twice_and_no_made_up_one_passes_for_one():
    kinds = (TokenKind.PERSONAL, TokenKind.SERVICE_ACCOUNT)
    made = {generate(kind) for kind in kinds for _ in range(MADE // 2)}
    assert len(made) == MADE
    assert all(may_be_one(token) for token in made)
    passed = sum(
        may_be_one("fst_pat_" + "".join(secrets.choice(LETTERS) for _ in range(49)))
        for _ in range(MADE_UP)
    )
    print(f"made up, of the right form, and passed: {passed} of {MADE_UP:,}")
    assert passed == 0


def test_a_token_in_constant_use_is_noted_once_and_costs_little(app, people):
    client = ApiClient(app, people.token(people.person("ann")))

    def rate() -> float:
        began = time.perf_counter()
        for _ in range(USES):
            assert client.get("/user").status_code == 200
        return USES / (time.perf_counter() - began)

    with statements(app) as seen:
        noting = rate()
    noted = [words for words in seen if words.startswith("UPDATE tokens")]
    with app.app_context(), db.engine.begin() as connection:  # far in the future: never noted
        connection.execute(sa.text("UPDATE tokens SET last_seen_at = '2999-01-01'"))
    without = rate()
    print(f"noted {len(noted)} of {USES} uses; {noting:.0f}/s, without noting {without:.0f}/s")
    assert len(noted) <= 1 + USES / noting / 60
