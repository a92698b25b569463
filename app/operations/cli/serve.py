"""The command that runs the server."""

import gc
import sys

import click


@click.command()
def serve() -> None:
    """Migrate the database and run the server until SIGTERM or Ctrl-C.

    FLAGSTAFF_PROCESSES sets how many processes answer requests. SIGHUP replaces them one by one.
    """
    # Importing makes many objects and no garbage: looking through them would only take time.
    gc.disable()
    from app.operations.server import serve as server  # noqa: PLC0415 - after the line above
    from app.operations.server.application import application  # noqa: PLC0415 - as above

    gc.freeze()
    gc.enable()
    sys.exit(server.serve(application(), announce=click.echo))
