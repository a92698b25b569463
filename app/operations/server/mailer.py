"""Send mail to people in the background, one after the other."""

from functools import partial

from flask import Flask

from app.accounts.mails import service as mails
from app.accounts.mails.service import Task
from app.core import messages
from app.core.config import Settings
from app.core.db import transact
from app.core.logs import LOGGER
from app.core.messages import Mail, Outcome
from app.operations.server.background_thread import BackgroundThread

PAUSE_SECONDS = 1.0
FAULT_SECONDS = 10.0
"""How long to wait after the database failed."""


class Mailer(BackgroundThread):
    """Sends during the block; at its end, waits for the mail that is being sent."""

    def __init__(self, app: Flask, url: str) -> None:
        super().__init__("mail", wait_seconds=messages.SECONDS + PAUSE_SECONDS)
        self._app, self._url = app, url

    def _run(self) -> None:
        work = self._send_all
        self._repeat(work, "sending mail", pause=PAUSE_SECONDS, fault_pause=FAULT_SECONDS)

    def _send_all(self) -> None:
        with self._app.app_context():
            while not self._end.is_set() and transact(mails.is_any_due, writes=False):
                task = transact(mails.take, writes=True)
                if task is None:  # another process was quicker
                    return
                outcome = self._send(task)
                if outcome.error is not None:
                    LOGGER.warning("mail %d was not sent: %s", task.mail_id, outcome.error)
                transact(partial(mails.settle, task, outcome), writes=True)

    def _send(self, task: Task) -> Outcome:
        settings: Settings = self._app.config["SETTINGS"]
        stop = settings.address(mails.stop_link(task, self._app.config["SECRET_KEY"]))
        text = (
            f"{task.subject}.\n\n{settings.address(task.path)}\n\n--\n"
            f"You get mail about this: {task.kind.words.lower()}.\nStop it: {stop}\n"
        )
        mail = Mail(task.to, task.subject, text)
        headers = {"List-Unsubscribe": f"<{stop}>"}
        return messages.send_mail(self._url, mail, sender=settings.address(), headers=headers)
