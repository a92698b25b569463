import os

import click

from app.core.config import from_environment
from app.portal.help.examples import EXAMPLES


@click.command()
@click.argument("name", type=click.Choice(list(EXAMPLES)))
def example(name: str) -> None:
    """Print an example configuration file that uses the current settings.

    For nginx: FLAGSTAFF_BASE_URL=https://flags.example.org flagstaff example nginx
    """
    click.echo(EXAMPLES[name].text(from_environment(os.environ)))
