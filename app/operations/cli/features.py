from dataclasses import replace
from enum import StrEnum
from typing import Any

import click

from app.catalogue.archive import deletion
from app.catalogue.archive import schemas as archive_schemas
from app.catalogue.archive import service as archiving
from app.catalogue.archive import words as archive_words
from app.catalogue.features import lifecycle, links, schemas, service
from app.catalogue.features.models import CompletedStatus, FeatureType, Stage
from app.catalogue.features.stale import StaleFilter, UsageFilter
from app.catalogue.strategies import words
from app.catalogue.tagging import schemas as tagging_schemas
from app.catalogue.tagging import service as tagging
from app.catalogue.tags import schemas as tag_schemas
from app.catalogue.tags import service as tags
from app.catalogue.tags.models import TagName
from app.core.actor import Actor
from app.operations.cli.commands import (
    UNLIMITED,
    Output,
    change_command,
    query_command,
    read_names,
    table,
    validated,
)
from app.operations.cli.proposing import do_or_propose
from app.operations.cli.unleash import export
from app.operations.cli.waiting import MISSING, awaited, wait_option
from app.releases.change_requests import proposals
from app.releases.switching import service as switching
from app.web.current import current_settings


def _choice(members: type[StrEnum]) -> click.Choice[str]:
    return click.Choice([member.value for member in members])


SURE = "Delete them for good, with their strategies and usage? This can't be undone."

_project = click.argument("project")
_names = click.argument("names", nargs=-1, required=True)
_environment = click.option("--environment", required=True, help="Where to switch them.")
_detach = click.option(
    "--remove-dependencies-on",
    multiple=True,
    metavar="NAME",
    help="Let features outside NAMES stop depending on this one.",
)


@click.group()
def feature() -> None:
    """Manage the features of a PROJECT. With - as NAMES, names are read from standard input."""


feature.add_command(export)


@feature.command("list")
@_project
@click.option("--text", help="Part of the name or description.")
@click.option("--tag", help="Has this tag (type:value).")
@click.option("--without-tag", help="Lacks this tag (type:value).")
@click.option("--archived", is_flag=True, help="Archived features instead.")
@click.option("--stage", type=_choice(Stage), help="In this stage.")
@click.option("--usage", type=_choice(UsageFilter), help="How applications ask for it.")
@click.option("--stale-proposal", type=_choice(StaleFilter), help="Proposed as stale.")
@query_command
def list_features(
    actor: Actor,
    project: str,
    *,
    text: str | None,
    tag: str | None,
    without_tag: str | None,
    archived: bool,
    stage: str | None,
    usage: str | None,
    stale_proposal: str | None,
) -> Output:
    """List features."""
    given = {
        "text": text,
        "tag": tag,
        "withoutTag": without_tag,
        "archived": str(archived).lower(),
        "stage": stage,
        "usage": usage,
        "staleProposal": stale_proposal,
    }
    query = validated(schemas.FeatureQuery, given) | {"limit": UNLIMITED}
    after = current_settings().stale_after
    found = service.search(actor, project, stale_after=after, **query)
    value = schemas.FeatureList().dump(found)
    rows = (
        (
            row["name"],
            row["type"],
            row["lifecycle"]["stage"],
            (row["lastSeenAt"] or "never")[:10],  # the day
            row["staleProposal"] or "",
            ", ".join(f"{tag['type']}:{tag['value']}" for tag in row["tags"]),
            ", ".join(parent["feature"] for parent in row["dependencies"]),
        )
        for row in value["features"]
    )
    columns = ("name", "type", "stage", "last seen", "proposed as stale", "tags", "depends on")
    return Output(value, table(columns, rows))


@feature.command()
@_project
@click.argument("name")
@click.option("--type", type=_choice(FeatureType), help="The type.")
@click.option("--description", help="A description.")
@change_command
def create(
    actor: Actor, project: str, name: str, type: str | None, description: str | None
) -> Output:
    """Create the feature NAME."""
    given = {"name": name, "type": type, "description": description}
    view = service.create(actor, project, **validated(schemas.NamedFeature, given))
    return Output(schemas.FeatureRow().dump(view), f"Created {view.feature.name} in {project}.")


@feature.command()
@_project
@_names
@click.option("--add", multiple=True, metavar="TYPE:VALUE", help="A tag to add.")
@click.option("--remove", multiple=True, metavar="TYPE:VALUE", help="A tag to remove.")
@change_command
def tag(
    actor: Actor,
    project: str,
    names: tuple[str, ...],
    add: tuple[str, ...],
    remove: tuple[str, ...],
) -> Output:
    """Add tags to features and remove others, all or nothing."""
    if not add and not remove:
        raise click.UsageError("Give --add or --remove at least once.")
    given = {
        "features": read_names(names),
        "tags": {"addedTags": _tags(add), "removedTags": _tags(remove)},
    }
    asked = validated(tagging_schemas.Tagging, given)
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
    return Output(
        {"changed": changed, "unchanged": unchanged},
        f"{table(('feature', 'tags'), rows)}\n{len(rows)} changed, {unchanged} already set.",
    )


@feature.command()
@_project
@_names
@_detach
@query_command
def plan(
    actor: Actor, project: str, names: tuple[str, ...], remove_dependencies_on: tuple[str, ...]
) -> Output:
    """Show what archiving these features would do. Changes nothing."""
    found = archiving.preview(actor, project, _names_in(names), detach=remove_dependencies_on)
    rows = [
        *((name, "would be archived") for name in found.archivable),
        *((one.feature, archive_words.asked_for(one)) for one in found.still_asked_for),
        *((name, f"blocked by {', '.join(by)}") for name, by in sorted(found.blocked.items())),
        *((e.child, f"no longer depends on {e.parent}") for e in found.lost + found.detached),
        *((name, "already archived") for name in found.archived),
        *((name, "in another project") for name in found.elsewhere),
        *((name, "unknown") for name in found.unknown),
    ]
    return Output(archive_schemas.ArchivePlan().dump(found), table(("feature", "what"), rows))


@feature.command()
@_project
@_names
@_detach
@change_command
def archive(
    actor: Actor, project: str, names: tuple[str, ...], remove_dependencies_on: tuple[str, ...]
) -> Output:
    """Archive features, all or none. To preview it, use flagstaff feature plan.

    Where one is on and changes need approvals, this opens a change request. With --reason, it
    archives at once.
    """
    asked = _names_in(names)

    def act() -> Output:
        batch = archiving.archive(actor, project, asked, detach=remove_dependencies_on)
        done = archiving.archived_in(actor, project, batch)
        return Output({"archived": done}, f"Archived {len(done)}: {', '.join(done)}")

    plan = archiving.plan(actor, project, asked, detach=remove_dependencies_on)
    return do_or_propose(actor, act, lambda: proposals.archiving(plan))


@feature.command()
@_project
@_names
@change_command
def revive(actor: Actor, project: str, names: tuple[str, ...]) -> Output:
    """Revive archived features and restore their dependencies."""
    revived = archiving.revive(actor, project, _names_in(names))
    value: dict[str, Any] = {"revived": revived.names}
    return Output(value, f"Revived {len(revived.names)}: {', '.join(revived.names)}")


@feature.command()
@_project
@_names
@click.confirmation_option("--yes", prompt=SURE, help="Do not ask.")
@change_command
def delete(actor: Actor, project: str, names: tuple[str, ...]) -> Output:
    """Delete archived features for good, all or none. Their names are free again."""
    gone = sorted(set(_names_in(names)))
    deletion.delete(actor, project, gone)
    return Output({"deleted": gone}, f"Deleted {len(gone)}: {', '.join(gone)}")


@feature.command()
@_project
@_names
@_environment
@wait_option
@change_command
def on(
    actor: Actor, project: str, names: tuple[str, ...], environment: str, wait: int | None
) -> Output:
    """Switch features on, all or none. One without a strategy gets the default: for everyone.

    Where changes need approvals, this opens a change request. With --reason, it switches at once.
    """
    return _switched(actor, project, names, environment, is_on=True, wait=wait)


@feature.command()
@_project
@_names
@_environment
@wait_option
@change_command
def off(
    actor: Actor, project: str, names: tuple[str, ...], environment: str, wait: int | None
) -> Output:
    """Switch features off, all or none. They keep their strategies.

    Where changes need approvals, this opens a change request. With --reason, it switches at once.
    """
    return _switched(actor, project, names, environment, is_on=False, wait=wait)


@feature.command()
@_project
@click.argument("name")
@click.option("--status", type=_choice(CompletedStatus), required=True, help="What became of it.")
@click.option("--value", help="What exactly was kept, such as a variant.")
@change_command
def complete(actor: Actor, project: str, name: str, status: str, value: str | None) -> Output:
    """Mark the feature NAME as completed. Applications get what they got before."""
    asked = validated(schemas.Completion, {"status": status, "statusValue": value})
    found = service.lock_for_change(actor, project, name)
    changed = lifecycle.complete(actor, found, **asked)
    text = f"Marked {name} as completed: {status}." if changed else "Nothing to change."
    return Output(_stages(actor, project, name), text)


@feature.command()
@_project
@click.argument("name")
@change_command
def uncomplete(actor: Actor, project: str, name: str) -> Output:
    """Mark the feature NAME as not completed."""
    found = service.lock_for_change(actor, project, name)
    changed = lifecycle.uncomplete(actor, found)
    text = f"Marked {name} as not completed." if changed else "Nothing to change."
    return Output(_stages(actor, project, name), text)


@feature.command()
@_project
@click.argument("name")
@query_command
def show(actor: Actor, project: str, name: str) -> Output:
    """Show the feature NAME: where it is on, and for whom."""
    after = current_settings().stale_after
    view = service.get_with_life(actor, project, name, stale_after=after)
    rows = [
        (state.name, "on" if state.enabled else "off", sentence)
        for state in view.environments
        for sentence in [words.summary(each) for each in state.strategies] or [""]
    ]
    text = table(("environment", "state", "strategy"), rows)
    pages = "".join(f"\n{link.title or 'Link'}: {link.url}" for link in view.links)
    return Output(schemas.FeatureRow().dump(view), text + pages)


@feature.group()
def link() -> None:
    """Manage the links of a feature to pages about it."""


@link.command("add")
@_project
@click.argument("name")
@click.argument("url")
@click.option("--title", help="Shown instead of the address.")
@change_command
def add_link(actor: Actor, project: str, name: str, url: str, title: str | None) -> Output:
    """Add a link to the feature NAME."""
    given = validated(schemas.Link, {"url": url, "title": title})
    found = links.add(actor, service.lock_for_change(actor, project, name), **given)
    return Output(schemas.LinkRow().dump(found), f"Added {found.url} to {name}.")


@link.command("remove")
@_project
@click.argument("name")
@click.argument("url")
@change_command
def remove_link(actor: Actor, project: str, name: str, url: str) -> Output:
    """Remove the link to URL from the feature NAME."""
    view = service.get_for_change(actor, project, name)
    found = [link.id for link in view.links if link.url == url]
    for id in found:
        links.remove(actor, view.feature, id)
    text = f"Removed {url} from {name}." if found else "Nothing to change."
    return Output({"removed": found}, text)


@click.group("tag")
def tag_group() -> None:
    """List tags. To add them to features, use flagstaff feature tag."""


@tag_group.command("list")
@click.option("--type", help="Of this type.")
@click.option("--text", help="Part of the value.")
@query_command
def list_tags(actor: Actor, type: str | None, text: str | None) -> Output:
    """List tags, each with its number of features."""
    query = validated(tag_schemas.TagQuery, {"type": type, "text": text}) | {"limit": UNLIMITED}
    value = tag_schemas.TagList().dump(tags.search(actor, **query))
    rows = ((f"{row['type']}:{row['value']}", row["used"]) for row in value["tags"])
    return Output(value, table(("tag", "features"), rows))


def _switched(
    actor: Actor,
    project: str,
    names: tuple[str, ...],
    environment: str,
    *,
    is_on: bool,
    wait: int | None,
) -> Output:
    asked = _names_in(names)

    def act() -> Output:
        _, changed = switching.switch(actor, project, environment, asked, on=is_on)
        value: dict[str, Any] = {"changed": changed, "unchanged": len(asked) - len(changed)}
        names_changed = f": {', '.join(changed)}" if changed else "."
        state = "on" if is_on else "off"
        return Output(value, f"Switched {len(changed)} {state} in {environment}{names_changed}")

    preview = switching.preview(actor, project, environment, asked, on=is_on)
    done = do_or_propose(actor, act, lambda: proposals.switching(preview.changing, on=is_on))
    if wait is None:
        return done
    if "changeRequest" in done.data:
        return replace(done, wait=lambda: (done, MISSING))
    return replace(done, wait=lambda: awaited(done, project, asked, environment, wait))


def _stages(actor: Actor, project: str, name: str) -> dict[str, Any]:
    steps = service.steps(actor, project, name)
    return {"lifecycle": schemas.StageRow(many=True).dump(steps)}


def _names_in(given: tuple[str, ...]) -> list[str]:
    asked = validated(archive_schemas.FeatureNames, {"features": read_names(given)})
    names: list[str] = asked["features"]
    return names


def _texts(found: list[TagName]) -> list[str]:
    return sorted(map(str, found))


def _tags(written: tuple[str, ...]) -> list[dict[str, str]]:
    return [TagName.read(text)._asdict() for text in written]
