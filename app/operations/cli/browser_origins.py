import click

from app.core.actor import Actor
from app.delivery.origins import schemas, service
from app.operations.cli.commands import Output, change_command, query_command, validated


@click.group()
def browser_origins() -> None:
    """Choose the sites whose pages can read features in browsers."""


@browser_origins.command("list")
@query_command
def list_origins(_actor: Actor) -> Output:
    """List the sites. * means all."""
    return _output(service.origins())


@browser_origins.command("set")
@click.argument("origins", nargs=-1)
@change_command
def set_origins(actor: Actor, origins: tuple[str, ...]) -> Output:
    """Allow the sites ORIGINS and no others; without any, none.

    An origin is a scheme and a host, such as https://shop.example.com, with a port if it has one.
    """
    values = validated(schemas.CorsSettings, {"frontendApiOrigins": list(origins)})
    service.set_origins(actor, values["frontend_api_origins"])
    return _output(service.origins())


def _output(origins: list[str]) -> Output:
    return Output({"frontendApiOrigins": origins}, "\n".join(origins) or "No sites.")
