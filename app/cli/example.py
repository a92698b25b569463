import click

from app.docs.examples import EXAMPLES
from app.server.instance import open_instance


@click.command()
@click.argument("name", type=click.Choice(list(EXAMPLES)))
def example(name: str) -> None:
    """Print an example configuration file that uses the current settings.

    For nginx: FLAGSTAFF_BASE_URL=https://flags.example.org flagstaff example nginx
    """
    with open_instance() as settings:
        click.echo(EXAMPLES[name].text(settings))
