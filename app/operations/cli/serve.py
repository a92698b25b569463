import gc
import sys

import click


@click.command()
def serve() -> None:
    """Migrate the database and run the server until SIGTERM or Ctrl-C.

    FLAGSTAFF_PROCESSES sets how many processes answer requests. SIGHUP replaces them one by one.
    """
    # Importing the pages and the API makes many objects and no garbage, so collecting that would
    # only take time.
    gc.disable()
    from app.operations.server import serve as server  # noqa: PLC0415 - half a second that other commands save
    from app.operations.server.application import application  # noqa: PLC0415 - the same

    gc.enable()
    sys.exit(server.serve(application(), announce=click.echo))
