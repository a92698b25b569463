import click

from app.cli.instance import migrate, opened
from app.cli.move import move
from app.core import migrations
from app.core.db import db


@click.group("db")
def db_group() -> None:
    """Look after the database."""


@db_group.command()
def upgrade() -> None:
    """Migrate the database to what this version needs."""
    with opened() as settings:
        before = migrations.current(db.engine)
        migrate(settings)
        click.echo(f"{before or 'empty'} -> {migrations.current(db.engine)}")


@db_group.command()
def current() -> None:
    """Say which revision the database has, and which this version needs."""
    with opened():
        found, needed = migrations.current(db.engine), migrations.known()[-1]
        verdict = "up to date" if found == needed else f"needs {needed}; run: flagstaff db upgrade"
        click.echo(f"{found or 'empty'} ({verdict})")


db_group.add_command(move)
