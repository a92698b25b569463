from typing import Any

import click

from app.accounts import inactive, passwords, schemas
from app.accounts import service as accounts
from app.accounts.models import Account, AccountKind
from app.auth import second_factor
from app.cli.commands import (
    ALL,
    Said,
    account_of,
    changing,
    checked,
    reading,
    role_option,
    table,
)
from app.core.actor import Actor
from app.core.errors import Conflict
from app.core.permissions import ROOT_ROLES
from app.core.settings import current_settings

HEADINGS = ("id", "role", "last sign-in", "name")
_name = click.argument("name")
_fields = (
    click.option("--username", help="The name to sign in with."),
    click.option("--email", help="The e-mail address; enough without a username."),
    click.option("--name", "full_name", help="The full name."),
)


def _with_fields(command: Any) -> Any:
    for option in reversed(_fields):
        command = option(command)
    return command


@click.group()
def user() -> None:
    """Manage people. NAME is a username or an e-mail address."""


@user.command("list")
@click.option("--text", help="Part of the username, name or e-mail address.")
@role_option(ROOT_ROLES)
@click.option("--deleted", is_flag=True, help="Those who can be restored instead.")
@reading
def list_users(_actor: Actor, text: str | None, role: int | None, *, deleted: bool) -> Said:
    """List people: id, role, last sign-in, name to sign in with."""
    given = {"text": text, "rootRole": role and str(role), "deleted": str(deleted).lower()}
    page = accounts.search(
        AccountKind.PERSON, **(checked(schemas.UserQuery, given) | {"limit": ALL})
    )
    return Said(schemas.UserList().dump(page), table(HEADINGS, map(_row, page.items)))


@user.command()
@_name
@reading
def show(_actor: Actor, name: str) -> Said:
    """Show one person."""
    account = _person(name)
    return Said(schemas.UserDetail().dump(account), table(HEADINGS, [_row(account)]))


@user.command()
@_with_fields
@role_option(ROOT_ROLES, default="Viewer", show_default=True)
@changing
def create(
    actor: Actor, username: str | None, email: str | None, full_name: str | None, role: int
) -> Said:
    """Create a person and print the one-time link to set the password."""
    given = {"username": username, "email": email, "name": full_name, "rootRole": role}
    account = accounts.create(actor, **checked(schemas.NewUser, given))
    return Said(
        schemas.UserDetail().dump(account),
        f"Created {account.label} with the id {account.id} as {account.role.title}.",
        once={"inviteLink": current_settings().address(passwords.make_link(account))},
        label="Link to set the password, once, within 48 hours: ",
    )


@user.command()
@_name
@_with_fields
@role_option(ROOT_ROLES)
@changing
def update(
    actor: Actor,
    name: str,
    *,
    username: str | None,
    email: str | None,
    full_name: str | None,
    role: int | None,
) -> Said:
    """Change the person NAME; an option that is left out leaves what it is about as it is."""
    account = accounts.get_for_change(_person(name).id)
    given = {"username": username, "email": email, "name": full_name, "rootRole": role}
    accounts.update(actor, account, **checked(schemas.UserChanges, given))
    return Said(schemas.UserDetail().dump(account), table(HEADINGS, [_row(account)]))


@user.command()
@_name
@changing
def delete(actor: Actor, name: str) -> Said:
    """Delete the person NAME; his tokens stop at once. Within 30 days he can be restored."""
    account = accounts.get_for_change(_person(name).id)
    label = account.label
    accounts.remove(actor, account)
    return Said({"id": account.id}, f"Deleted {label}, who had the id {account.id}.")


@user.command()
@click.argument("id", type=click.IntRange(1))
@changing
def restore(actor: Actor, id: int) -> Said:
    """Bring back the person with the number ID (user list --deleted); tokens do not return."""
    account = accounts.restore(actor, id)
    return Said(schemas.UserDetail().dump(account), f"{account.label} is back.")


@user.command("reset-password")
@_name
@changing
def reset_password(_actor: Actor, name: str) -> Said:
    """Print a one-time link by which the person NAME sets a new password."""
    account = _person(name)
    link = current_settings().address(passwords.make_link(account))
    return Said({"id": account.id}, "", once={"link": link})


@user.command("reset-second-step")
@_name
@changing
def reset_second_step(actor: Actor, name: str) -> Said:
    """Let the password be enough for the person NAME, who lost his authenticator."""
    account = account_of(name)
    second_factor.turn_off(actor, account)
    return Said({"id": account.id}, f"Two-step sign-in of {account.label} is off.")


@user.command("sign-out")
@_name
@changing
def sign_out(actor: Actor, name: str) -> Said:
    """End every session of the person NAME."""
    account = _person(name)
    accounts.sign_out(actor, account)
    return Said({"id": account.id}, f"{account.label} is signed out everywhere.")


@user.command("inactive")
@reading
def list_inactive(_actor: Actor) -> Said:
    """List those who were not seen for FLAGSTAFF_INACTIVITY_DAYS, and can be deleted."""
    page = inactive.search(after=current_settings().inactivity, limit=ALL, offset=0)
    rows = (_row(account) for account, _ in page.items)
    return Said(schemas.InactiveUserList().dump(page), table(HEADINGS, rows))


@user.command("delete-inactive")
@click.argument("ids", nargs=-1, type=click.IntRange(1))
@click.option("--all", "everybody", is_flag=True, help="All who are inactive now.")
@changing
def delete_inactive(actor: Actor, ids: tuple[int, ...], *, everybody: bool) -> Said:
    """Delete those of the people with these IDS who are inactive at this moment.

    Everybody else is left alone: active people, service accounts, the last Admin.
    """
    if everybody == bool(ids):
        raise click.UsageError("Name the ids, or say --all.")
    after = current_settings().inactivity
    if everybody:
        page = inactive.search(after=after, limit=ALL, offset=0)
        ids = tuple(account.id for account, _ in page.items)
    outcome = inactive.remove(actor, list(ids), after=after)
    deleted = [(account.id, "deleted", account.label) for account in outcome.deleted]
    left = [(id, f"left: {why}", "") for id, why in outcome.skipped.items()]
    return Said(
        {
            "deleted": [account.id for account in outcome.deleted],
            "skipped": [{"id": id, "reason": why} for id, why in outcome.skipped.items()],
        },
        table(("id", "what", "name"), [*deleted, *left]),
    )


def _person(name: str) -> Account:
    account = account_of(name)
    if not account.is_person:
        raise Conflict(f"{name!r} is a service account.")
    return account


def _row(account: Account) -> tuple[object, ...]:
    return account.id, account.role.title, _seen(account), account.label


def _seen(account: Account) -> str:
    seen = account.last_sign_in_at
    return f"{seen:%Y-%m-%d}" if seen else "never"
