from dataclasses import replace
from functools import partial

import click

from app.core import migrations
from app.core.config import from_process
from app.core.config.kinds import DATABASE_URL
from app.core.db import db
from app.core.files import revisions
from app.operations.cli.commands import progress_bar
from app.operations.server.instance import migrate, open_instance
from app.operations.upkeep import move as operation


@click.command()
@click.option("--to", "url", required=True, metavar="URL", help="The address of the new database.")
def move(url: str) -> None:
    """Copy this instance into an empty database and compare the two.

    URL is sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE. While this runs, nothing can
    be changed here. If anything differs, the copy is discarded. This database stays as it is. To
    use the new one, set FLAGSTAFF_DATABASE_URL to it and restart the server.
    """
    import app.factory  # noqa: F401, PLC0415 - it knows every table; half a second that others save

    try:
        settings = replace(from_process(), database_url=DATABASE_URL.read(url))
    except ValueError:
        raise click.BadParameter(f"It must be {DATABASE_URL.allowed}.", param_hint="--to") from None
    with open_instance() as here:
        if settings.database_url == here.database_url:
            raise click.BadParameter("That is this instance's own database.", param_hint="--to")
        source = db.engine
        with open_instance(settings):
            moved = operation.move(source, db.engine, partial(progress_bar, terminal_only=False))
    total = sum(table.rows for table in moved.values())
    click.echo(f"Moved {total:,} rows in {len(moved)} tables. Counts and digests match.")


@click.group("db")
def db_group() -> None:
    """Migrate, check or move the database."""


@db_group.command()
def upgrade() -> None:
    """Migrate the database to this version's schema."""
    with open_instance() as settings:
        before = migrations.current(db.engine)
        migrate(settings)
        click.echo(f"{before or 'empty'} -> {migrations.current(db.engine)}")


@db_group.command()
def current() -> None:
    """Show the database's schema revision and whether this version needs another."""
    with open_instance():
        found, needed = migrations.current(db.engine), revisions()[-1]
        verdict = "up to date" if found == needed else f"needs {needed}; run: flagstaff db upgrade"
        click.echo(f"{found or 'empty'} ({verdict})")


db_group.add_command(move)
