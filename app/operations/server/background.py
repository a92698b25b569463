"""Background work of each process: chores, webhooks, mail, and listening for changes."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial

from flask import Flask

from app.access import expiring
from app.access.auth import attempts
from app.access.security_log import requests as security_log_requests
from app.access.security_log import service as security_log
from app.accounts.mails import service as mails
from app.catalogue.receipts import watching
from app.catalogue.usage import service as usage
from app.catalogue.visits import requests as visits
from app.core.config import Settings
from app.core.db import transact
from app.delivery.sdk.reports import Reports
from app.delivery.webhooks import outbox
from app.operations.server.chores import Chores, every
from app.operations.server.listening import Listening
from app.operations.server.mailer import Mailer
from app.operations.server.webhooks import Sender
from app.operations.upkeep.checkpoints import write_down_if_due
from app.portal.notices import service as notices
from app.releases.change_requests import applying
from app.releases.plans import running
from app.web.metrics import Metrics

EXPIRY_SECONDS = 3_600.0
PRUNING_SECONDS = 60.0
REPORT_SECONDS = 4.0
"""With the pause between chores, at most 5 seconds of reports are lost by a kill."""
SCHEDULE_SECONDS = 2.0
WATCH_SECONDS = 30.0


@contextmanager
def background(app: Flask) -> Iterator[None]:
    """Run the background work during the block; at its end, write pending data.

    Several machines may share one database: each task is done by one of them.
    """
    settings: Settings = app.config["SETTINGS"]
    metrics: Metrics = app.extensions["flagstaff.metrics"]
    reports: Reports = app.extensions["flagstaff.reports"]
    chores = Chores(
        app,
        own={
            "writing the security log": security_log_requests.write_pending,
            "writing visits": visits.write_pending,
            "writing what SDKs reported": every(REPORT_SECONDS, reports.write),
        },
        shared={
            "writing down the end of the event log": lambda: write_down_if_due(settings.home),
            "applying what is scheduled": every(SCHEDULE_SECONDS, applying.apply_due),
            "starting steps of releases": every(SCHEDULE_SECONDS, running.start_due),
            "checking change requests": every(SCHEDULE_SECONDS, applying.check_outcomes),
            "pruning the security log": every(
                PRUNING_SECONDS, lambda: security_log.prune(days=settings.security_log_days)
            ),
            "writing mail about what expires": every(
                EXPIRY_SECONDS, lambda: transact(expiring.queue_mails, writes=True)
            ),
            "pruning the mail": every(PRUNING_SECONDS, lambda: transact(mails.prune, writes=True)),
            "pruning the sign-ins": every(PRUNING_SECONDS, attempts.prune),
            "notifying people of instances": every(
                WATCH_SECONDS,
                lambda: transact(partial(watching.notify, kept_for=notices.RETENTION), writes=True),
            ),
            "pruning what SDKs reported": every(
                PRUNING_SECONDS, lambda: transact(usage.prune, writes=True)
            ),
            "pruning the messages to webhooks": every(
                PRUNING_SECONDS, lambda: transact(outbox.prune, writes=True)
            ),
        },
        at_end={"writing what SDKs reported": reports.write},
        lock=settings.home / ".chores.lock",
    )
    mailer = Mailer(app, settings.mail_url) if settings.mail_url else nullcontext()
    with chores, Sender(app, metrics.note_webhook), mailer, Listening(app):
        yield
