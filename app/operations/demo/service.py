"""Fill an instance with a made-up organisation and its history, through the usual services.

The random generators have fixed seeds, so that everyone sees the names that a guide shows.
"""

from datetime import timedelta
from functools import partial
from random import Random
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.access.users import inactive
from app.accounts.models import Account, AccountKind
from app.catalogue.context import service as context
from app.catalogue.context.models import LegalValue
from app.catalogue.environments import service as environments
from app.catalogue.environments.models import EnvironmentType
from app.catalogue.favourites import service as favourites
from app.catalogue.feature_types import service as feature_types
from app.catalogue.features.models import Dependency, Feature
from app.catalogue.projects.models import Project
from app.catalogue.sdk_tokens.models import SdkToken
from app.catalogue.segments import service as segments
from app.catalogue.strategies import custom as strategy_types
from app.catalogue.tags import service as tags
from app.catalogue.tags.models import Tag
from app.catalogue.usage.models import Application
from app.core.clock import utcnow
from app.core.db import db
from app.core.errors import Conflict
from app.core.permissions import DEFAULT_PROJECT, Permission
from app.operations.demo import data
from app.operations.demo.change_requests import ChangeRequests
from app.operations.demo.diary import Diary
from app.operations.demo.people import (
    BEGAN,
    record_sign_ins,
    schedule_people,
    schedule_service_accounts,
)
from app.operations.demo.projects import ProjectHistory
from app.operations.demo.releases import Releases
from app.operations.demo.usage import Applications
from app.operations.upkeep.progress import Progress
from app.portal.saved_filters import service as saved_filters

STAGING = "staging"


class Filled(NamedTuple):
    """``report``: what there is now, in words; ``admin``: the user name of one."""

    report: str
    admin: str


def fill(inactivity: timedelta, progress: Progress) -> Filled:
    """Fill the empty database with the organisation.

    ``inactivity``: how long without activity until people count as inactive.
    """
    _refuse_unless_empty()
    diary = Diary(Random(data.DOMAIN))  # noqa: S311 - names for a demonstration, not secrets
    schedule_people(diary)
    service_accounts = schedule_service_accounts(diary)
    diary.add(BEGAN + 1, _install)
    diary.add(BEGAN - 2, partial(_first_steps, diary))
    for number, plan in enumerate(data.PLANS):
        ProjectHistory(diary, plan, number, service_accounts).schedule()
    ChangeRequests(diary).schedule()
    Releases(diary).schedule()
    applications = Applications(diary)
    applications.schedule()
    diary.perform(progress)
    applications.report()
    record_sign_ins(diary)
    _add_favourites(diary)
    return Filled(_report(inactivity), diary.people[0].username)


def _refuse_unless_empty() -> None:
    found = {
        "projects": _count(Project, Project.id != DEFAULT_PROJECT),
        "features": _count(Feature),
        "people": _count(Account, Account.kind == AccountKind.PERSON),
    }
    if any(found.values()):
        there = ", ".join(f"{number} {what}" for what, number in found.items() if number)
        raise Conflict(f"The demo is for an empty instance; this one has {there}. It is unchanged.")


def _install() -> None:
    """Date back the project that every instance begins with."""
    db.session.get_one(Project, DEFAULT_PROJECT).created_at = utcnow()


def _first_steps(diary: Diary) -> None:
    """Create an environment, context fields, segments, strategy types and tag types."""
    actor = diary.someone(Permission.ADMIN)
    if STAGING not in environments.all_names():
        environments.create(
            actor, name=STAGING, type=EnvironmentType.PREPRODUCTION, sort_order=1
        )  # after development, before production
    for name, (about, stickiness, values) in data.CONTEXT_FIELDS.items():
        legal = [LegalValue(value=value, description=means) for value, means in values.items()]
        context.create(
            actor, name=name, description=about, stickiness=stickiness, legal_values=legal
        )
    for name, (about, constraints) in data.SEGMENTS.items():
        segments.create(actor, name=name, description=about or None, constraints=constraints)
    for name, (who, parameters) in data.STRATEGY_TYPES.items():
        strategy_types.create(actor, name=name, description=who, parameters=parameters)
    for name in sorted(tags.unknown_types(set(data.TAG_TYPES))):
        description, hue = data.TAG_TYPES[name]
        tags.create_type(actor, name=name, description=description, hue=hue)
    feature_types.set_lifetimes(actor, data.LIFETIMES)


def _add_favourites(diary: Diary) -> None:
    actor = diary.people[0].actor
    favourites.add(actor, "checkout")
    for name in ("checkout.address-form.v2", "checkout.basket.ab-test"):
        favourites.add(actor, "checkout", name)
    for name, query in (("Ready to archive", "staleProposal=any"), ("On trial", "type=experiment")):
        saved_filters.create(actor, name=name, path="/features", query=query)


def _report(inactivity: timedelta) -> str:
    return (
        f"Created {_count(Project)} projects with {_count(Feature)} features, {_count(Dependency)} "
        f"dependencies and {_count(Tag)} tags,\n"
        f"{_count(Account, Account.kind == AccountKind.PERSON)} people, of whom "
        f"{inactive.search(after=inactivity, limit=1, offset=0).total} are inactive, and "
        f"{_count(Account, Account.kind == AccountKind.SERVICE)} service accounts.\n"
        f"{_count(Application)} applications ask for features with {_count(SdkToken)} SDK tokens."
    )


def _count(model: type[Any], *conditions: sa.ColumnElement[bool]) -> int:
    return db.session.scalar(sa.select(sa.func.count()).select_from(model).where(*conditions)) or 0
