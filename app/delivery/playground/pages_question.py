"""Reads the question to a page of the playground from the query string or the form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from marshmallow import ValidationError

from app.catalogue.environments import service as environments
from app.catalogue.environments.models import EnvironmentType
from app.catalogue.projects import service as projects
from app.core.errors import Invalid
from app.delivery.playground import schemas, service
from app.delivery.playground.forms import PersonForm, Sent
from app.delivery.playground.matrix import Only
from app.delivery.playground.service import MOST_EXPLAINED, Playground
from app.delivery.playground.service import people as every_person
from app.web import exports
from app.web.current import current_actor

PROJECTS_SHOWN = 500


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of the form, except for the people, and the chosen ones."""

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
    def of_project(self) -> str:
        """The project in a sentence."""
        name = dict(self.projects).get(self.project or "")
        return f"of {name} " if name else ""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return [(name, name) for name in self.environments]


def choices_in(sent: Sent) -> Choices:
    given = {
        name: sent[name] for name in ("project", "feature", "only", "offset") if sent.get(name)
    }
    faults: dict[str, str] = {}
    try:
        values = schemas.PageQuestion().load(given)
    except ValidationError as error:
        faults = {name: str(found[0]) for name, found in error.messages_dict.items()}
        values = schemas.PageQuestion().load({k: v for k, v in given.items() if k not in faults})
    every = [each for each in environments.list_all() if not each.deprecated]
    names = [each.name for each in every]
    wanted = [name for name in sent.getlist("environment") if name in names]
    production = [each.name for each in every if each.type == EnvironmentType.PRODUCTION]
    return Choices(
        projects=projects.names(current_actor, PROJECTS_SHOWN),
        environments=names,
        production=(production or names or [""])[-1],
        project=values.get("project"),
        chosen=wanted or names,
        feature=values.get("feature"),
        only=values.get("shown"),
        offset=values["offset"],
        faults=faults,
    )


def people_asked(choices: Choices, form: PersonForm) -> tuple[Playground | None, dict[str, str]]:
    try:
        found = every_person(form.values)
    except Invalid as error:
        return None, _faults(error)
    return asked(choices, choices.chosen, found)


def asked(
    choices: Choices, names: Sequence[str], people: Sequence[Mapping[str, str]]
) -> tuple[Playground | None, dict[str, str]]:
    """Return the playground, or None and error messages by the part of the question."""
    chosen = None if choices.project is None else [choices.project]
    try:
        found = service.ask(
            current_actor,
            environments=names,
            projects=chosen,
            people=people,
            only=choices.feature,
            most=MOST_EXPLAINED if exports.wanted() else service.MOST_ANSWERS,
        )
    except Invalid as error:
        return None, _faults(error)
    return found, {}


def _faults(error: Invalid) -> dict[str, str]:
    """Return the error messages by the part of the question."""
    return {
        each["path"].strip("/").partition("/")[0]: each["message"] for each in error.details or []
    }
