import os
from functools import partial

import click

from app.core.config import from_environment
from app.core.config.setting import WrongSetting
from app.core.db import db
from app.operations.cli.commands import progress_bar
from app.operations.server.instance import open_instance
from app.operations.upkeep import move as operation


@click.command()
@click.option("--to", "url", required=True, metavar="URL", help="The address of the new database.")
def move(url: str) -> None:
    """Copy this instance into an empty database and compare the two.

    URL is sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE. While this runs, nothing can
    be changed here. If anything differs, the copy is discarded. This database stays as it is. To
    use the new one, set FLAGSTAFF_DATABASE_URL to it and restart the server.
    """
    try:
        settings = from_environment(os.environ | {"FLAGSTAFF_DATABASE_URL": url})
    except WrongSetting as error:
        raise click.BadParameter(str(error), param_hint="--to") from None
    with open_instance() as here:
        if settings.database_url == here.database_url:
            raise click.BadParameter("That is this instance's own database.", param_hint="--to")
        source = db.engine
        with open_instance(settings):
            moved = operation.move(source, db.engine, partial(progress_bar, terminal_only=False))
    total = sum(table.rows for table in moved.values())
    click.echo(f"Moved {total:,} rows in {len(moved)} tables. Counts and digests match.")
