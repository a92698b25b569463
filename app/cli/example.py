import click

from app.cli.instance import opened
from app.docs.examples import EXAMPLES


@click.command()
@click.argument("name", type=click.Choice(list(EXAMPLES)))
def example(name: str) -> None:
    """Print an example file, filled in with the settings as they are.

    For nginx: FLAGSTAFF_BASE_URL=https://flags.example.org flagstaff example nginx
    """
    with opened() as settings:
        click.echo(EXAMPLES[name].text(settings))
