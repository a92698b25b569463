"""Accounts of people who come from a provider or a proxy: find, link or create them."""

from collections.abc import Collection
from dataclasses import dataclass

import sqlalchemy as sa

from app.access.groups import service as groups
from app.access.groups.models import Group
from app.accounts import identities, usernames
from app.accounts import service as accounts
from app.accounts.models import PROXY, Account, AccountKind, Identity, key_of
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.config import Settings
from app.core.db import db
from app.core.errors import DomainError, Invalid
from app.core.permissions import Role

ASK = "Ask an Admin."


class SignOnRefused(DomainError):
    """The provider confirms who someone is, but they can’t sign in here."""

    status = 403
    name = "SignOnRefused"
    only_on_pages = True
    title = "You can’t sign in"
    when = "Someone signed in at the provider, and has no account here or may not use it."
    remedy = "The message says what to do. An Admin finds the details in the security log."


@dataclass(frozen=True, slots=True)
class Person:
    """A person as ``issuer`` describes them.

    ``email``: verified there. ``groups``: None if it said nothing about groups, so that the
    person’s groups here don’t change.
    """

    issuer: str
    subject: str
    username: str | None
    name: str | None
    email: str | None
    groups: Collection[str] | None

    @property
    def is_of_proxy(self) -> bool:
        return self.issuer == PROXY

    @property
    def label(self) -> str:
        return self.username or self.email or self.subject


def account_of(person: Person, settings: Settings, ip: str | None) -> tuple[Account, Identity]:
    """Find, link or create the person’s account, and update the roles that their groups give.

    Raises:
        SignOnRefused: if they have none and get none, or may not use it.

    """
    actor = Actor(id=None, username="single sign-on", role=Role.ADMIN, ip=ip)
    identity = identities.find(person.issuer, person.subject)
    if identity is None:
        account = _known(person, settings) or _created(actor, person, settings)
        identity = identities.link(actor, account, person.issuer, person.subject)
    account = db.session.get_one(Account, identity.account_id)
    _refuse_unless_active(account)
    identity.last_used_at = utcnow()
    if person.groups is not None:
        groups.claim(actor, account, person.groups)
    return account, identity


def link(actor: Actor, account: Account, person: Person) -> None:
    """Link the account to the person, who can sign in to it from now on.

    Raises:
        SignOnRefused: if the person has another account here already.

    """
    identity = identities.find(person.issuer, person.subject)
    if identity is None:
        identities.link(actor, account, person.issuer, person.subject)
    elif identity.account_id != account.id:
        raise SignOnRefused(f"{person.label} belongs to another account here. {ASK}")


def groups_of(person: Person) -> dict[str, Group | None]:
    """The person’s groups at the provider, by name; None for one that doesn’t exist here."""
    return {name: groups.named(name) for name in person.groups or ()}


def outcome(person: Person, settings: Settings) -> str:
    """Dry run of ``account_of``: what would happen if the person signed in, in a sentence."""
    identity = identities.find(person.issuer, person.subject)
    try:
        if identity is not None:
            account = db.session.get_one(Account, identity.account_id)
            _refuse_unless_active(account)
            return f"They sign in to the account {account.label}, which is linked to them."
        known = _known(person, settings)
        if known is not None:
            return f"They get the account {known.label}, which is linked to them at that moment."
        _refuse_unless_created(person, settings)
    except SignOnRefused as error:
        return f"They can’t sign in. {error.message}"
    return "They get a new account."


def _known(person: Person, settings: Settings) -> Account | None:
    """An account to link: one from the directory or, if the settings allow it, a matching one."""
    account = None if person.is_of_proxy else _provisioned(person)
    if account is None and settings.sign_on_link:
        account = _matching(person)
    if account is None:
        return None
    _refuse_unless_active(account)
    if any(identity.issuer == person.issuer for identity in identities.of_account(account.id)):
        raise SignOnRefused(
            f"The account {account.label} is linked to someone else there already. {ASK}"
        )
    return account


def _provisioned(person: Person) -> Account | None:
    """The account from the directory whose external id is the provider’s subject."""
    return db.session.scalar(
        sa.select(Account).where(
            Account.external_id == person.subject,
            Account.scim_id.is_not(None),
            Account.deleted_at.is_(None),
        )
    )


def _matching(person: Person) -> Account | None:
    """The account with the person’s verified e-mail or, from a proxy, with their user name.

    A user name from a provider doesn’t count: people can often choose it there.
    """
    same = []
    if person.email is not None:
        same.append(Account.email_key == key_of(person.email))
    if person.is_of_proxy and person.username is not None:
        same.append(Account.username_key == key_of(person.username))
    query = sa.select(Account).where(
        sa.or_(sa.false(), *same),
        Account.kind == AccountKind.PERSON,
        Account.deleted_at.is_(None),
    )
    matches = list(db.session.scalars(query.limit(2)))
    if len(matches) > 1:
        raise SignOnRefused(
            f"The user name and the e-mail address of {person.label} belong to different accounts "
            f"here. {ASK}"
        )
    return matches[0] if matches else None


def _created(actor: Actor, person: Person, settings: Settings) -> Account:
    username = _refuse_unless_created(person, settings)
    if username is None and person.email is None:
        username = person.subject[:200]
    try:
        return accounts.create(
            actor, root_role=Role.VIEWER, username=username, email=person.email, name=person.name
        )
    except Invalid as error:
        raise SignOnRefused(
            f"No account can be made for {person.label}: {error.message} {ASK}"
        ) from None


def _refuse_unless_created(person: Person, settings: Settings) -> str | None:
    """The user name for the person’s new account; None if theirs can’t be used.

    Raises:
        SignOnRefused: if the person gets no account.

    """
    if settings.sign_on_create == "none" or (
        settings.sign_on_create == "group" and not _has_role_by_group(person)
    ):
        raise SignOnRefused(
            f"There is no account for {person.label} here. {ASK} If you have an account with a "
            "password, sign in with it and link it under “My account”."
        )
    username = _free_username(person)
    email = person.email
    if email is not None and accounts.named(email) is not None:
        raise SignOnRefused(
            f"There is an account with {email} here that isn’t linked to you. Sign in with its "
            f"password and link it under “My account”, or ask an Admin."
        )
    return username


def _has_role_by_group(person: Person) -> bool:
    found = (groups.named(name) for name in person.groups or ())
    return any(group and (group.root_role or group.projects) for group in found)


def _free_username(person: Person) -> str | None:
    """The person’s user name, if it is valid and free here; else None.

    Raises:
        SignOnRefused: if it comes from a proxy and is taken here.

    """
    name = person.username
    if name is None or usernames.fault(name) is not None:
        return None
    if accounts.named(name) is None:
        return name
    if person.is_of_proxy:
        raise SignOnRefused(
            f"There is an account {name} here that isn’t linked to you. Sign in with its password "
            "and link it under “My account”, or ask an Admin."
        )
    return None


def _refuse_unless_active(account: Account) -> None:
    if account.deleted_at is not None:
        raise SignOnRefused(f"Your account was deleted. {ASK}")
    if account.deactivated_at is not None:
        raise SignOnRefused(f"Your account is deactivated in your organisation’s directory. {ASK}")
