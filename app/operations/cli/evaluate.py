"""Command to evaluate a feature: with a text for people and an exit status for scripts."""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any

import click
from marshmallow import ValidationError

from app.catalogue.constraints.words import plain
from app.catalogue.strategies.reasons import Line, Mark
from app.core.actor import COMMAND_LINE
from app.core.errors import NotFound, problems
from app.delivery.playground import queries, schemas, service, words
from app.delivery.playground.queries import Place
from app.delivery.playground.service import Asked, Playground
from app.evaluation.explain import NO_VARIANT
from app.evaluation.facts import Explanation
from app.operations.cli.commands import Output, json_option, print_output
from app.operations.cli.errors import message_for
from app.operations.server.instance import read_transaction

ON, OFF, FAILED = 0, 1, 2
"""Exit statuses, like those of grep."""
MARKS = {Mark.YES: "✓", Mark.NO: "✗", Mark.SKIP: "→"}


class Failed(click.ClickException):
    exit_code = FAILED


def never_seems_off(command: Callable[..., None]) -> Callable[..., None]:
    """Let every error end with FAILED, so that no script mistakes it for OFF."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
        except (click.ClickException, click.Abort):
            raise
        except Exception as error:
            raise Failed(message_for(error)) from error

    return run


@click.command()
@click.argument("name")
@click.option("--environment", required=True, help="Where they ask for it.")
@click.option(
    "--context",
    "given",
    multiple=True,
    metavar="FIELD=VALUE",
    help="What is known of them, such as userId=42. Can be repeated.",
)
@click.option("--why", is_flag=True, help="Also show the reasons.")
@json_option
@never_seems_off
def evaluate(
    name: str, environment: str, given: tuple[str, ...], *, why: bool, as_json: bool
) -> None:
    """Say whether someone would get the feature NAME. Nothing is counted.

    The exit status is 0 if it is on for them, 1 if it is off, and 2 if that can’t be said.
    """
    person = _person(given)
    with read_transaction():
        project = queries.project_of(COMMAND_LINE, name)
        if project is None:
            raise NotFound(f"There is no active feature named {name}.")
        playground = service.ask(
            COMMAND_LINE,
            environments=[environment],
            projects=[project],
            people=[person],
            only=name,
        )
    place = Place(environment, name)
    if place not in playground.features:
        raise NotFound(f"Project {project} does not use an environment named {environment}.")
    [explanation] = playground.explain([Asked(place, playground.people[0])])
    print_output(_output(playground, place, explanation, why=why), as_json=as_json)
    sys.exit(ON if explanation.answer.is_on else OFF)


def _person(given: Sequence[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for text in given:
        field, equals, value = text.partition("=")
        if not equals or not field.strip():
            raise click.BadParameter(f"Write {text!r} as FIELD=VALUE.", param_hint="--context")
        values[field.strip()] = value.strip()
    try:
        found = schemas.ContextValues().deserialize(values)
    except ValidationError as error:
        [(path, message), *_] = problems(error.messages)
        raise click.BadParameter(f"{path[1:]}: {message}", param_hint="--context") from None
    return {field: value for field, value in found.values.items() if value}


def _output(playground: Playground, place: Place, explanation: Explanation, *, why: bool) -> Output:
    answer, [person] = explanation.answer, playground.people
    facts = playground.features[place]
    reasons = words.lines(explanation, facts, place.environment, person.values)
    reason_lines = list(_lines(reasons)) if why else []
    state = "on" if answer.is_on else "off"
    variant = "" if answer.variant == NO_VARIANT else f", variant {answer.variant}"
    first = f"{place.feature} is {state} for them in {place.environment}{variant}."
    data = {
        "feature": place.feature,
        "project": playground.projects[place.feature],
        "environment": place.environment,
        "context": dict(person.given),
        "enabled": answer.is_on,
        "variant": None if answer.variant == NO_VARIANT else answer.variant,
        "payload": answer.payload,
    } | ({"reasons": [_as_json(line) for line in reasons]} if why else {})
    return Output(data, "\n".join([first, *reason_lines]))


def _lines(reasons: Sequence[Line], depth: int = 1) -> Iterator[str]:
    for line in reasons:
        value = f" · {line.value}" if line.value else ""
        yield f"{'  ' * depth}{MARKS[line.mark]} {line.feature}{plain(line.rule)}{value}"
        yield from _lines(line.inner, depth + 1)


def _as_json(line: Line) -> dict[str, Any]:
    found: dict[str, Any] = {"met": {Mark.YES: True, Mark.NO: False, Mark.SKIP: None}[line.mark]}
    found["rule"] = line.feature + plain(line.rule)
    found["compared"] = line.value or None
    return found | {"reasons": [_as_json(each) for each in line.inner]}
