import click


@click.command()
def demo() -> None:
    """Fill an empty instance with a believable organisation."""
