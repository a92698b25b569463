"""People who must not be deleted, while several try at once and they are active themselves."""

import random
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from itertools import count

import sqlalchemy as sa

from app.accounts.tokens.secrets import TokenKind, generate
from app.core.secrets import digest
from tests.soak.attempts import Attacker, person
from tests.support.races import at_once
from tests.support.servers import Answer, Server

ADMIN = "/api/admin"
PASSWORD = "four words that no one guesses"
TRIALS = 100
ROUNDS = 50
LONG_AGO = datetime.fromisoformat("2020-01-01")
USABLE_ADMINS = (
    "SELECT id FROM accounts WHERE kind = 'person' AND role = 1 AND deleted_at IS NULL "
    "AND password_hash IS NOT NULL"
)


def test_admins_who_remove_each_other_leave_one_who_can_sign_in(around):
    servers, engine = around
    chance, numbers, seen = random.Random(5), count(), Counter[int]()

    def remove(server: Server, id: int, everyone: list[int]) -> Callable[[], Answer]:
        path = f"{ADMIN}/user-admin/{id}"
        return chance.choice(
            [
                lambda: server.call("PUT", path, {"rootRole": 3}),
                lambda: server.call("DELETE", path),
                lambda: server.call(
                    "POST", f"{ADMIN}/user-admin/inactive/delete", {"ids": everyone}
                ),
            ]
        )

    fewest = 99
    for _ in range(ROUNDS):
        for _ in range(3):
            person(servers[0], f"admin-{next(numbers)}", PASSWORD, role=1)
        with engine.begin() as connection:
            set_long_ago(connection)
            ids = list(connection.scalars(sa.text(USABLE_ADMINS)))
        answers = at_once(
            remove(servers[turn % len(servers)], id, ids) for turn, id in enumerate(ids * 2)
        )
        seen.update(answer.status for answer in answers)
        with engine.connect() as connection:
            fewest = min(fewest, len(connection.scalars(sa.text(USABLE_ADMINS)).all()))
        assert fewest >= 1
    print("fewest Admins left:", fewest, "answers:", dict(seen))
    assert set(seen) <= {200, 404, 409}


def set_long_ago(connection: sa.Connection) -> None:
    """Record that no one was active for years."""
    connection.execute(
        sa.text("UPDATE accounts SET last_sign_in_at = :at, created_at = :at"),
        {"at": LONG_AGO},
    )


def test_a_user_who_comes_back_during_their_deletion_is_signed_in_or_deleted(around):
    servers, engine = around
    outcomes: Counter[str] = Counter()
    chance = random.Random(6)
    for trial in range(TRIALS):
        name = f"p{trial}"
        id = person(servers[0], name, PASSWORD)
        with engine.begin() as connection:
            set_long_ago(connection)

        def come_back(name: str = name, trial: int = trial) -> int:
            with Attacker(servers[0]) as visitor:
                return visitor.attempt(name, PASSWORD, f"10.0.{trial}.1")[0]

        def delete(id: int = id) -> int:
            time.sleep(chance.uniform(0.02, 0.2))
            path = f"{ADMIN}/user-admin/inactive/delete"
            return servers[-1].call("POST", path, {"ids": [id]}).status

        came, deleted = at_once([come_back, delete])
        is_there = servers[0].call("GET", f"{ADMIN}/user-admin/{id}").status == 200
        assert deleted == 200
        outcomes[f"sign-in {came}, {'kept' if is_there else 'deleted'}"] += 1
    print(dict(outcomes))
    assert set(outcomes) <= {"sign-in 303, kept", "sign-in 400, deleted"}


def test_whose_token_was_used_before_is_not_deleted_and_after_it_is_worth_nothing(around):
    servers, engine = around
    outcomes: Counter[str] = Counter()
    chance = random.Random(8)
    for trial in range(TRIALS):
        made = servers[0].call(
            "POST", f"{ADMIN}/user-admin", {"username": f"t{trial}", "rootRole": 3}
        )
        id, secret = made.json["id"], generate(TokenKind.PERSONAL)
        with engine.begin() as connection:
            set_long_ago(connection)
            insert_token(connection, id, secret)
        used_at = deleted_at = 0.0

        def use(secret: str = secret) -> int:
            nonlocal used_at
            status = servers[0].call("GET", f"{ADMIN}/user", token=secret).status
            used_at = time.monotonic()
            return status

        def delete(id: int = id) -> int:
            nonlocal deleted_at
            time.sleep(chance.uniform(0, 0.02))
            deleted_at = time.monotonic()
            path = f"{ADMIN}/user-admin/inactive/delete"
            return servers[-1].call("POST", path, {"ids": [id]}).status

        used, deleted = at_once([use, delete])
        is_there = servers[0].call("GET", f"{ADMIN}/user-admin/{id}").status == 200
        assert deleted == 200
        before = " before" if used_at < deleted_at else ""
        outcomes[f"use {used}{before}, {'kept' if is_there else 'deleted'}"] += 1
        assert is_there or servers[0].call("GET", f"{ADMIN}/user", token=secret).status == 401
    print(dict(outcomes))
    assert "use 200 before, deleted" not in outcomes
    assert not any(outcome.startswith("use 401") and "kept" in outcome for outcome in outcomes)


def insert_token(connection: sa.Connection, account_id: int, secret: str) -> None:
    connection.execute(
        sa.text(
            "INSERT INTO tokens (account_id, digest, hint, description, created_at) "
            "VALUES (:account_id, :digest, 'hint', 'old', :at)"
        ),
        {
            "account_id": account_id,
            "digest": digest(secret),
            "at": LONG_AGO,
        },
    )
