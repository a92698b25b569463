import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that completes flagstaff commands in SHELL.

    For bash: echo 'eval "$(flagstaff completion bash)"' >> ~/.bashrc
    """
    kind = get_completion_class(shell)
    assert kind is not None  # click supports all of SHELLS  # noqa: S101
    root = context.find_root()
    click.echo(kind(root.command, {}, "flagstaff", "_FLAGSTAFF_COMPLETE").source())
