"""The playground: who would get which feature, and why. The address has the whole question."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flask import render_template, request
from flask.typing import ResponseReturnValue

from app.catalogue.context import service as context
from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.delivery.playground import api_rows, forms, schemas, words
from app.delivery.playground.forms import PERSON, Sent
from app.delivery.playground.matrix import ROWS, Column, Matrix, MatrixRow, Only, group_equal
from app.delivery.playground.pages_question import Choices, choices_in, people_asked
from app.delivery.playground.service import Playground
from app.web import exports
from app.web.routes import PageBlueprint

bp = PageBlueprint("playground_pages", __name__, url_prefix="/playground")

ROWS_WITHOUT_ADDRESS = 200
"""Rows of a result of POST. It has no address, so there is no second page."""
CSV = ["feature", "project", "environment", "person", "on", "variant", "why"]


@bp.get("", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """Show who gets what. The address says who is asked about."""
    return _index(request.args)


@bp.post("", needs=Access.SIGNED_IN, keeps=NOTHING, writes=False)
def index_without_address() -> ResponseReturnValue:
    """Show who gets what, for a context that is too long or too private for an address."""
    return _index(request.form)


def _index(sent: Sent) -> ResponseReturnValue:
    choices, fields = choices_in(sent), context.list_all()
    form = forms.person(sent, PERSON, fields)
    faults = choices.faults | dict(form.faults)
    result: dict[str, Any] = {}
    if sent and not faults:
        playground, faults = people_asked(choices, form)
        if playground and request.method == "GET" and exports.wanted():
            return exports.file("playground", CSV, _rows(playground))
        if playground:
            result = _result(playground, choices)
    page = render_template(
        "delivery/playground/index.html",
        person=form,
        choices=choices,
        faults=faults,
        is_asked=bool(sent),
        has_address=request.method == "GET",
        **result,
    )
    return page, 400 if faults else 200


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
        where = choices.of_project + where
        verdict = words.verdict(given[0], counts[Only.ON], counts[Only.ALL], where)
    else:
        numbers = (len(given), counts[Only.ON], counts[Only.ALL])
        verdict = words.verdict_on_many(*numbers, choices.of_project, where)
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
        "own_address": _own_address,
        "for_everyone": lambda row: _for_everyone(row, columns, main),
        "group_equal": group_equal,
    }


def _rows(playground: Playground) -> Iterator[dict[str, Any]]:
    """Yield every answer with its reason in a few words, for an export."""
    columns = [
        Column(name, name, range(len(playground.people))) for name in playground.environments
    ]
    matrix = Matrix(playground, columns, "")
    given = [each.given for each in playground.people]
    for row in matrix.rows(Only.ALL, limit=len(playground.projects), explained=len(given)).items:
        for environment, answers in row.explained.items():
            for answer in answers:
                yield {
                    "feature": row.feature,
                    "project": row.project_id,
                    "environment": environment,
                    "person": words.described(answer.person.given, given),
                    "on": answer.is_on,
                    "variant": answer.variant,
                    "why": "" if answer.is_on else answer.note,
                }


def _api(choices: Choices, person: Mapping[str, str] | None) -> dict[str, Any]:
    """Return the body of an API request with this question."""
    given = api_rows.context(person or {})
    asked = [choices.project] if choices.project else schemas.ALL
    return {"environments": list(choices.chosen), "projects": asked, "context": given}


def _own_address(row: MatrixRow, column: Column, person: Mapping[str, str]) -> dict[str, str]:
    """Return the query parameters that ask about this person and feature alone."""
    given = {f"{PERSON}.{name}": value for name, value in person.items()}
    place = {"environment": column.environment, "feature": row.feature}
    return given | place | {"project": row.project_id}


def _for_everyone(row: MatrixRow, columns: Sequence[Column], main: str) -> list[str]:
    """Return the columns, except for the main one, where the feature is on unconditionally."""
    return [
        column.title
        for column in columns
        if column.title != main
        and column.title in row.explained
        and row.explained[column.title][0].is_for_everyone
    ]
