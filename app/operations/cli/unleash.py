"""Commands to import from Unleash: show a plan, then apply exactly that or nothing."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

import click

from app.catalogue.features import selections
from app.core.actor import COMMAND_LINE, Actor
from app.core.clock import in_text
from app.core.words import counted, spoken
from app.exchange.documents.documents import Kind
from app.exchange.documents.plans import Choice, Status
from app.exchange.unleash import (
    client,
    comparing,
    formats,
    imports,
    schemas,
    schemas_imports,
    service,
    undoing,
    unleash,
)
from app.exchange.unleash.client import Unleash
from app.exchange.unleash.imports import Shown
from app.exchange.unleash.models import Import
from app.exchange.unleash.unleash import Translation
from app.operations.cli.commands import (
    Output,
    json_option,
    print_output,
    progress_bar,
    query_command,
    read_names,
    reason_given,
    table,
    validated,
)
from app.operations.server.instance import read_transaction, set_up_home, write_transaction

TOKEN = "UNLEASH_TOKEN"  # noqa: S105 - the name of a variable
DISPLAY_LIMIT = 50
NAMED = 3
NOTHING_CHANGED = "\nDry run: nothing was changed."

_token_file = click.option(
    "--token-file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help=f"A file with a personal access token of an admin there. Or set {TOKEN}.",
)
_reason = click.option("--reason", help="Why you are doing this, for the event log.")
_dry_run = click.option(
    "--dry-run", is_flag=True, help="Show what would change, but change nothing."
)
_all = click.option("--all", "show_all", is_flag=True, help="Print every line of a long plan.")


@click.group("import")
def import_group() -> None:
    """Bring in features and all that belongs to them from Unleash.

    First a plan is made, which changes nothing. Then the plan is applied: all of it or nothing.
    """


@import_group.command("unleash")
@click.argument("url")
@_token_file
@_all
@json_option
def import_unleash(url: str, *, token_file: Path | None, show_all: bool, as_json: bool) -> None:
    """Read the Unleash at URL (version 5 or later), and show the plan.

    The token is read from a file or the environment, used for this, and not stored.
    """
    server = Unleash(url, _token(token_file))
    with _reading_progress() as note:
        row = _store(unleash.translate(client.read(server, note)), server.url)
    _show(row, show_all=show_all, as_json=as_json)


@import_group.command("file")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@_all
@json_option
def import_file(file: Path, *, show_all: bool, as_json: bool) -> None:
    """Read what Unleash exported to FILE, and show the plan.

    It can be an export of features (Unleash 5 to 8) or of the whole state (Unleash 3 to 5).
    """
    name = f"file {file.name}"
    row = _store(formats.translation(_read(file), name), name)
    _show(row, show_all=show_all, as_json=as_json)


@import_group.command("plan")
@click.argument("id", type=int)
@click.option("--decide", multiple=True, metavar="KEY=CHOICE", help="What to do with one thing.")
@click.option(
    "--different",
    type=click.Choice([Choice.KEEP.value, Choice.TAKE.value]),
    help="What to do with all that is here and differs.",
)
@click.option(
    "--project", "projects", multiple=True, metavar="ID", help="Only features of this project."
)
@click.option("--prefix", help="Only features whose names begin with this.")
@click.option(
    "--names",
    type=click.File(),
    help="Only features that this file names, one per line. With -, from standard input.",
)
@click.option("--everything", is_flag=True, help="All features again, and everything else.")
@_all
@json_option
def show_plan(
    id: int,
    *,
    decide: tuple[str, ...],
    different: str | None,
    projects: tuple[str, ...],
    prefix: str | None,
    names: TextIO | None,
    everything: bool,
    show_all: bool,
    as_json: bool,
) -> None:
    """Show the plan of import ID as it is now, after deciding what the options say.

    The plan names the keys and the choices of each thing: take, keep, leave-out, switched-off or
    rename:NAME.

    Of features, those come that fit all of --project (which can be given several times), --prefix
    and --names, with what they need. A project brings its default strategies, and the SDK tokens
    that read nothing else.
    """
    given = {
        "projects": [*projects] or None,
        "prefix": prefix,
        "names": names and selections.pasted(names.read()),
    }
    chosen: Any = validated(schemas_imports.ImportChoice, given)
    if everything and chosen:
        raise click.UsageError("--everything is for all features, so choose none.")
    with write_transaction():
        found = imports.get(id, for_change=True)
        imports.decide(
            found,
            by_key=dict(_decision(each) for each in decide),
            different=Choice(different) if different else None,
            chosen=chosen if chosen or everything else None,
        )
        shown = imports.shown(found)
        imports.keep(found, shown)
    print_output(_output(found, shown, show_all=show_all), as_json=as_json)


@import_group.command("apply")
@click.argument("id", type=int)
@click.option("--plan", "digest", help="The digest of the plan, to apply exactly that.")
@_reason
@_dry_run
@json_option
def apply(id: int, *, digest: str | None, reason: str | None, dry_run: bool, as_json: bool) -> None:
    """Carry out the plan of import ID: all of it, or nothing."""
    with read_transaction():
        prepared = imports.prepare(imports.get(id))
    shown = prepared.plan.digest
    actor = reason_given(COMMAND_LINE, reason)
    number = len(prepared.plan.written)
    with progress_bar("Importing", number) as update, write_transaction(dry_run=dry_run):
        done = 0

        def note(_what: str, now: int, _all: int) -> None:
            nonlocal done
            update(now - done)
            done = now

        found = imports.apply(actor, id, digest or shown, prepared, note)
        output = _applied(found, is_dry=dry_run)
    print_output(output, as_json=as_json)


@import_group.command("undo")
@click.argument("id", type=int)
@_reason
@_dry_run
@json_option
def undo(id: int, *, reason: str | None, dry_run: bool, as_json: bool) -> None:
    """Undo import ID, as long as nothing was built on it."""
    with write_transaction(dry_run=dry_run):
        data = _row(undoing.undo(reason_given(COMMAND_LINE, reason), id))
    text = f"Undid import {id}." + NOTHING_CHANGED * dry_run
    print_output(Output(data, text), as_json=as_json)


@import_group.command("check")
@click.argument("url")
@_token_file
@click.option("--here", help="The address of this server, if not its base URL.")
@click.option("--contexts", default=1_000, show_default=True, help="How many people to ask for.")
@json_option
def check(
    url: str, *, token_file: Path | None, here: str | None, contexts: int, as_json: bool
) -> None:
    """Ask the Unleash at URL and this server the same questions, and compare the answers.

    Both are asked with SDK tokens of the Unleash that are here too, in each environment with the
    one that reads most projects. It ends with 1 if anything differs.
    """
    address = here or set_up_home().address("")
    found = comparing.compare(Unleash(url, _token(token_file)), address, contexts)
    lines = [f"Asked for {place}." for place in found.places]
    lines += [
        f"Not compared: {place}. None of its SDK tokens is valid on both servers: import again."
        for place in found.left_out
    ]
    lines += [
        f"{each.environment}: {each.feature} differs in {each.contexts:,}. {each.reason}"
        for each in found.unlike
    ]
    if found.by_engine:
        names = spoken(dict.fromkeys(each.feature for each in found.by_engine))
        lines.append(
            f"For browsers, Unleash evaluates {names} with another engine than its SDKs have, and "
            "gets other answers than those. Here both are the same."
        )
    number = counted(len(found.unlike), "feature")
    lines.append(f"{found.answers:,} answers, {number} with a difference.")
    data = {
        "answers": found.answers,
        "differences": [each._asdict() for each in found.unlike],
        "notCompared": found.left_out,
    }
    print_output(Output(data, "\n".join(lines)), as_json=as_json)
    if found.unlike:
        sys.exit(1)


@import_group.command("list")
@json_option
def list_imports(*, as_json: bool) -> None:
    """List what was read and imported."""
    with read_transaction():
        found = imports.list_all()
    rows = [(each.id, each.state, in_text(each.created_at), each.source) for each in found]
    data = {"imports": [_row(each) for each in found]}
    text = table(("id", "state", "created", "source"), rows)
    print_output(Output(data, text), as_json=as_json)


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"The file is not JSON: {error}.", param_hint="FILE") from None


def _store(translation: Translation, origin: str) -> int:
    """Store the translation in the database, not in memory. Return the id of the import."""
    wanted = schemas_imports.wanted(translation)
    with write_transaction():
        row = imports.begin(COMMAND_LINE, origin)
        imports.store(row, translation.source, wanted, translation.notes)
        return row.id


def _show(id: int, *, show_all: bool, as_json: bool) -> None:
    with read_transaction():
        shown = imports.shown(imports.get(id))
    with write_transaction():
        found = imports.get(id)
        imports.keep(found, shown)
        output = _output(found, shown, show_all=show_all)
    print_output(output, as_json=as_json)


def _applied(found: Import, *, is_dry: bool) -> Output:
    result, requests = imports.report(found)
    lines = [f"Imported {counted(result.number, 'item')}, as batch {found.batch_id}."]
    if requests:
        lines.append(f"Change requests wait for review: {spoken(requests, len(requests))}.")
    if not is_dry:
        lines.append(f"To undo it within 7 days: flagstaff import undo {found.id}")
    text = "\n".join(lines) + NOTHING_CHANGED * is_dry
    return Output(_data(found, result) | {"changeRequests": requests}, text)


def _output(found: Import, shown: Shown, *, show_all: bool) -> Output:
    summary = " ".join(imports.summary(shown, imports.source_name(found)))
    lines = [*_lines(shown, show_all=show_all), summary, *imports.choice(shown, found.chosen)]
    lines += [
        f"Not there: {each['name']}." + f" Did you mean {each['similar']}?" * bool(each["similar"])
        for each in shown.unknown
    ]
    if shown.proposed:
        lines.append(f"Needs approval, and will be proposed: {shown.proposed}.")
    lines += [f"Note: {note}" for note in shown.notes]
    lines.append(f"Nothing has changed yet. To import this: flagstaff import apply {found.id}")
    return Output(_data(found, shown), "\n".join(lines))


def _lines(shown: Shown, *, show_all: bool) -> Iterator[str]:
    columns = ("kind", *(status.value for status in Status))
    rows = [
        (kind, *(found.get(status.value, 0) for status in Status))
        for kind, found in shown.counts.items()
    ]
    yield table(columns, rows)
    for kind, by_status in shown.names.items():
        for status, names in by_status.items():
            shown_names = len(names) if show_all else NAMED
            yield f"{Kind(kind).many}, {status}: {spoken(names, shown_names)}"
    listed = shown.attention if show_all else shown.attention[:DISPLAY_LIMIT]
    for entry in listed:
        others = ", ".join(_other_choices(entry)) or "nothing else"
        yield f"{entry['key']}: {entry['choice']} (or {others})"
        yield from (f"    {fault}" for fault in entry["faults"])
        yield from (f"    {each}" for each in entry["differences"])
        if entry["since"]:
            where = {"here": "here", "there": "there", "both": "on both sides"}[entry["since"]]
            yield f"    changed {where} since the last import"
    if rest := len(shown.attention) - len(listed):
        yield f"… and {rest:,} more. Print them with --all."


def _other_choices(entry: dict[str, Any]) -> list[str]:
    return [
        f"rename:{entry['newName']}" if choice == Choice.RENAME else choice
        for choice, _ in entry["choices"]
        if choice != entry["choice"]
    ]


def _data(found: Import, shown: Shown) -> dict[str, Any]:
    data = asdict(shown)
    del data["of"]  # for the cache only
    return _row(found) | data


def _row(found: Import) -> dict[str, Any]:
    return {
        "id": found.id,
        "state": found.state,
        "source": found.source,
        "createdAt": in_text(found.created_at),
        "batchId": found.batch_id,
    }


def _decision(text: str) -> tuple[str, str]:
    key, equals, choice = text.rpartition("=")
    if not equals or choice.partition(":")[0] not in set(Choice):
        names = ", ".join(Choice)
        raise click.BadParameter(f"Give KEY=CHOICE, with one of {names}.", param_hint="--decide")
    return key, choice


def _token(file: Path | None) -> str:
    """The token; never from an argument, which other users of this machine could see."""
    found = file.read_text().strip() if file else os.environ.get(TOKEN, "").strip()
    if not found:
        raise click.UsageError(f"Give the token in a file with --token-file, or in {TOKEN}.")
    return found


@contextmanager
def _reading_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show what is being read, on one line of a terminal."""
    is_terminal = sys.stderr.isatty()

    def note(what: str, done: int, all: int) -> None:
        if is_terminal:
            click.echo(f"\rReading {what}: {done:,} of {all:,}".ljust(60), err=True, nl=False)

    yield note
    if is_terminal:
        click.echo("", err=True)


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
    input. What Unleash 8 would refuse goes to standard error, with the features and a remedy.
    """
    given = {"environment": environment, "project": project, "tag": tag}
    query = validated(schemas.ExportQuery, {**given, "features": read_names(names)})
    found = service.export(actor, **query)
    for each in found.refused:
        click.echo(f"Unleash 8 refuses this export while this is in it. {each.say()}", err=True)
    content = schemas.ExportDocument().dump(found)
    return Output(content, json.dumps(content, indent=2, ensure_ascii=False))
