import json

import click

from app.core.actor import Actor
from app.exchange.unleash import schemas, service
from app.operations.cli.commands import Output, query_command, read_names, validated


@click.command("export")
@click.option("--environment", required=True, help="Whose states and strategies to export.")
@click.option("--project", help="Only features of this project.")
@click.option("--tag", help="Only features with this tag (type:value, or a value).")
@click.argument("names", nargs=-1)
@query_command
def export(
    actor: Actor, names: tuple[str, ...], environment: str, project: str | None, tag: str | None
) -> Output:
    """Print features as a document that Unleash can import.

    These are all that fit the options, or NAMES. With - as NAMES, they are read from standard
    input.
    """
    given = {"environment": environment, "project": project, "tag": tag}
    query = validated(schemas.ExportQuery, {**given, "features": read_names(names)})
    content = schemas.ExportDocument().dump(service.export(actor, **query))
    return Output(content, json.dumps(content, indent=2, ensure_ascii=False))
