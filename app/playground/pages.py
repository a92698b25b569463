"""The playground: who would get which feature, and why. The address is the result."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flask import render_template, request
from flask.typing import ResponseReturnValue
from marshmallow import ValidationError

from app.context import service as context
from app.core.errors import Invalid
from app.core.permissions import Access
from app.environments import service as environments
from app.environments.models import EnvironmentType
from app.playground import api_rows, forms, schemas, service, words
from app.playground.forms import PersonForm, Sent
from app.playground.matrix import ROWS, Column, Matrix, Only
from app.playground.people import people
from app.playground.service import MOST_EXPLAINED, Playground
from app.projects import service as projects
from app.web import exports
from app.web.caller import current_actor
from app.web.routes import PageBlueprint

bp = PageBlueprint("playground_pages", __name__, url_prefix="/playground")

PERSON, OTHER = "context", "other"
PROJECTS_SHOWN = 500
ROWS_WITHOUT_ADDRESS = 200
"""Of a result without an address of its own there is no second page."""
CSV = ["feature", "project", "environment", "person", "on", "variant", "why"]


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be asked for besides the people, and what was."""

    projects: Sequence[tuple[str, str]]
    environments: Sequence[str]
    production: str
    project: str | None
    chosen: Sequence[str]
    feature: str | None
    only: Only | None
    offset: int
    faults: dict[str, str]

    @property
    def where(self) -> str:
        """The project in a sentence."""
        name = dict(self.projects).get(self.project or "")
        return f"of {name} " if name else ""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return [(name, name) for name in self.environments]


@bp.get("", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """Show who gets what. The address says who is asked about."""
    return _index(request.args)


@bp.post("", needs=Access.SIGNED_IN, writes=False)
def index_without_address() -> ResponseReturnValue:
    """The same for a context that no address can hold, or that none should have."""
    return _index(request.form)


@bp.get("/compare", needs=Access.SIGNED_IN)
def compare() -> ResponseReturnValue:
    """Show what two people get in one environment, and where that differs."""
    choices, fields = _choices(request.args), context.every()
    forms_ = [forms.person(request.args, prefix, fields) for prefix in (PERSON, OTHER)]
    place = choices.chosen[-1] if request.args.get("environment") else choices.production
    result: dict[str, Any] = {}
    faults = choices.faults | {k: v for each in forms_ for k, v in each.faults.items()}
    if request.args and not faults:
        playground, faults = _asked(choices, [place], [each.values for each in forms_])
        if playground:
            one, other = playground.people
            playground.people[1] = replace(other, chance=one.chance)  # chance makes no difference
            result = _compared(playground, place, choices)
    page = render_template(
        "playground/compare.html",
        people=forms_,
        choices=choices,
        place=place,
        faults=faults,
        fields=[each.name for each in fields],
        **result,
    )
    return page, 400 if faults else 200


def _index(sent: Sent) -> ResponseReturnValue:
    choices, fields = _choices(sent), context.every()
    form = forms.person(sent, PERSON, fields)
    faults = choices.faults | dict(form.faults)
    result: dict[str, Any] = {}
    if sent and not faults:
        playground, faults = _people_asked(choices, form)
        if playground and request.method == "GET" and exports.wanted():
            return exports.file("playground", CSV, _rows(playground))
        if playground:
            result = _result(playground, choices)
    page = render_template(
        "playground/index.html",
        person=form,
        choices=choices,
        faults=faults,
        is_asked=bool(sent),
        has_address=request.method == "GET",
        **result,
    )
    return page, 400 if faults else 200


def _choices(sent: Sent) -> Choices:
    given = {
        name: sent[name] for name in ("project", "feature", "only", "offset") if sent.get(name)
    }
    faults: dict[str, str] = {}
    try:
        values = schemas.PageQuestion().load(given)
    except ValidationError as error:
        faults = {name: str(found[0]) for name, found in error.messages_dict.items()}
        values = schemas.PageQuestion().load({k: v for k, v in given.items() if k not in faults})
    every = [each for each in environments.every() if not each.deprecated]
    names = [each.name for each in every]
    asked = [name for name in sent.getlist("environment") if name in names]
    production = [each.name for each in every if each.type == EnvironmentType.PRODUCTION]
    return Choices(
        projects=projects.names(current_actor, PROJECTS_SHOWN),
        environments=names,
        production=(production or names or [""])[-1],
        project=values.get("project"),
        chosen=asked or names,
        feature=values.get("feature"),
        only=values.get("shown"),
        offset=values["offset"],
        faults=faults,
    )


def _people_asked(choices: Choices, form: PersonForm) -> tuple[Playground | None, dict[str, str]]:
    try:
        found = people(form.values)
    except Invalid as error:
        return None, _faults(error)
    return _asked(choices, choices.chosen, found)


def _asked(
    choices: Choices, names: Sequence[str], asked: Sequence[Any]
) -> tuple[Playground | None, dict[str, str]]:
    """The playground, or what is wrong with the question."""
    chosen = None if choices.project is None else [choices.project]
    try:
        found = service.ask(
            current_actor,
            environments=names,
            projects=chosen,
            people=asked,
            only=choices.feature,
            most=MOST_EXPLAINED if exports.wanted() else service.MOST_ANSWERS,
        )
    except Invalid as error:
        return None, _faults(error)
    return found, {}


def _faults(error: Invalid) -> dict[str, str]:
    """By the part of the question."""
    return {
        each["path"].strip("/").partition("/")[0]: each["message"] for each in error.details or []
    }


def _result(playground: Playground, choices: Choices) -> dict[str, Any]:
    everyone = range(len(playground.people))
    columns = [Column(name, name, everyone) for name in playground.environments]
    main = choices.production if choices.production in choices.chosen else choices.chosen[-1]
    matrix = Matrix(playground, columns, main)
    only = choices.only or Only.ALL
    limit = ROWS if request.method == "GET" else ROWS_WITHOUT_ADDRESS
    offset = choices.offset if request.method == "GET" else 0
    counts = {each: len(matrix.features(each)) for each in (Only.ALL, Only.ON, Only.DIFFERENT)}
    where = f"in {main}."
    given = [each.given for each in playground.people]
    if choices.feature and len(given) == 1 and counts[Only.ALL] == 1:
        is_on = bool(counts[Only.ON])
        verdict = words.verdict_on_one(given[0], choices.feature, where, is_on=is_on)
    elif len(given) == 1:
        where = choices.where + where
        verdict = words.verdict(given[0], counts[Only.ON], counts[Only.ALL], where)
    else:
        where = choices.where + where
        verdict = words.verdict_on_many(len(given), counts[Only.ON], counts[Only.ALL], where)
    return {
        "page": matrix.rows(only, offset, limit),
        "columns": columns,
        "main": main,
        "only": only,
        "counts": counts,
        "verdict": verdict,
        "given": given,
        "described": lambda person: words.described(person, given),
        "api": _api(choices, given[0] if len(given) == 1 else None),
        "own_addresses": _own_addresses,
    }


def _compared(playground: Playground, place: str, choices: Choices) -> dict[str, Any]:
    one, other = (each.given for each in playground.people)
    columns = [
        Column(f"{letter}: {words.called(person)}", place, [number])
        for number, (letter, person) in enumerate((("A", one), ("B", other)))
    ]
    matrix = Matrix(playground, columns, columns[0].title)
    only = choices.only if choices.only in {Only.SAME, Only.ALL} else Only.DIFFERENT
    counts = {each: len(matrix.features(each)) for each in (Only.DIFFERENT, Only.SAME)}
    where = f"in {place}."
    verdict = words.difference(one, other, counts[Only.DIFFERENT], sum(counts.values()), where)
    return {
        "page": matrix.rows(only, choices.offset),
        "columns": columns,
        "only": only,
        "counts": counts,
        "verdict": verdict,
    }


def _rows(playground: Playground) -> Iterator[dict[str, Any]]:
    """Every answer with its reason in a few words, for a file."""
    columns = [
        Column(name, name, range(len(playground.people))) for name in playground.environments
    ]
    matrix = Matrix(playground, columns, "")
    given = [each.given for each in playground.people]
    for row in matrix.rows(Only.ALL, limit=len(playground.projects), told=len(given)).items:
        for environment, found in row.told.items():
            for told in found:
                yield {
                    "feature": row.feature,
                    "project": row.project_id,
                    "environment": environment,
                    "person": words.described(told.person.given, given),
                    "on": told.is_on,
                    "variant": told.variant,
                    "why": "" if told.is_on else told.note,
                }


def _api(choices: Choices, person: Any) -> dict[str, Any]:
    """The body of the API request that asks the same."""
    given = api_rows.context(person or {})
    asked = [choices.project] if choices.project else schemas.ALL
    return {"environments": list(choices.chosen), "projects": asked, "context": given}


def _own_addresses(person: Any) -> dict[str, str]:
    """The parameters of the address that asks about this person alone."""
    return {f"{PERSON}.{name}": value for name, value in person.items()}
