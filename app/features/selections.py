"""Choosing many features: by hand, by a pasted list, or all that match."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.db import db, insert_if_absent, utcnow
from app.core.errors import NotFound
from app.core.schemas import is_key
from app.features import queries
from app.features.models import Selection
from app.features.queries import Found
from app.projects import service as projects
from app.projects.queries import visible_projects

KEPT = timedelta(days=90)
LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the names of a selection mean today, each list sorted.

    ``found`` are features of the project, archived or not; ``elsewhere`` features of others that
    the actor may know of; ``unknown`` the rest.
    """

    id: str
    found: dict[str, Found]
    elsewhere: list[str]
    unknown: list[str]

    @property
    def names(self) -> list[str]:
        """The features of the project among the names."""
        return sorted(self.found)

    @property
    def archived(self) -> list[str]:
        return [name for name in self.names if self.found[name].is_archived]


def pasted(text: str) -> list[str]:
    """The names in a pasted text: lines, words, or the cells of a CSV file."""
    words = (word.strip("\"'") for word in re.split(r"[\s,;]+", text))
    return [word[:LONGEST_NAME] for word in words if word and word.isprintable()]


def keep(actor: Actor, project_id: str, names: Iterable[str]) -> str:
    """Give these names an address; those that nobody used for long are forgotten."""
    projects.require(actor, project_id)
    ordered = sorted(set(names))
    id = sha256("\n".join([project_id, *ordered]).encode()).hexdigest()[:32]
    now = utcnow()
    db.session.execute(sa.delete(Selection).where(Selection.used_at < now - KEPT))
    values = {"id": id, "project_id": project_id, "names": ordered, "used_at": now}
    db.session.execute(insert_if_absent(Selection).values(values))
    db.session.execute(sa.update(Selection).where(Selection.id == id).values(used_at=now))
    return id


def change(
    actor: Actor, project_id: str, id: str, *, plus: Collection[str], minus: Collection[str]
) -> str:
    """The address of the selection with some more and without some others."""
    return keep(actor, project_id, (set(_names(actor, project_id, id)) | set(plus)) - set(minus))


def get(actor: Actor, project_id: str, id: str) -> Chosen:
    """What was chosen, looked up anew.

    Raises:
        NotFound: for an id that is not of this project, or was forgotten.

    """
    names = _names(actor, project_id, id)
    possible = [name for name in names if is_key(name)]
    found = queries.find(project_id, possible)
    missing = set(names) - set(found)
    elsewhere = queries.exist_elsewhere(visible_projects(actor), missing.intersection(possible))
    return Chosen(id, found, sorted(elsewhere), sorted(missing - elsewhere))


def _names(actor: Actor, project_id: str, id: str) -> list[str]:
    projects.require(actor, project_id)
    query = sa.select(Selection.names).where(Selection.id == id, Selection.project_id == project_id)
    names = db.session.scalar(query)
    if names is None:
        raise NotFound("This selection of features is unknown or too old; choose them again.")
    return names
