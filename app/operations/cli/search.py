import click

from app.core.actor import Actor
from app.operations.cli.commands import Output, query_command, table, validated
from app.portal.search import schemas, service
from app.portal.search.sources import SEARCHED

_kinds = click.Choice([searched.kind.name for searched in SEARCHED])


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--in", "kind", type=_kinds, help="Only what is of this kind.")
@click.option("--limit", type=int, help="How many at most of each kind; 5 unless given.")
@query_command
def search(actor: Actor, words: tuple[str, ...], *, kind: str | None, limit: int | None) -> Output:
    """Find anything by its name: all WORDS must be in it.

    A feature is also found by its description and by on:ENVIRONMENT or off:ENVIRONMENT, a tag by
    type:value, and a token by how its secret ends.
    """
    given = {"q": " ".join(words), "in": kind, "limit": None if limit is None else str(limit)}
    query = validated(schemas.SearchQuery, given)
    results = service.search(actor, query["q"], kind=query.get("in_"), limit=query["limit"])
    rows = [
        (group.kind.title, hit.name, hit.about) for group in results.groups for hit in group.hits
    ]
    if rows:
        text = table(("kind", "name", "about"), rows)
    elif results.suggestion:
        text = f"Nothing matches. Did you mean {results.suggestion}?"
    else:
        text = "Nothing matches."
    return Output(schemas.NamedResults().dump(results), text)
