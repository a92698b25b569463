"""An organisation to look at, made by the services as any other would be.

Chance decides by a fixed seed: whoever follows a guide sees the same names as its author.
"""

import re
import sys
import unicodedata
from datetime import datetime, timedelta
from random import Random
from typing import Any

import click
import sqlalchemy as sa

from app.accounts import inactive
from app.accounts import service as accounts
from app.accounts.models import Account, AccountKind
from app.archive import service as archive
from app.cli import demo_data as data
from app.cli.instance import change
from app.core.actor import COMMAND_LINE
from app.core.db import db, utcnow
from app.core.errors import Conflict
from app.core.permissions import DEFAULT_PROJECT, Role
from app.core.settings import current_settings
from app.environments import service as environments
from app.environments.models import EnvironmentType
from app.features import service as features
from app.features import tagging
from app.features.models import Dependency, Feature
from app.projects import service as projects
from app.projects.models import Project
from app.service_accounts import service as service_accounts
from app.tags import service as tags
from app.tags.models import Tag, TagName
from app.tokens import service as tokens
from app.tokens.secrets import TokenKind

STAGING, PRODUCTION = "staging", "production"
OWNERS, ARCHIVED, PARENTS, CHILDREN = 2, 2, 3, 8
"""Of each project; the one named default has no dependencies."""


@click.command()
def demo() -> None:
    """Fill an empty instance with a believable organisation."""
    with change():
        _refuse_unless_empty()
        chance = Random(data.DOMAIN)  # noqa: S311 - names for a demonstration, not secrets
        people = _people(chance)
        _service_accounts(chance)
        _words()
        quiet = not sys.stdout.isatty()
        with click.progressbar(data.PLANS, label="Projects", show_pos=True, hidden=quiet) as plans:
            for number, plan in enumerate(plans):
                _project(chance, plan, people)
                names = _features(chance, plan)
                _tags(chance, plan, number, names)
                _ties(chance, plan, names)
        report = _report(people[0])
    click.echo(report)


def _refuse_unless_empty() -> None:
    found = {
        "projects": _count(Project, Project.id != DEFAULT_PROJECT),
        "features": _count(Feature),
        "people": _count(Account, Account.kind == AccountKind.PERSON),
    }
    if any(found.values()):
        there = ", ".join(f"{number} {what}" for what, number in found.items() if number)
        raise Conflict(f"The demo is for an empty instance; this one has {there}. It is unchanged.")


def _people(chance: Random) -> list[Account]:
    """Everybody, the Admins first; all Admins were here lately."""
    special = [*data.INACTIVE, *data.ACTIVE_BY_TOKEN, *data.INVITED]
    usual = [_usual(chance) for _ in range(len(data.PEOPLE) - len(special))]
    rest = usual[data.ADMINS :] + special
    chance.shuffle(rest)
    habits = usual[: data.ADMINS] + rest
    return [
        _person(chance, name, _role(index), habit)
        for index, (name, habit) in enumerate(zip(data.PEOPLE, habits, strict=True))
    ]


def _usual(chance: Random) -> data.Habit:
    return data.Habit(chance.randint(100, 1_400), chance.choice((0, 0, 1, 1, 2, 4, 9, 23, 48, 90)))


def _role(index: int) -> Role:
    if index < data.ADMINS:
        return Role.ADMIN
    return Role.EDITOR if index < data.ADMINS + data.EDITORS else Role.VIEWER


def _person(chance: Random, name: str, role: Role, habit: data.Habit) -> Account:
    username = _username(name)
    person = accounts.create(
        COMMAND_LINE,
        root_role=role,
        username=username,
        email=f"{username}@{data.DOMAIN}",
        name=name,
    )
    person.created_at = _ago(chance, habit.created)
    if habit.sign_in is not None:
        person.last_sign_in_at = _ago(chance, habit.sign_in)
    if habit.token_use is not None:
        kind = TokenKind.PERSONAL
        token = tokens.issue(COMMAND_LINE, person.id, kind, description="my scripts").token
        token.created_at = person.created_at + timedelta(days=1)
        token.last_seen_at = _ago(chance, habit.token_use)
    return person


def _service_accounts(chance: Random) -> None:
    for name, role, keys in data.ROBOTS:
        account = service_accounts.create(COMMAND_LINE, root_role=role, name=name).account
        account.created_at = _ago(chance, max(key.created for key in keys) + 1)
        for key in keys:
            ends = None if key.expires is None else utcnow() + timedelta(days=key.expires)
            ahead = ends if ends and ends > utcnow() else None
            token = service_accounts.issue_token(
                COMMAND_LINE, account.id, description=key.description, expires_at=ahead
            ).token
            token.expires_at = ends
            token.created_at = _ago(chance, key.created)
            token.last_seen_at = None if key.used is None else _ago(chance, key.used)


def _words() -> None:
    """The environment and the tag types beyond those that every instance begins with."""
    if STAGING not in environments.all_names():
        environments.create(COMMAND_LINE, name=STAGING, type=EnvironmentType.PREPRODUCTION)
    for name in sorted(tags.unknown_types(set(data.TAG_TYPES))):
        description, hue = data.TAG_TYPES[name]
        tags.create_type(COMMAND_LINE, name=name, description=description, hue=hue)


def _project(chance: Random, plan: data.Plan, people: list[Account]) -> None:
    about: Any = {"name": plan.name, "description": plan.description, "mode": plan.mode}
    if plan.id != DEFAULT_PROJECT:
        rules: list[projects.ApprovalRule] = []
        if plan.approvals is not None:
            rules = [{"name": PRODUCTION, "required_approvals": plan.approvals}]
        projects.create(COMMAND_LINE, id=plan.id, change_request_environments=rules, **about)
    project = projects.get_for_change(COMMAND_LINE, plan.id)
    project.created_at = _ago(chance, chance.randint(800, 1_400))
    projects.update(COMMAND_LINE, project, **about)
    chosen = [person.id for person in chance.sample(people[data.ADMINS :], chance.randint(6, 11))]
    roles = dict.fromkeys(chosen, Role.MEMBER) | dict.fromkeys(chosen[:OWNERS], Role.OWNER)
    projects.set_members(COMMAND_LINE, project, roles)


def _features(chance: Random, plan: data.Plan) -> list[str]:
    """The names of the project's new features."""
    ideas = [(subject, change) for subject in plan.subjects for change in data.CHANGES]
    names = []
    for subject, (suffix, type, text) in chance.sample(ideas, plan.features):
        age = chance.randint(1, 700)
        feature = features.create(
            COMMAND_LINE,
            plan.id,
            name=f"{plan.id}.{subject}.{suffix}",
            type=type,
            description=text.format(f"the {subject.replace('-', ' ')}"),
            stale=age > 400 and chance.random() < 0.5,  # noqa: PLR2004 - as old as a forgotten one
            impression_data=suffix == "ab-test",
        ).feature
        feature.created_at = _ago(chance, age)
        names.append(feature.name)
    return names


def _tags(chance: Random, plan: data.Plan, number: int, names: list[str]) -> None:
    """A team for every feature; a ticket, a risk and topics for some."""
    half = len(names) // 2
    first = 100 + number * data.TICKETS_A_PROJECT
    carried = {
        TagName("team", plan.teams[0]): names[:half],
        TagName("team", plan.teams[1]): names[half:],
    }
    for ticket in range(first, first + data.TICKETS_A_PROJECT):
        carried[TagName("ticket", f"LARK-{ticket}")] = chance.sample(names, chance.randint(1, 4))
    mixed = chance.sample(names, len(names))
    for index, risk in enumerate(data.RISKS):
        carried[TagName("risk", risk)] = mixed[index :: len(data.RISKS) + 1]
    for index, topic in enumerate(data.TOPICS):
        if index % len(data.PLANS) in {number, (number + 1) % len(data.PLANS)}:
            carried[TagName("simple", topic)] = chance.sample(names, chance.randint(2, 6))
    for tag, bearers in carried.items():
        tagging.change(COMMAND_LINE, plan.id, features=bearers, added=[tag], removed=[])


def _ties(chance: Random, plan: data.Plan, names: list[str]) -> None:
    """Some depend on others; some that none depends on are put away."""
    mixed = chance.sample(names, len(names))
    archive.archive(COMMAND_LINE, plan.id, mixed[-ARCHIVED:])
    if plan.id == DEFAULT_PROJECT:
        return
    parents, children = mixed[:PARENTS], mixed[PARENTS : PARENTS + CHILDREN]
    for place, child in enumerate(children):
        features.add_dependency(COMMAND_LINE, plan.id, child, parents[place % PARENTS])


def _report(admin: Account) -> str:
    threshold = current_settings().inactivity
    return (
        f"Made {_count(Project)} projects with {_count(Feature)} features, {_count(Dependency)} "
        f"dependencies and {_count(Tag)} tags,\n"
        f"{_count(Account, Account.kind == AccountKind.PERSON)} people, of whom "
        f"{inactive.search(after=threshold, limit=1, offset=0).total} are inactive, and "
        f"{_count(Account, Account.kind == AccountKind.SERVICE)} service accounts.\n"
        "Next, make a token for an Admin and start the server:\n"
        f'  flagstaff token create {admin.username} --description "first look"\n'
        "  flagstaff serve"
    )


def _count(model: type[Any], *conditions: sa.ColumnElement[bool]) -> int:
    return db.session.scalar(sa.select(sa.func.count()).select_from(model).where(*conditions)) or 0


def _ago(chance: Random, days: int) -> datetime:
    """A moment within the day that was so many days ago."""
    return utcnow() - timedelta(days=days, minutes=chance.randrange(1, 1_440))


def _username(name: str) -> str:
    """``Mei-Ling Chén`` -> ``mei.ling.chen``"""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub("[^a-z]+", ".", plain.lower())
