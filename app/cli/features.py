from typing import Any

import click

from app.archive import schemas as archive_schemas
from app.archive import service as archiving
from app.cli.commands import ALL, Said, changing, checked, names_from, reading, table
from app.core.actor import Actor
from app.features import schemas, service, tagging
from app.features.models import FeatureType
from app.tags import schemas as tag_schemas
from app.tags import service as tags
from app.tags.models import TagName

_project = click.argument("project")
_names = click.argument("names", nargs=-1, required=True)


@click.group()
def feature() -> None:
    """Manage features of a PROJECT. For NAMES, - reads a name a line from standard input."""


@feature.command("list")
@_project
@click.option("--text", help="Part of the name or description.")
@click.option("--tag", help="Carries this tag, as type:value.")
@click.option("--without-tag", help="Does not carry this tag.")
@click.option("--archived", is_flag=True, help="The archived ones instead.")
@reading
def list_features(
    actor: Actor,
    project: str,
    text: str | None,
    tag: str | None,
    without_tag: str | None,
    *,
    archived: bool,
) -> Said:
    """List features."""
    given = {
        "text": text,
        "tag": tag,
        "withoutTag": without_tag,
        "archived": str(archived).lower(),
    }
    query = checked(schemas.FeatureQuery, given) | {"limit": ALL}
    value = schemas.FeatureList().dump(service.search(actor, project, **query))
    rows = (
        (
            row["name"],
            row["type"],
            ", ".join(f"{tag['type']}:{tag['value']}" for tag in row["tags"]),
            ", ".join(row["dependencies"]),
        )
        for row in value["features"]
    )
    return Said(value, table(("name", "type", "tags", "depends on"), rows))


@feature.command()
@_project
@click.argument("name")
@click.option("--type", type=click.Choice([type.value for type in FeatureType]), help="What for.")
@click.option("--description", help="What it does.")
@changing
def create(
    actor: Actor, project: str, name: str, type: str | None, description: str | None
) -> Said:
    """Create the feature NAME."""
    given = {"name": name, "type": type, "description": description}
    view = service.create(actor, project, **checked(schemas.NewFeature, given))
    return Said(schemas.FeatureRow().dump(view), f"Created {view.feature.name} in {project}.")


@feature.command()
@_project
@_names
@click.option("--add", multiple=True, metavar="TYPE:VALUE", help="A tag to put on.")
@click.option("--remove", multiple=True, metavar="TYPE:VALUE", help="A tag to take off.")
@changing
def tag(
    actor: Actor,
    project: str,
    names: tuple[str, ...],
    add: tuple[str, ...],
    remove: tuple[str, ...],
) -> Said:
    """Put tags on features and take tags off, all or nothing."""
    if not add and not remove:
        raise click.UsageError("Say --add or --remove, each as often as needed.")
    given = {
        "features": names_from(names),
        "tags": {"addedTags": _tags(add), "removedTags": _tags(remove)},
    }
    asked = checked(schemas.Tagging, given)
    features = asked["features"]
    changes = tagging.change(
        actor,
        project,
        features=features,
        added=asked["tags"]["added_tags"],
        removed=asked["tags"]["removed_tags"],
    )
    changed = [
        {"feature": name, "added": _texts(change.added), "removed": _texts(change.removed)}
        for name, change in sorted(changes.items())
    ]
    rows = [
        (name, " ".join([*(f"+{tag}" for tag in on), *(f"-{tag}" for tag in off)]))
        for name, on, off in (row.values() for row in changed)
    ]
    unchanged = len(features) - len(changed)
    return Said(
        {"changed": changed, "unchanged": unchanged},
        f"{table(('feature', 'tags'), rows)}\n{len(rows)} changed, {unchanged} were so already.",
    )


@feature.command()
@_project
@_names
@reading
def plan(actor: Actor, project: str, names: tuple[str, ...]) -> Said:
    """Say what archiving these features would do; nothing is changed."""
    found = archiving.plan(actor, project, _names_in(names))
    rows = [
        *((name, "would be archived") for name in found.archivable),
        *((name, f"in the way: {', '.join(by)}") for name, by in sorted(found.blocked.items())),
        *((edge.child, f"loses its parent {edge.parent}") for edge in found.loosened),
        *((name, "archived already") for name in found.archived),
        *((name, "in another project") for name in found.elsewhere),
        *((name, "unknown") for name in found.unknown),
    ]
    return Said(archive_schemas.ArchivePlan().dump(found), table(("feature", "what"), rows))


@feature.command()
@_project
@_names
@changing
def archive(actor: Actor, project: str, names: tuple[str, ...]) -> Said:
    """Archive features, all or none; see flagstaff feature plan."""
    batch = archiving.archive(actor, project, _names_in(names))
    done = archiving.archived_in(actor, project, batch)
    return Said({"archived": done}, f"Archived {len(done)}: {', '.join(done)}")


@feature.command()
@_project
@_names
@changing
def revive(actor: Actor, project: str, names: tuple[str, ...]) -> Said:
    """Bring archived features back, with the parents that they had."""
    revived = archiving.revive(actor, project, _names_in(names))
    value: dict[str, Any] = {"revived": revived.names}
    return Said(value, f"Revived {len(revived.names)}: {', '.join(revived.names)}")


@click.group("tag")
def tag_group() -> None:
    """Look at tags; flagstaff feature tag puts them on features."""


@tag_group.command("list")
@click.option("--type", help="Of this type.")
@click.option("--text", help="Part of the value.")
@reading
def list_tags(_actor: Actor, type: str | None, text: str | None) -> Said:
    """List tags, and how many features carry each."""
    query = checked(tag_schemas.TagQuery, {"type": type, "text": text}) | {"limit": ALL}
    value = tag_schemas.TagList().dump(tags.search(**query))
    rows = ((f"{row['type']}:{row['value']}", row["used"]) for row in value["tags"])
    return Said(value, table(("tag", "features"), rows))


def _names_in(given: tuple[str, ...]) -> list[str]:
    asked = checked(archive_schemas.FeatureNames, {"features": names_from(given)})
    names: list[str] = asked["features"]
    return names


def _texts(found: list[TagName]) -> list[str]:
    return sorted(map(str, found))


def _tags(written: tuple[str, ...]) -> list[dict[str, str]]:
    return [TagName.read(text)._asdict() for text in written]
