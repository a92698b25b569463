"""Many clients switch the same features at the same moment."""

import random
from functools import partial

import pytest

from tests.support.races import CROWD, at_once, make_features, statuses

BULK = "/projects/default/bulk_features/environments/production"
NAMES = [f"f{number:02}" for number in range(20)]
TYPES = {
    "feature-environment-enabled": True,
    "feature-environment-disabled": False,
}


@pytest.mark.slow
def test_fifty_clients_switch_twenty_features_and_the_log_tells_how_they_are(admin):
    make_features(admin, *NAMES)
    chance = random.Random(50)
    answers = at_once(
        partial(
            admin.post,
            f"{BULK}/{chance.choice(['on', 'off'])}",
            {"features": chance.sample(NAMES, 20)},
        )
        for _ in range(CROWD)
    )
    assert statuses(answers) == {200: CROWD}
    told = dict.fromkeys(NAMES, False)
    events = admin.ok("GET", "/events?limit=1000")["events"]
    for event in reversed(events):
        if event["type"] in TYPES:
            is_on = TYPES[event["type"]]
            assert told[event["featureName"]] is not is_on, "an event without a change"
            told[event["featureName"]] = is_on
    rows = admin.ok("GET", "/projects/default/features?limit=20")["features"]
    assert told == {row["name"]: row["environments"][1]["enabled"] for row in rows}
