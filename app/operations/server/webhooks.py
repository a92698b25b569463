"""Send messages to webhooks in the background."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial

from flask import Flask

from app.core.config import Settings
from app.core.db import transact
from app.core.logs import LOGGER, reason
from app.delivery.webhooks import outbox
from app.delivery.webhooks.outbox import Task
from app.delivery.webhooks.sending import SECONDS, DeliveryOutcome
from app.operations.server.background_thread import BackgroundThread

PAUSE_SECONDS = 1.0
"""How often to check for messages to send."""
FAULT_SECONDS = 10.0
"""How long to wait after an error, unless messages are being sent, whose leases would end."""
AT_ONCE = 4
"""Most receivers that a process sends to at a time."""

Sending = dict[Future[DeliveryOutcome], Task]


class Sender(BackgroundThread):
    """Sends during the block; at its end, waits for messages that are being sent.

    One thread uses the database; a few others wait for receivers, without a transaction.
    """

    def __init__(self, app: Flask, note: Callable[[str], object]) -> None:
        """``note`` counts each attempt as ``delivered`` or ``failed``."""
        super().__init__("webhooks", wait_seconds=SECONDS + PAUSE_SECONDS)
        settings: Settings = app.config["SETTINGS"]
        agent = f"Flagstaff/{app.config['API_VERSION']}"
        self._send = partial(
            outbox.send, key=app.config["SECRET_KEY"], settings=settings, agent=agent
        )
        self._app, self._note = app, note
        self._not_before = 0.0

    def _run(self) -> None:
        with ThreadPoolExecutor(AT_ONCE, "webhook") as senders:
            sending: Sending = {}
            while sending or not self._end.is_set():
                try:
                    self._send_due(senders, sending)
                    self._settle(senders, sending)
                except Exception as error:  # noqa: BLE001 - every error leads to a retry
                    LOGGER.warning("sending webhooks failed: %s", reason(error))
                    if self._end.wait(PAUSE_SECONDS if sending else FAULT_SECONDS):
                        return  # another process retries
                if not sending:
                    self._end.wait(PAUSE_SECONDS)

    def _send_due(self, senders: ThreadPoolExecutor, sending: Sending) -> None:
        """Once a second, renew the leases on busy webhooks, and send due messages of others."""
        if time.monotonic() < self._not_before:
            return
        self._not_before = time.monotonic() + PAUSE_SECONDS
        with self._app.app_context():
            if sending:
                transact(partial(outbox.renew, list(sending.values())), writes=True)
            if self._end.is_set():
                return
            busy = {task.webhook_id for task in sending.values()}
            for webhook_id in transact(outbox.due, writes=False):
                if len(sending) < AT_ONCE and webhook_id not in busy:
                    task = transact(partial(outbox.take, webhook_id), writes=True)
                    self._submit(senders, sending, task)

    def _settle(self, senders: ThreadPoolExecutor, sending: Sending) -> None:
        """Record what is sent within a second, and send the next message of those webhooks."""
        if not sending:
            return
        done, _ = wait(sending, PAUSE_SECONDS, "FIRST_COMPLETED")
        more = not self._end.is_set()
        for future in done:
            task, outcome = sending[future], future.result()
            settle = partial(outbox.settle, task, outcome, more=more)
            with self._app.app_context():
                following = transact(settle, writes=True)
            del sending[future]  # only once it is recorded, so that its lease is renewed until then
            self._note("failed" if outcome.error else "delivered")
            self._submit(senders, sending, following)

    def _submit(self, senders: ThreadPoolExecutor, sending: Sending, task: Task | None) -> None:
        if task is not None:
            sending[senders.submit(self._send, task)] = task
