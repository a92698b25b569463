"""Who would get which feature, and why. Nothing is changed or counted."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from app.catalogue.environments import service as environments
from app.catalogue.projects.models import Project
from app.catalogue.projects.queries import visible_projects
from app.core.actor import Actor
from app.core.db import db
from app.core.errors import Detail, Invalid
from app.core.words import counted
from app.delivery.playground import queries
from app.delivery.playground.queries import Place, Snapshot
from app.evaluation.explain import Answers, Reasons
from app.evaluation.facts import Explanation, FeatureResult
from app.evaluation.person import Person

MOST_EXPLAINED, MOST_ANSWERS, MOST_PLACES = 6_000, 20_000, 6_000
"""Limits of one request: answers with reasons, answers without, and features in environments.

Each of them takes 2 to 3 seconds of CPU time.
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: does this person get the feature in this environment?"""

    place: Place
    person: Person


class Playground:
    """Evaluates features in several environments, for several people.

    ``people``: for each person, values by the name of the context field. ``only``: the one feature
    that is asked for; others are read too, since one may be its parent.
    """

    def __init__(
        self,
        environments: Sequence[str],
        snapshot: Snapshot,
        people: Sequence[Mapping[str, str]],
        only: str | None = None,
    ) -> None:
        self.environments = environments
        self.projects = {
            name: project_id
            for name, project_id in snapshot.projects.items()
            if only in {None, name}
        }
        self.features = snapshot.features
        self._segments = snapshot.segments
        self._answers = {each: self._answers_in(each) for each in environments}
        names = {name for each in self.features.values() for name in each.sticky_by}
        self.people = [Person(each, frozenset(names)) for each in people]

    def where(self, feature: str) -> list[Place]:
        """Return the feature in each of the environments that its project uses."""
        places = [Place(each, feature) for each in self.environments]
        return [place for place in places if place in self.features]

    def is_on(self, place: Place, person: Person) -> bool:
        return self._answers[place.environment].is_on(place.feature, person)

    def answer(self, place: Place, person: Person) -> FeatureResult:
        return self._answers[place.environment].answer(place.feature, person)

    def explain(self, asked: Sequence[Asked]) -> list[Explanation]:
        """Return the explanation of each question, in their order."""
        features = {each.place: self.features[each.place] for each in asked}
        reasons = Reasons(features, self._segments)
        return reasons.explain(
            [(each.place, self.answer(each.place, each.person), each.person) for each in asked]
        )

    def _answers_in(self, environment: str) -> Answers:
        found = [each for place, each in self.features.items() if place.environment == environment]
        return Answers(found, self._segments)


def ask(
    actor: Actor,
    *,
    environments: Sequence[str],
    projects: Collection[str] | None,
    people: Sequence[Mapping[str, str]],
    only: str | None = None,
    most: int = MOST_ANSWERS,
) -> Playground:
    """Read the features to ask about. ``projects``: None for all that the actor can see.

    Raises:
        Invalid: for an unknown project or environment, and for more than ``most`` answers.

    """
    _refuse_unknown(actor, environments, projects)
    snapshot = queries.read(actor, environments, projects)
    places = len(snapshot.features)
    number = places * len(people)
    if number > most or places > MOST_PLACES:
        features = counted(len(snapshot.projects), "feature")
        of_one = f", and {MOST_PLACES:,} for one combination" if most > MOST_PLACES else ""
        raise Invalid.at(
            "",
            f"{features} in {counted(len(environments), 'environment')} for "
            f"{counted(len(people), 'combination')} of values are too many: {number:,} answers. "
            "Name fewer projects, environments or values, to have at most "
            f"{most:,} of them{of_one}.",
        )
    return Playground(environments, snapshot, people, only)


def _refuse_unknown(
    actor: Actor, names: Iterable[str], project_ids: Collection[str] | None
) -> None:
    known = set(environments.all_names())
    problems: list[Detail] = [
        {"path": f"/environments/{place}", "message": f"There is no environment named {name!r}."}
        for place, name in enumerate(names)
        if name not in known
    ]
    if project_ids is not None:
        seen = visible_projects(actor).where(Project.id.in_(project_ids))
        found = set(db.session.scalars(seen))
        problems += [
            {"path": f"/projects/{place}", "message": f"There is no project with the id {id!r}."}
            for place, id in enumerate(project_ids)
            if id not in found
        ]
    if problems:
        raise Invalid.because(problems)


MOST_PEOPLE = 100
ONE_VALUE = frozenset({"currentTime"})
"""Fields whose value isn't split at commas."""


def people(given: Mapping[str, str], path: str = "/context") -> list[dict[str, str]]:
    """Return every combination of the comma-separated values, in order. Empty ones are left out.

    Raises:
        Invalid: for more than MOST_PEOPLE.

    """
    values = {name: _split(name, value) for name, value in given.items()}
    some = {name: each for name, each in values.items() if each}
    number = prod(map(len, some.values()))
    if number > MOST_PEOPLE:
        raise Invalid.at(
            path,
            f"These values make {number:,} combinations. Leave at most {MOST_PEOPLE}: each comma "
            "multiplies them.",
        )
    return [dict(zip(some, each, strict=True)) for each in product(*some.values())]


def _split(name: str, value: str) -> list[str]:
    parts = [value] if name in ONE_VALUE else value.split(",")
    return list(dict.fromkeys(part.strip() for part in parts if part.strip()))
