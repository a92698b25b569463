"""Selecting many features: in a list, by pasted names, or all that match a filter.

A selection is of one project, or with ``project_id`` None of all that its reader can see.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

import sqlalchemy as sa

from app.catalogue.features import queries
from app.catalogue.features.models import Selection
from app.catalogue.features.queries import Found
from app.catalogue.projects import service as projects
from app.catalogue.projects.queries import visible_projects
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db, insert_if_absent
from app.core.errors import NotFound
from app.core.words import is_key

RETENTION = timedelta(days=90)
LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class ResolvedSelection:
    """What the names of a selection refer to now; each list is sorted.

    ``found`` are features where the selection is from, archived or not; ``elsewhere`` features of
    other projects that the actor can see; ``unknown`` the rest.
    """

    id: str
    found: dict[str, Found]
    elsewhere: list[str]
    unknown: list[str]

    @property
    def names(self) -> list[str]:
        """The names of the features that were found."""
        return sorted(self.found)

    @property
    def all_names(self) -> list[str]:
        """The names as they were selected."""
        return [*self.found, *self.left_out]

    @property
    def left_out(self) -> list[str]:
        """The names that were not found where the selection is from."""
        return self.unknown + self.elsewhere

    @property
    def active(self) -> list[str]:
        return [name for name in self.names if not self.found[name].is_archived]

    @property
    def archived(self) -> list[str]:
        return [name for name in self.names if self.found[name].is_archived]


def pasted(text: str) -> list[str]:
    """The names in a pasted text: lines, words, or the cells of a CSV file."""
    words = (word.strip("\"'") for word in re.split(r"[\s,;]+", text))
    return [word[:LONGEST_NAME] for word in words if word and word.isprintable()]


def save(actor: Actor, project_id: str | None, names: Iterable[str]) -> str:
    """Store the names and return the id. Delete all selections unused for RETENTION."""
    _require(actor, project_id)
    ordered = sorted(set(names))
    id = sha256("\n".join([project_id or "", *ordered]).encode()).hexdigest()[:32]
    now = utcnow()
    db.session.execute(sa.delete(Selection).where(Selection.used_at < now - RETENTION))
    values = {"id": id, "project_id": project_id, "names": ordered, "used_at": now}
    db.session.execute(insert_if_absent(Selection).values(values))
    db.session.execute(sa.update(Selection).where(Selection.id == id).values(used_at=now))
    return id


def change(
    actor: Actor, project_id: str | None, id: str, *, plus: Collection[str], minus: Collection[str]
) -> str:
    """Store the selection with ``plus`` added and ``minus`` removed. Return the new id."""
    names = get(actor, project_id, id).all_names
    return save(actor, project_id, {*names, *plus}.difference(minus))


def get(actor: Actor, project_id: str | None, id: str) -> ResolvedSelection:
    """The selection, with its names looked up.

    Raises:
        NotFound: for an id of another project, or one that was deleted.

    """
    names = names_of(actor, project_id, id)
    if names is None:
        raise NotFound("This selection no longer exists. Choose the features again.")
    possible = [name for name in names if is_key(name)]
    if project_id is None:
        found = queries.find_in(visible_projects(actor), possible)
    else:
        found = queries.find(project_id, possible)
    missing = set(names) - set(found)
    elsewhere = queries.exist_elsewhere(visible_projects(actor), missing.intersection(possible))
    return ResolvedSelection(id, found, sorted(elsewhere), sorted(missing - elsewhere))


def names_of(actor: Actor, project_id: str | None, id: str) -> list[str] | None:
    """The names of a selection as they were selected; None for an unknown one."""
    _require(actor, project_id)
    query = sa.select(Selection.names).where(Selection.id == id, Selection.project_id == project_id)
    return db.session.scalar(query)


def _require(actor: Actor, project_id: str | None) -> None:
    if project_id is not None:
        projects.require(actor, project_id)
