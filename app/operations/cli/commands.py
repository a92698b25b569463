"""Shared parts of the commands: validation, the unit of work and the output.

Commands follow the rules of the API's schemas and call the same services. A command returns its
output, which is printed after the commit, so it never reports a change that failed.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any

import click
from marshmallow import ValidationError

from app.accounts import service as accounts
from app.accounts.models import Account
from app.core.actor import COMMAND_LINE, Actor
from app.core.errors import NotFound
from app.core.permissions import Role
from app.operations.server.instance import read_transaction, write_transaction
from app.web.requests import REASON
from app.web.schemas import Schema

Command = Callable[..., Any]

UNLIMITED = 1_000_000
"""The limit of lists, which are not paged on the command line."""


class _Reason(Schema):
    reason = REASON


@dataclass(frozen=True, slots=True)
class Output:
    """The result of a command: ``data`` for scripts, ``text`` for people.

    ``secrets`` by name are printed after ``label``; a dry run prints none. ``wait``: called after
    the commit; returns what is printed instead, and the exit status.
    """

    data: dict[str, Any]
    text: str
    secrets: dict[str, str] = field(default_factory=dict)
    label: str = ""
    wait: Callable[[], tuple["Output", int]] | None = None


@contextmanager
def progress_bar(
    label: str, length: int, *, terminal_only: bool = True
) -> Iterator[Callable[[int], object]]:
    """Show the progress of a long operation; outside a terminal, its labels at most."""
    hidden = terminal_only and not sys.stdout.isatty()
    with click.progressbar(length=length, label=label, show_pos=True, hidden=hidden) as progress:
        yield progress.update


def json_option(command: Command) -> Command:
    option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
    return option(command)


def query_command(command: Command) -> Command:
    """Decorate a command that only reads. It gets the actor as its first argument."""

    @json_option
    @wraps(command)
    def run(*args: Any, as_json: bool, **options: Any) -> None:
        with read_transaction():
            output = command(COMMAND_LINE, *args, **options)
        print_output(output, as_json=as_json)

    return run


def change_command(command: Command, *, even_in_maintenance: bool = False) -> Command:
    """Decorate a command that changes data. It gets the actor as its first argument."""

    @click.option("--dry-run", is_flag=True, help="Show what would change, but change nothing.")
    @click.option("--reason", help="Why you are doing this, for the event log.")
    @json_option
    @wraps(command)
    def run(*args: Any, dry_run: bool, reason: str | None, as_json: bool, **options: Any) -> None:
        actor = reason_given(COMMAND_LINE, reason)
        transaction = write_transaction(dry_run=dry_run, even_in_maintenance=even_in_maintenance)
        with transaction:
            output: Output = command(actor, *args, **options)
        status = 0
        if dry_run:
            output = Output(output.data, f"{output.text}\nDry run: nothing was changed.")
        elif output.wait is not None:
            output, status = output.wait()
        print_output(output, as_json=as_json)
        if status:
            sys.exit(status)

    return run


def reason_given(actor: Actor, reason: str | None) -> Actor:
    """The actor, with the validated reason if one is given."""
    if reason is None:
        return actor
    return replace(actor, reason=validated(_Reason, {"reason": reason})["reason"])


def print_output(output: Output, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(output.data | output.secrets, ensure_ascii=False, indent=2))
        return
    if output.text:
        click.echo(output.text)
    for secret in output.secrets.values():
        click.echo(output.label + secret)


def validated(schema: type[Schema], given: dict[str, Any]) -> dict[str, Any]:
    """Load options and arguments by a schema of the API; None means not given.

    Raises:
        BadParameter: naming the option.

    """
    try:
        values: dict[str, Any] = schema().load({k: v for k, v in given.items() if v is not None})
    except ValidationError as error:
        [(name, messages), *_] = error.messages_dict.items()
        while isinstance(messages, dict):
            messages = next(iter(messages.values()))
        option = re.sub("(?=[A-Z])", "-", name).lower()
        raise click.BadParameter(messages[0], param_hint=f"--{option}") from None
    return values


def role_option(roles: Iterable[Role], **options: Any) -> Callable[[Command], Command]:
    """``--role``: a role's name in any case, passed on as its id in the API."""

    def id_of(_context: Any, _option: Any, chosen: str | None) -> int | None:
        return None if chosen is None else Role[chosen.upper()].value

    names = click.Choice([role.title for role in roles], case_sensitive=False)
    return click.option("--role", type=names, callback=id_of, help="The role.", **options)


def find_account(name: str) -> Account:
    """The account with this username or email address."""
    account = accounts.named(name)
    if account is None:
        raise NotFound(f"No account matches {name!r}.")
    return account


def read_names(given: Sequence[str]) -> list[str]:
    """The given names; a single ``-`` means one name per line of standard input."""
    if list(given) == ["-"]:
        return [line.strip() for line in sys.stdin if line.strip()]
    return list(given)


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Aligned columns; None becomes an empty cell."""
    cells = [["" if value is None else str(value) for value in row] for row in rows]
    lines = [[heading.upper() for heading in headings], *cells]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
