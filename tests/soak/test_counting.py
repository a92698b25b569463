"""Two servers on one PostgreSQL count what the same applications report, for ten minutes."""

import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import sqlalchemy as sa

from app.core.clock import utcnow
from tests.support.servers import Server

FEATURES = "/api/admin/projects/default/features"
SECONDS, PAUSE_SECONDS, CLIENTS = 600, 0.04, 8
NAMES = [f"feature.number-{number}" for number in range(60)]
APPLICATIONS = [f"application-{number}" for number in range(12)]
VARIANTS = ["blue", "red", "green"]
REPORTED = 20
"""Features in one report."""

COUNTS = sa.text(
    "SELECT f.name, a.name, sum(u.yes), sum(u.no) FROM feature_usage u"
    " JOIN features f ON f.id = u.feature_id JOIN applications a ON a.id = u.application_id"
    " WHERE u.span = :span GROUP BY f.name, a.name"
)
GIVEN = sa.text(
    "SELECT f.name, a.name, v.variant, sum(v.times) FROM variant_usage v"
    " JOIN features f ON f.id = v.feature_id JOIN applications a ON a.id = v.application_id"
    " WHERE v.span = :span GROUP BY f.name, a.name, v.variant"
)
USES = sa.text("SELECT count(*) FROM sdk_token_uses")
DEADLOCKS = sa.text("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")


class Reporter:
    """Reports at random, and adds up what a server has taken."""

    def __init__(self, server: Server, tokens: list[str], seed: int) -> None:
        self.server, self.tokens = server, tokens
        self.chance = random.Random(seed)
        self.statuses: Counter[int] = Counter()
        self.counts: Counter[tuple[str, ...]] = Counter()

    def work(self) -> None:
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            self._report()
            time.sleep(PAUSE_SECONDS)

    def _report(self) -> None:
        application, sent = self.chance.choice(APPLICATIONS), Counter[tuple[str, ...]]()
        toggles = {}
        for name in self.chance.sample(NAMES, REPORTED):  # in any order
            yes, no = self.chance.randint(1, 9), self.chance.randint(0, 9)
            variant = self.chance.choice(VARIANTS)
            toggles[name] = {"yes": yes, "no": no, "variants": {variant: yes}}
            sent.update({(name, application, "yes"): yes, (name, application, "no"): no})
            sent[name, application, "variant", variant] += yes
        body = {
            "appName": application,
            "instanceId": f"instance-{self.chance.randrange(30)}",
            "bucket": {"stop": utcnow().isoformat(), "toggles": toggles},
        }
        token = self.chance.choice(self.tokens)
        answer = self.server.call("POST", "/api/client/metrics", body, token=token)
        self.statuses[answer.status] += 1
        if answer.status == 202:
            self.counts += sent


def stored(engine: sa.Engine, span: str) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    with engine.connect() as connection:
        for name, application, yes, no in connection.execute(COUNTS, {"span": span}):
            found[name, application, "yes"], found[name, application, "no"] = int(yes), int(no)
        for name, application, variant, times in connection.execute(GIVEN, {"span": span}):
            found[name, application, "variant", variant] = int(times)
    return +found


def test_sums_are_exact_and_no_server_waits_in_a_circle(
    empty_postgresql: str, servers: Callable[[int], list[Server]]
) -> None:
    pair = servers(2)
    for name in NAMES:
        assert pair[0].call("POST", FEATURES, {"name": name}).status == 201
    tokens = [
        pair[0].call("POST", "/api/admin/api-tokens", body).json["secret"]
        for body in (
            {"tokenName": f"token {number}", "type": "client", "environment": "production"}
            for number in range(3)
        )
    ]
    reporters = [Reporter(pair[seed % 2], tokens, seed) for seed in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as threads:
        list(threads.map(Reporter.work, reporters))
    assert [server.end() for server in pair] == [0, 0]
    engine = sa.create_engine(empty_postgresql.replace("postgresql://", "postgresql+psycopg://"))
    statuses: Counter[int] = sum((one.statuses for one in reporters), Counter())
    counts: Counter[tuple[str, ...]] = sum((one.counts for one in reporters), Counter())
    with engine.connect() as connection:
        deadlocks, uses = connection.scalar(DEADLOCKS), connection.scalar(USES)
    by_hour, by_day = stored(engine, "hour"), stored(engine, "day")
    engine.dispose()
    print(
        f"\n{dict(statuses)} reports with {counts.total():,} counts in {len(counts):,} sums;"
        f" {deadlocks} deadlocks"
    )
    assert set(statuses) == {202}
    assert by_hour == counts
    assert by_day == counts
    assert uses == len(tokens) * len(APPLICATIONS)
    assert deadlocks == 0
    log = pair[0].log.read_text()  # of both
    assert "Traceback" not in log
    assert "writing what SDKs reported failed" not in log
