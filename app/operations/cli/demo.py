import click

from app.operations.cli.commands import progress_bar
from app.operations.demo import service
from app.operations.server.instance import write_transaction


@click.command()
def demo() -> None:
    """Fill an empty instance with a made-up organisation to explore."""
    with write_transaction() as settings:
        report = service.fill(settings.inactivity, progress_bar)
    click.echo(report)
