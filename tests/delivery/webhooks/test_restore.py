"""Webhooks after a backup was restored: receivers can tell what is sent again from what is new."""

import pytest

from tests.support.instances import open_instance
from tests.support.machines import Machine
from tests.support.webhooks import deliver

pytestmark = [pytest.mark.slow, pytest.mark.one_in(2)]


def test_after_a_restore_the_same_event_has_the_same_id_and_another_one_another(
    machine, receiver, tmp_path
):
    machine.settings["WEBHOOK_HOSTS"] = receiver.host
    machine.ok("webhook", "create", "Chat", receiver.url, "--type", "feature-created")
    machine.ok("feature", "create", "default", "before")
    machine.ok("backup", str(tmp_path / "saved.zip"))
    machine.ok("feature", "create", "default", "lost")
    send(machine)
    restored = Machine(tmp_path / "restored")
    restored.settings["WEBHOOK_HOSTS"] = receiver.host
    restored.ok("restore", str(tmp_path / "saved.zip"), "--yes")
    restored.ok("feature", "create", "default", "after")
    send(restored)
    ids = [(message.subject, message.id) for message in receiver.accepted]
    assert [subject for subject, _ in ids] == ["before", "lost", "before", "after"]
    assert ids[0] == ids[2]
    assert len({id for _, id in ids}) == 3


def send(machine):
    with open_instance(machine.environ()) as app:
        deliver(app)
