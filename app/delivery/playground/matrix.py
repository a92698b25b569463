"""Features down, environments or people across: what the pages of the playground show."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.catalogue.strategies.reasons import Line
from app.core.paging import Page
from app.delivery.playground import words
from app.delivery.playground.queries import Place
from app.delivery.playground.service import Asked, Playground
from app.evaluation.explain import NO_VARIANT
from app.evaluation.facts import Explanation
from app.evaluation.person import Person

ROWS, EXPLAINED = 25, 10
"""Features on a page, and people per row whose answers are explained."""


class Only(StrEnum):
    """The rows to show."""

    ALL = "all"
    ON = "on"
    DIFFERENT = "different"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Cell:
    """``on`` of ``of`` people get the feature. ``note``: the variant, or why they don't."""

    on: int
    of: int
    note: str = ""

    @property
    def words(self) -> str:
        if self.of == 1:
            return "On" if self.on else "Off"
        return f"{self.on} of {self.of}"


@dataclass(frozen=True, slots=True)
class ExplainedAnswer:
    """An answer with its reasons, ``lines``. ``note``: the variant, or why not, in a few words."""

    person: Person
    is_on: bool
    variant: str
    lines: Sequence[Line]
    note: str
    is_for_everyone: bool


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A feature. ``cells`` and ``explained`` are by the title of the column.

    Columns are missing whose environment the feature's project doesn't use.
    """

    feature: str
    project_id: str
    cells: Mapping[str, Cell]
    explained: Mapping[str, Sequence[ExplainedAnswer]]


@dataclass(frozen=True, slots=True)
class Column:
    """``people``: indexes of the people whose answers it shows."""

    title: str
    environment: str
    people: Sequence[int]


Outcomes = dict[str, list[tuple[bool, str]]]
"""(is_on, variant) of each person, by the title of the column."""


class Matrix:
    """Outcomes of all features. Only rows that are shown have reasons, which take far longer."""

    def __init__(self, playground: Playground, columns: Sequence[Column], main: str) -> None:
        self.playground, self.columns, self.main = playground, columns, main
        self.outcomes: dict[str, Outcomes] = {
            feature: found
            for feature in playground.projects
            if (found := self._outcomes_of(feature))
        }

    def features(self, only: Only) -> list[str]:
        return [name for name, found in self.outcomes.items() if _rules[only](found, self.main)]

    def rows(
        self, only: Only, offset: int = 0, limit: int = ROWS, explained: int = EXPLAINED
    ) -> Page[MatrixRow]:
        """Return a page of rows. ``explained``: limit of people per row with reasons."""
        names = self.features(only)
        shown = names[offset : offset + limit]
        asked = {
            (name, column.title): [
                Asked(Place(column.environment, name), self.playground.people[number])
                for number in column.people[:explained]
            ]
            for name in shown
            for column in self.columns
            if column.title in self.outcomes[name]
        }
        flat = [one for each in asked.values() for one in each]
        explanations = iter(self.playground.explain(flat))
        reasons = {
            place: [self._explained(question, next(explanations)) for question in questions]
            for place, questions in asked.items()
        }
        return Page([self._row(name, reasons) for name in shown], len(names), limit, offset)

    def _outcomes_of(self, feature: str) -> Outcomes:
        places = {place.environment: place for place in self.playground.where(feature)}
        return {
            column.title: [
                (answer.is_on, answer.variant)
                for number in column.people
                for answer in [
                    self.playground.answer(
                        places[column.environment], self.playground.people[number]
                    )
                ]
            ]
            for column in self.columns
            if column.environment in places
        }

    def _row(
        self, feature: str, reasons: dict[tuple[str, str], list[ExplainedAnswer]]
    ) -> MatrixRow:
        here = {title: reasons[feature, title] for title in self.outcomes[feature]}
        cells = {
            title: Cell(
                sum(is_on for is_on, _ in found),
                len(found),
                here[title][0].note if len(found) == 1 else "",
            )
            for title, found in self.outcomes[feature].items()
        }
        return MatrixRow(feature, self.playground.projects[feature], cells, here)

    def _explained(self, asked: Asked, explanation: Explanation) -> ExplainedAnswer:
        facts = self.playground.features[asked.place]
        given = asked.person.values
        return ExplainedAnswer(
            asked.person,
            explanation.answer.is_on,
            "" if explanation.answer.variant == NO_VARIANT else explanation.answer.variant,
            words.lines(explanation, facts, asked.place.environment, given),
            words.short(explanation, given),
            words.is_for_everyone(explanation),
        )


def group_equal(people: Sequence[ExplainedAnswer]) -> list[tuple[ExplainedAnswer, int]]:
    """Group people by answer and reason. Return the first of each group, and how many others."""
    found: dict[tuple[bool, str], list[ExplainedAnswer]] = {}
    for each in people:
        found.setdefault((each.is_on, each.note), []).append(each)
    return [(group[0], len(group) - 1) for group in found.values()]


def _is_on(found: Outcomes, main: str) -> bool:
    return any(is_on for is_on, _ in found.get(main, ()))


def _differs(found: Outcomes, _main: str) -> bool:
    return len({tuple(each) for each in found.values()}) > 1


_rules: dict[Only, Callable[[Outcomes, str], bool]] = {
    Only.ALL: lambda _found, _main: True,
    Only.ON: _is_on,
    Only.DIFFERENT: _differs,
    Only.SAME: lambda found, main: not _differs(found, main),
}
