"""A script that seeds Unleash seeds Flagstaff, and applications get what it meant."""

from http import HTTPStatus
from itertools import product

import pytest

from tests.support.programs import run
from tests.unleash import script

pytestmark = pytest.mark.slow


def test_what_a_script_for_unleash_makes_is_read_by_an_sdk(start, sdks):
    server = start()

    def call(method, path, body):
        answer = server.call(method, f"/api/admin{path}", body, extended=False)
        assert answer.status < HTTPStatus.BAD_REQUEST, (method, path, answer.data)
        return answer.json if answer.data else None

    token = script.seed(call)
    people = list(product(("7", "8"), ("NO", "ES"), ("gold", "free")))
    features = {script.name_of(number): number for number in range(script.FEATURES)}
    questions = [
        {
            "feature": feature,
            "context": {"userId": user, "properties": {"country": country, "plan": plan}},
            "variant": False,
        }
        for user, country, plan in people
        for feature in (*features, script.COPY, script.ARCHIVED)
    ]
    expected = [
        answer
        for person in people
        for answer in (*(script.is_on(n, *person) for n in features.values()), True, False)
    ]
    job = {"url": server.address, "token": token, "questions": questions}
    assert run(sdks, "node", "answers", job) == expected
