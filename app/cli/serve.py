import signal
import sys

import click
import waitress
from flask import Flask

from app.cli.instance import application
from app.config import Settings
from app.core import migrations
from app.core.db import db, unit_of_work
from app.core.logs import LOGGER
from app.service_accounts import service as service_accounts

MAX_CONNECTIONS = 1_000
MAX_HEADER_BYTES = 16_384


@click.command()
def serve() -> None:
    """Migrate the database, then serve until told to stop."""
    app = application()
    settings: Settings = app.config["SETTINGS"]
    with app.app_context():
        migrations.upgrade(db.engine)
        _bootstrap(settings)
    server = waitress.create_server(app, **_options(app, settings))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    click.echo(f"Flagstaff listens on {_address(settings)}")
    server.run()


def _bootstrap(settings: Settings) -> None:
    if settings.bootstrap_token is None:
        return
    with unit_of_work(writes=True):
        made = service_accounts.bootstrap(settings.bootstrap_token)
    if made:
        LOGGER.info("the service account 'bootstrap' (Admin) holds the bootstrap token")


def _options(app: Flask, settings: Settings) -> dict[str, object]:
    options: dict[str, object] = {
        "host": settings.host,
        "port": settings.port,
        "threads": settings.threads,
        "url_prefix": settings.url_prefix,
        "ident": None,
        "asyncore_use_poll": True,  # select() ends at 1,024 file descriptors
        "connection_limit": MAX_CONNECTIONS,
        "max_request_header_size": MAX_HEADER_BYTES,
        # The application refuses what is too large, in its own words and after asking who calls;
        # this bound is for bodies that would fill the disk before it is asked.
        "max_request_body_size": 4 * app.config["MAX_CONTENT_LENGTH"],
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


def _address(settings: Settings) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}{settings.url_prefix}"
