"""The command that runs the server."""

import sys

import click

from app.operations.server import serve as server
from app.operations.server.application import application


@click.command()
def serve() -> None:
    """Migrate the database and run the server until SIGTERM or Ctrl-C.

    FLAGSTAFF_PROCESSES sets how many processes answer requests. SIGHUP replaces them one by one.
    """
    sys.exit(server.serve(application(), announce=click.echo))
