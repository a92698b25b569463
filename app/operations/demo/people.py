"""The people and service accounts of the demo: when they are created, and last act."""

import re
import unicodedata
from datetime import datetime, timedelta
from functools import partial
from ipaddress import IPv4Address

from app.access.auth.attempts import HISTORY
from app.access.auth.models import SignIn
from app.access.service_accounts import service as service_accounts
from app.accounts import passwords
from app.accounts import service as accounts
from app.accounts.models import Account
from app.accounts.tokens import service as tokens
from app.accounts.tokens.secrets import TokenKind
from app.core import clock, secrets
from app.core.actor import COMMAND_LINE
from app.core.db import db, insert_all
from app.core.networks import network_of
from app.core.permissions import Permission, Role
from app.operations.demo import data
from app.operations.demo.diary import Colleague, Diary

BEGAN = 1_510
"""How many days ago the first Admin was created."""

OFFICE = IPv4Address("10.20.0.0")
DAY = timedelta(days=1)


def schedule_people(diary: Diary) -> None:
    """Schedule the creation of all people: the Admins, a founder per project, the others."""
    founders = len(data.PLANS)
    habits = [data.Habit(BEGAN - n, 0) for n in (0, 10, 20)[: data.ADMINS]]
    habits += [_usual(diary, 1_410, 1_480) for _ in range(founders)]
    others = [*data.INACTIVE, *data.ACTIVE_BY_TOKEN, *data.INVITED]
    usual = len(data.PEOPLE) - len(habits) - len(others)
    others += [_usual(diary, 100, 1_400) for _ in range(usual)]
    diary.chance.shuffle(others)
    for index, (name, habit) in enumerate(zip(data.PEOPLE, habits + others, strict=True)):
        diary.people.append(_person(diary, name, _role(index), habit))


def schedule_service_accounts(diary: Diary) -> dict[str, Colleague]:
    """Schedule the creation of service accounts and tokens; each acts with its first token."""
    return {
        script.name: _service_account(diary, number, script)
        for number, script in enumerate(data.SERVICE_ACCOUNTS)
    }


def record_sign_ins(diary: Diary) -> None:
    """Record sign-ins of all people: on the days on which they acted, and some in between.

    They have a password that no one knows.
    """
    password = passwords.hasher.hash(secrets.generate())
    for person in diary.people:
        if person.until is not None:
            account = db.session.get_one(Account, person.id)
            account.last_sign_in_at, account.password_hash = person.until, password
            common = {
                "account_id": person.id,
                "ip": person.ip,
                "network": network_of(person.ip),
                "succeeded": True,
            }
            insert_all(
                [common | {"at": at} for at in _sign_ins(diary, person, person.until)], SignIn
            )


def _usual(diary: Diary, *created: int) -> data.Habit:
    signed_in = diary.chance.choice((0, 0, 1, 1, 2, 4, 9, 23, 48, 90))
    return data.Habit(diary.chance.randint(*created), signed_in)


def _role(index: int) -> Role:
    if index < data.ADMINS:
        return Role.ADMIN
    return Role.EDITOR if index < data.ADMINS + data.EDITORS else Role.VIEWER


def _person(diary: Diary, name: str, role: Role, habit: data.Habit) -> Colleague:
    person = Colleague(
        username=_username(name),
        name=name,
        role=role,
        created=habit.created,
        since=diary.moment(habit.created) + DAY,
        until=None if habit.sign_in is None else diary.moment(habit.sign_in),
        ip=str(OFFICE + len(diary.people) + 1),
    )
    diary.add(habit.created, partial(_create, diary, person))
    if habit.token_use is not None:
        used = diary.moment(habit.token_use)
        diary.add(habit.created - 2, partial(_issue_personal_token, person, used))
    return person


def _create(diary: Diary, person: Colleague) -> None:
    is_first = person is diary.people[0]
    person.id = accounts.create(
        COMMAND_LINE if is_first else diary.someone(Permission.ADMIN),
        root_role=person.role,
        username=person.username,
        email=f"{person.username}@{data.DOMAIN}",
        name=person.name,
    ).id


def _issue_personal_token(person: Colleague, used: datetime) -> None:
    actor = person.act() if person.is_there else COMMAND_LINE
    issued = tokens.issue(actor, person.account_id, TokenKind.PERSONAL, description="my scripts")
    with clock.at(used):
        tokens.note_use(issued.token.id)


def _service_account(diary: Diary, number: int, script: data.ServiceAccount) -> Colleague:
    first, *_ = script.keys
    created = max(key.created for key in script.keys) + 1
    account = Colleague(
        username="",
        role=script.role,
        created=created,
        since=diary.moment(first.created) + DAY,
        until=None if first.used is None else diary.moment(first.used),
        ip=str(OFFICE + 256 + number),
    )

    def create() -> None:
        made = service_accounts.create(
            diary.someone(Permission.ADMIN), root_role=script.role, name=script.name
        ).account
        account.id, account.username = made.id, made.label

    def issue(key: data.Key, used: datetime | None) -> None:
        issued = service_accounts.issue_token(
            diary.someone(Permission.ADMIN),
            account.account_id,
            description=key.description,
            expires_at=None if key.expires is None else diary.now + key.expires * DAY,
        ).token
        if key is first:
            account.token_id = issued.id
        if used is not None:
            with clock.at(used):
                tokens.note_use(issued.id)

    diary.add(created, create)
    for key in script.keys:
        used = None if key.used is None else diary.moment(key.used)
        used = account.until if key is first else used
        diary.add(key.created, partial(issue, key, used))
    return account


def _sign_ins(diary: Diary, person: Colleague, until: datetime) -> list[datetime]:
    """Times of sign-ins: the last, one just before the first act of each day, and others."""
    first_acts = {at.date(): at for at in sorted(person.acted, reverse=True)}
    found = {until}
    found |= {at - timedelta(minutes=diary.chance.randint(1, 20)) for at in first_acts.values()}
    at = until
    while (at := at - diary.chance.randint(1, 12) * DAY) > person.since:
        found.add(at - timedelta(minutes=diary.chance.randint(0, 200)))
    kept_since = diary.now - HISTORY
    return sorted(at for at in found if at > kept_since)


def _username(name: str) -> str:
    """``Mei-Ling Chén`` -> ``mei.ling.chen``"""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub("[^a-z]+", ".", plain.lower())
