import click

from app.catalogue.feature_types import schemas, service
from app.catalogue.features.models import FeatureType
from app.core.actor import Actor
from app.operations.cli.commands import Output, change_command, query_command, table


@click.group()
def feature_type() -> None:
    """Manage how long features of each type are expected to live."""


@feature_type.command("list")
@query_command
def list_types(_actor: Actor) -> Output:
    """List the types with their lifetimes."""
    return _output()


@feature_type.command()
@click.argument("type", type=click.Choice([type.value for type in FeatureType]))
@click.argument("days", type=click.IntRange(min=0))
@change_command
def set_lifetime(actor: Actor, type: str, days: int) -> Output:
    """Propose features of TYPE as stale once they are older than DAYS. 0: no limit."""
    service.set_lifetimes(actor, {FeatureType(type): days})
    return _output()


def _output() -> Output:
    types = service.list_all()
    rows = ((type.id.value, type.lifetime_days or "no limit") for type in types)
    value = schemas.FeatureTypeList().dump({"types": types})
    return Output(value, table(("type", "days"), rows))
