import gc
import json
from typing import ClassVar
from uuid import uuid4

import click
import waitress
from flask import Flask
from sqlalchemy.exc import SQLAlchemyError
from waitress.server import BaseWSGIServer
from waitress.task import ErrorTask

from app.auth import first_admin
from app.cli import events
from app.cli.backup import last_backup
from app.cli.instance import application, migrate
from app.cli.runner import IDLE_SECONDS, Channel, Runner
from app.cli.threads import Dispatcher
from app.config import Settings
from app.core.db import db, refresh_statistics, unit_of_work
from app.core.http import REFUSALS, headers
from app.core.logs import ACCESS, LOGGER
from app.core.metrics import Metrics
from app.service_accounts import service as service_accounts

MAX_CONNECTIONS = 4_000
OTHER_FILES = 128
"""What is open beside connections: the database, the log, uploads that are large."""
MAX_HEADER_BYTES = 16_384


@click.command()
def serve() -> None:
    """Migrate the database, then serve until told to stop."""
    app = application()
    settings: Settings = app.config["SETTINGS"]
    with app.app_context():
        migrate(settings)
        refresh_statistics(db.engine)
        _bootstrap(settings)
        link = _first_admin_link(settings)
    _ServerRefusal.headers = headers(settings)
    Channel.error_task_class = _ServerRefusal
    BaseWSGIServer.channel_class = Channel
    dispatcher = Dispatcher(settings.threads)
    _measure(app, settings, dispatcher)
    try:
        server = waitress.create_server(app, _dispatcher=dispatcher, **_options(app, settings))
    except (OSError, ValueError) as error:  # ValueError: the host name is unknown
        why = getattr(error, "strerror", None) or str(error)
        raise click.ClickException(f"Can't listen on {_address(settings)}: {why}") from None
    click.echo(f"Flagstaff listens on {_address(settings)}")
    if link is not None:
        click.echo(f"Nobody has an account yet. Make the first Admin, within 24 hours: {link}")
    _write_down_head(app, settings)
    gc.collect()
    gc.freeze()  # what is there now stays; looking through it again would slow large requests
    Runner(server, lambda: _write_down_head(app, settings)).run()


def _measure(app: Flask, settings: Settings, dispatcher: Dispatcher) -> None:
    """Let the metrics tell what the server alone knows."""
    metrics: Metrics = app.extensions["flagstaff.metrics"]
    metrics.watch(
        "flagstaff_requests_waiting",
        "Requests that wait for a thread.",
        lambda: len(dispatcher.queue),
    )
    metrics.watch(
        "flagstaff_threads_busy",
        "Threads at work on a request, this one included.",
        lambda: dispatcher.active_count,
    )
    metrics.watch(
        "flagstaff_last_backup_timestamp_seconds",
        "When the last backup was made; 0 if none is known.",
        lambda: made.timestamp() if (made := last_backup(settings.home)) else 0,
    )


class _ServerRefusal(ErrorTask):  # type: ignore[misc] # untyped
    """What waitress refuses before the application sees it, in the form of all other refusals."""

    headers: ClassVar[dict[str, str]]

    def execute(self) -> None:
        error, id = self.request.error, str(uuid4())
        name, _ = REFUSALS.get(error.code, (f"{error.reason.replace(' ', '')}Error", ""))
        # Only the client is told what was wrong: it may quote a header, and so a token.
        facts = {"id": id, "status": error.code, "refusal": error.reason}
        ACCESS.info(
            "%s refused unread: %s %s", id, error.code, error.reason, extra={"facts": facts}
        )
        message = f"{error.reason}: {error.body}."
        body = json.dumps({"id": id, "name": name, "message": message}).encode()
        own = {"Content-Type": "application/json", "Cache-Control": "no-store", "X-Request-Id": id}
        self.status = f"{error.code} {error.reason}"
        self.response_headers.extend((self.headers | own).items())
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


def _write_down_head(app: Flask, settings: Settings) -> None:
    """Failing to do so is no reason to stop, and told in the log."""
    try:
        with app.app_context(), unit_of_work(writes=False):
            events.write_down(settings.home)
    except (OSError, SQLAlchemyError) as error:
        LOGGER.warning("where the event log ends was not written down: %s", error)


def _bootstrap(settings: Settings) -> None:
    if settings.bootstrap_token is None:
        return
    with unit_of_work(writes=True):
        made = service_accounts.bootstrap(settings.bootstrap_token)
    if made:
        LOGGER.info("the service account 'bootstrap' (Admin) holds the bootstrap token")


def _first_admin_link(settings: Settings) -> str | None:
    with unit_of_work(writes=True):
        path = first_admin.make_link()
    return settings.address(path) if path else None


def _options(app: Flask, settings: Settings) -> dict[str, object]:
    options: dict[str, object] = {
        "host": settings.host,
        "port": settings.port,
        "threads": settings.threads,
        "url_prefix": settings.url_prefix,
        "ident": None,
        "asyncore_use_poll": True,  # select() ends at 1,024 file descriptors
        "connection_limit": _most_connections(),
        "channel_timeout": IDLE_SECONDS,
        "cleanup_interval": IDLE_SECONDS // 4,
        "max_request_header_size": MAX_HEADER_BYTES,
        # The application refuses what is too large, in its own words and after asking who calls;
        # this bound is for bodies that would fill the disk before it is asked.
        "max_request_body_size": 2 * app.config["MAX_CONTENT_LENGTH"],
        "clear_untrusted_proxy_headers": True,
    }
    if settings.trusted_proxy is not None:
        options |= {
            "trusted_proxy": settings.trusted_proxy,
            "trusted_proxy_count": 1,
            "trusted_proxy_headers": {
                "x-forwarded-for",
                "x-forwarded-host",
                "x-forwarded-proto",
            },
        }
    return options


def _most_connections() -> int:
    """As many as the system lets one process have; more than it does at first, if it may."""
    wanted = MAX_CONNECTIONS + OTHER_FILES
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return MAX_CONNECTIONS
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY != allowed < wanted:
        allowed = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most))
    return MAX_CONNECTIONS if allowed == resource.RLIM_INFINITY else allowed - OTHER_FILES


def _address(settings: Settings) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}{settings.url_prefix}"
