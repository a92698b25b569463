"""Two people in one environment: where what they get differs."""

from dataclasses import replace
from typing import Any

from flask import render_template, request
from flask.typing import ResponseReturnValue

from app.catalogue.context import service as context
from app.core.permissions import Access
from app.delivery.playground import forms, words
from app.delivery.playground.forms import PERSON
from app.delivery.playground.matrix import Column, Matrix, Only
from app.delivery.playground.pages_question import Choices, asked, choices_in
from app.delivery.playground.service import Playground
from app.web.routes import PageBlueprint

bp = PageBlueprint("comparing_pages", __name__, url_prefix="/playground/compare")

OTHER = "other"


@bp.get("", needs=Access.SIGNED_IN)
def compare() -> ResponseReturnValue:
    """Show what two people get in one environment, and where that differs."""
    choices, fields = choices_in(request.args), context.list_all()
    forms_ = [forms.person(request.args, prefix, fields) for prefix in (PERSON, OTHER)]
    place = choices.chosen[-1] if request.args.get("environment") else choices.production
    result: dict[str, Any] = {}
    faults = choices.faults | {k: v for each in forms_ for k, v in each.faults.items()}
    if request.args and not faults:
        playground, faults = asked(choices, [place], [each.values for each in forms_])
        if playground:
            one, other = playground.people
            # With equal random values, only their contexts make a difference.
            playground.people[1] = replace(other, chance=one.chance)
            result = _compared(playground, place, choices)
    page = render_template(
        "delivery/playground/compare.html",
        people=forms_,
        choices=choices,
        place=place,
        faults=faults,
        fields=[each.name for each in fields],
        **result,
    )
    return page, 400 if faults else 200


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
