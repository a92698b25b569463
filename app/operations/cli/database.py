import click

from app.core import migrations
from app.core.db import db
from app.core.files import revisions
from app.operations.cli.move import move
from app.operations.server.instance import migrate, open_instance


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
