"""What is delivered is what a fresh look at the database gives, whatever was changed before."""

from collections.abc import Callable

import pytest

from app.core.db import transact
from app.delivery.sdk import state
from app.delivery.sdk.payloads import Answers, FeatureQuery
from tests.support.switching import ENVIRONMENTS, check_promises


@pytest.mark.one_in(2)
@pytest.mark.slow
def test_whatever_changes_what_is_delivered_is_neither_old_nor_called_the_same(
    app, admin, new_sdk: Callable
):
    readers = {name: new_sdk(environment=name) for name in ENVIRONMENTS}
    by_etag: dict[str, bytes] = {}
    by_content: dict[bytes, str] = {}

    def compare() -> None:
        for environment, sdk in readers.items():
            with app.app_context():
                fresh = transact(lambda name=environment: state.read(name), writes=False)
            answers = Answers(fresh, lambda _: set())
            for spec, is_inlined in (("5.2.0", False), ("", True)):
                answer = sdk.get(Unleash_Client_Spec=spec)
                assert answer.data == answers.all(FeatureQuery(None, is_inlined)).body
                etag = answer.headers["ETag"]
                assert by_etag.setdefault(etag, answer.data) == answer.data
                assert by_content.setdefault(answer.data, etag) == etag

    check_promises(admin, steps=20, examples=8, also=compare)
