"""A program with a real SDK follows a release: people with the feature keep it."""

import json
import subprocess
import threading
from contextlib import suppress
from itertools import pairwise

import pytest
import sqlalchemy as sa

from app.catalogue.releases.models import Release
from app.core.clock import utcnow
from app.core.db import db, unit_of_work
from tests.releases.plans.conftest import step
from tests.support.instances import open_instance
from tests.support.programs import SDKS
from tests.support.servers import until

pytestmark = pytest.mark.one_in(2)

FEATURES = "/api/admin/projects/default/features"
PLANS = f"{FEATURES}/cart/environments/production/release-plans"
PEOPLE = 1_000
SHARES = (5, 50, 100)

FOLLOW = """
// Asks for the feature "cart" for many people, each second and whenever the SDK has something new,
// and says what it found: the share of users in the strategy, how many people have the feature, and
// how many of those who had it before lost it.

import { Unleash } from "unleash-client";

const [url, token, number] = process.argv.slice(1);
const people = Array.from({ length: Number(number) }, (_, place) => `person-${place}`);
const unleash = new Unleash({
  url: `${url}/api/`,
  appName: "node-app",
  customHeaders: { Authorization: token },
  refreshInterval: 1000,
  disableMetrics: true,
  storageProvider: { set: async () => {}, get: async () => undefined },
});

let before = new Set();
function look() {
  const cart = unleash.getFeatureToggleDefinition("cart");
  const share = cart.enabled ? Number(cart.strategies[0].parameters.rollout) : 0;
  const having = new Set(people.filter((userId) => unleash.isEnabled("cart", { userId })));
  const lost = [...before].filter((userId) => !having.has(userId)).length;
  console.log(JSON.stringify({ share, having: having.size, lost }));
  before = having;
}
unleash.on("synchronized", () => setInterval(look, 1000));
unleash.on("changed", look);
"""


class Follower:
    """The program while it runs."""

    def __init__(self, sdks, server, people):
        node, _ = sdks["node"]
        body = {"tokenName": "web", "type": "client", "environment": "production"}
        token = server.call("POST", "/api/admin/api-tokens", body).json["secret"]
        words = ["--input-type=module", "--eval", FOLLOW, server.address, token, str(people)]
        self.said = []
        self.people = people
        self._process = subprocess.Popen(
            [node, *words], cwd=SDKS, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.communicate()

    def _listen(self):
        with suppress(ValueError):  # the pipe is closed at the end
            for line in self._process.stdout:
                self.said.append(json.loads(line))

    def wait_for(self, share, seconds=60):
        """Wait until it saw that this is the share of users."""

        def is_seen():
            assert self._process.poll() is None, self.said
            return self.said[-1:] and self.said[-1]["share"] == share

        until(is_seen, seconds)

    def check(self, *shares):
        """Whether it saw all of these, and people only ever gained the feature."""
        found = {line["share"]: line["having"] for line in self.said}
        assert list(found) == [0, *shares]
        assert {line["lost"] for line in self.said} == {0}
        assert all(one < other for one, other in pairwise(found.values())), found
        assert (found[0], found[100]) == (0, self.people)


def new_release(server, *shares):
    """The id of a release of a new feature, which has not started."""
    server.call("POST", FEATURES, {"name": "cart"})
    steps = [step(share) for share in shares]
    return server.call("POST", PLANS, {"milestones": steps}).json["id"]


def test_no_one_with_the_feature_loses_it_on_the_way(machine, start, sdks):
    server = start()
    id = new_release(server, *SHARES)

    def let_its_time_come():
        with unit_of_work(writes=True):
            now = {"next_at": utcnow(), "is_automatic": True}
            db.session.execute(sa.update(Release).where(Release.id == id).values(now))

    with (
        Follower(sdks, server, PEOPLE) as follower,
        open_instance(machine.environ()) as app,
        app.app_context(),
    ):
        for before, share in pairwise([0, *SHARES]):
            follower.wait_for(before)
            let_its_time_come()
            follower.wait_for(share)
    follower.check(*SHARES)
