"""What the commands have in common: rules, one unit of work, and how they say what they did.

The rules are those of the API's schemas, the acts those of the services. A command returns what it
has to say, and it is said when the unit of work has ended: what is printed is true.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any

import click
from marshmallow import ValidationError

from app.accounts import service as accounts
from app.accounts.models import Account
from app.cli.instance import change, look
from app.core.actor import COMMAND_LINE
from app.core.errors import NotFound
from app.core.permissions import Role
from app.core.requests import REASON
from app.core.schemas import Schema

Command = Callable[..., Any]

ALL = 1_000_000
"""Lists are not cut into pages here."""


class _Reason(Schema):
    reason = REASON


@dataclass(frozen=True, slots=True)
class Said:
    """``value`` is for programs, ``text`` the same for people; ``once`` is a secret by its name.

    A secret is printed, after ``label``, if it exists, that is not of a rehearsal.
    """

    value: dict[str, Any]
    text: str
    once: dict[str, str] = field(default_factory=dict)
    label: str = ""


def json_option(command: Command) -> Command:
    option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
    return option(command)


def reading(command: Command) -> Command:
    """A command that changes nothing; it too is given the actor first."""

    @json_option
    @wraps(command)
    def run(*args: Any, as_json: bool, **options: Any) -> None:
        with look():
            said = command(COMMAND_LINE, *args, **options)
        say(said, as_json=as_json)

    return run


def changing(command: Command) -> Command:
    """A command that changes something, as the actor it is given first; or only rehearses it."""

    @click.option("--dry-run", is_flag=True, help="Say what would be done, and change nothing.")
    @click.option("--reason", help="Why; it is told in the event log.")
    @json_option
    @wraps(command)
    def run(*args: Any, dry_run: bool, reason: str | None, as_json: bool, **options: Any) -> None:
        actor = COMMAND_LINE
        if reason is not None:
            actor = replace(actor, reason=checked(_Reason, {"reason": reason})["reason"])
        with change(is_rehearsal=dry_run):
            said: Said = command(actor, *args, **options)
        if dry_run:
            said = Said(said.value, f"{said.text}\nDry run: nothing was changed.")
        say(said, as_json=as_json)

    return run


def say(said: Said, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(said.value | said.once, ensure_ascii=False, indent=2))
        return
    if said.text:
        click.echo(said.text)
    for secret in said.once.values():
        click.echo(said.label + secret)


def checked(schema: type[Schema], given: dict[str, Any]) -> dict[str, Any]:
    """What options and arguments mean by the API's own rules; None was not given.

    Raises:
        BadParameter: naming the option.

    """
    try:
        values: dict[str, Any] = schema().load({k: v for k, v in given.items() if v is not None})
    except ValidationError as error:
        [(name, messages), *_] = error.messages_dict.items()
        while isinstance(messages, dict):
            messages = next(iter(messages.values()))
        raise click.BadParameter(messages[0], param_hint=f"--{_kebab(name)}") from None
    return values


def role_option(roles: Iterable[Role], **options: Any) -> Callable[[Command], Command]:
    """``--role``, by name whatever its case; the id that the API has for it."""

    def id_of(_context: Any, _option: Any, chosen: str | None) -> int | None:
        return None if chosen is None else Role[chosen.upper()].value

    names = click.Choice([role.title for role in roles], case_sensitive=False)
    return click.option("--role", type=names, callback=id_of, help="The role.", **options)


def account_of(name: str) -> Account:
    """Who is meant by a username or e-mail address."""
    account = accounts.named(name)
    if account is None:
        raise NotFound(f"There is no account with the username {name!r}.")
    return account


def names_from(given: Sequence[str]) -> list[str]:
    """The names that were given; ``-`` stands for a line each of standard input."""
    if list(given) == ["-"]:
        return [line.strip() for line in sys.stdin if line.strip()]
    return list(given)


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns for people; what is None stays empty."""
    cells = [["" if value is None else str(value) for value in row] for row in rows]
    lines = [[heading.upper() for heading in headings], *cells]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def _kebab(name: str) -> str:
    return re.sub("(?=[A-Z])", "-", name).lower()
