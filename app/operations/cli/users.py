from typing import Any

import click

from app.access.auth import second_factor
from app.access.users import inactive, schemas
from app.accounts import links
from app.accounts import service as accounts
from app.accounts.models import Account, AccountKind
from app.core.actor import Actor
from app.core.errors import Conflict
from app.core.permissions import ROOT_ROLES
from app.operations.cli.commands import (
    UNLIMITED,
    Output,
    change_command,
    find_account,
    query_command,
    role_option,
    table,
    validated,
)
from app.web.current import current_settings

HEADINGS = ("id", "role", "last sign-in", "name")
_name = click.argument("name")
_fields = (
    click.option("--username", help="The name to sign in with."),
    click.option("--email", help="The e-mail address. A username or an e-mail address is needed."),
    click.option("--name", "full_name", help="The full name."),
)


def _with_fields(command: Any) -> Any:
    for option in reversed(_fields):
        command = option(command)
    return command


@click.group()
def user() -> None:
    """Manage users. NAME is a username or an e-mail address."""


@user.command("list")
@click.option("--text", help="Part of the username, name or e-mail address.")
@role_option(ROOT_ROLES)
@click.option("--deleted", is_flag=True, help="List deleted users who can be restored.")
@query_command
def list_users(_actor: Actor, text: str | None, role: int | None, *, deleted: bool) -> Output:
    """List users."""
    given = {"text": text, "rootRole": role and str(role), "deleted": str(deleted).lower()}
    page = accounts.search(
        AccountKind.PERSON, **(validated(schemas.UserQuery, given) | {"limit": UNLIMITED})
    )
    return Output(schemas.UserList().dump(page), table(HEADINGS, map(_row, page.items)))


@user.command()
@_name
@query_command
def show(_actor: Actor, name: str) -> Output:
    """Show the user NAME."""
    account = _person(name)
    return Output(schemas.UserDetail().dump(account), table(HEADINGS, [_row(account)]))


@user.command()
@_with_fields
@role_option(ROOT_ROLES, default="Viewer", show_default=True)
@change_command
def create(
    actor: Actor, username: str | None, email: str | None, full_name: str | None, role: int
) -> Output:
    """Create a user and print a one-time link to set the password."""
    given = {"username": username, "email": email, "name": full_name, "rootRole": role}
    account = accounts.create(actor, **validated(schemas.NewUser, given))
    return Output(
        schemas.UserDetail().dump(account),
        f"Created {account.label} with the id {account.id} as {account.role.title}.",
        secrets={"inviteLink": current_settings().address(links.create(actor, account))},
        label="Link to set the password (works once, within 48 hours): ",
    )


@user.command()
@_name
@_with_fields
@role_option(ROOT_ROLES)
@change_command
def update(
    actor: Actor,
    name: str,
    *,
    username: str | None,
    email: str | None,
    full_name: str | None,
    role: int | None,
) -> Output:
    """Change the user NAME. Options that are left out change nothing."""
    account = accounts.get_for_change(_person(name).id)
    given = {"username": username, "email": email, "name": full_name, "rootRole": role}
    accounts.update(actor, account, **validated(schemas.UserChanges, given))
    return Output(schemas.UserDetail().dump(account), table(HEADINGS, [_row(account)]))


@user.command()
@_name
@change_command
def delete(actor: Actor, name: str) -> Output:
    """Delete user NAME and revoke their tokens. You can restore them for 30 days."""
    account = accounts.get_for_change(_person(name).id)
    label = account.label
    accounts.remove(actor, account)
    return Output({"id": account.id}, f"Deleted {label} (id {account.id}).")


@user.command()
@click.argument("id", type=click.IntRange(1))
@change_command
def restore(actor: Actor, id: int) -> Output:
    """Restore the deleted user with this ID (see: user list --deleted), without tokens."""
    account = accounts.restore(actor, id)
    return Output(schemas.UserDetail().dump(account), f"Restored {account.label}.")


@user.command()
@_name
@change_command
def deactivate(actor: Actor, name: str) -> Output:
    """Keep the user NAME from signing in, and end their sessions and tokens. Roles stay."""
    account = _person(name)
    accounts.deactivate_all(actor, [account.id])
    return Output(schemas.UserDetail().dump(account), f"Deactivated {account.label}.")


@user.command()
@_name
@change_command
def reactivate(actor: Actor, name: str) -> Output:
    """Let the deactivated user NAME sign in again. Their tokens don't come back."""
    account = accounts.get_for_change(_person(name).id)
    accounts.reactivate(actor, account)
    return Output(schemas.UserDetail().dump(account), f"Activated {account.label}.")


@user.command("reset-password")
@_name
@change_command
def reset_password(actor: Actor, name: str) -> Output:
    """Print a one-time link for the user NAME to set a new password."""
    account = _person(name)
    link = current_settings().address(links.create(actor, account))
    return Output({"id": account.id}, "", secrets={"link": link})


@user.command("reset-second-step")
@_name
@change_command
def reset_second_step(actor: Actor, name: str) -> Output:
    """Turn off two-step sign-in for the user NAME, who lost their authenticator."""
    account = find_account(name)
    second_factor.turn_off(actor, account)
    return Output({"id": account.id}, f"Two-step sign-in turned off for {account.label}.")


@user.command("sign-out")
@_name
@change_command
def sign_out(actor: Actor, name: str) -> Output:
    """End all sessions of the user NAME."""
    account = _person(name)
    accounts.sign_out(actor, [account])
    return Output({"id": account.id}, f"Signed {account.label} out everywhere.")


@user.command("inactive")
@query_command
def list_inactive(_actor: Actor) -> Output:
    """List users who have been inactive for FLAGSTAFF_INACTIVITY_DAYS."""
    page = inactive.search(after=current_settings().inactivity, limit=UNLIMITED, offset=0)
    rows = (_row(account) for account, _ in page.items)
    return Output(schemas.InactiveUserList().dump(page), table(HEADINGS, rows))


@user.command("delete-inactive")
@click.argument("ids", nargs=-1, type=click.IntRange(1))
@click.option("--all", "everyone", is_flag=True, help="Delete everyone who is inactive now.")
@change_command
def delete_inactive(actor: Actor, ids: tuple[int, ...], *, everyone: bool) -> Output:
    """Delete the users with these IDS who are inactive at this moment.

    Active people, service accounts and the last Admin are skipped.
    """
    if everyone == bool(ids):
        raise click.UsageError("Give ids, or --all.")
    after = current_settings().inactivity
    if everyone:
        page = inactive.search(after=after, limit=UNLIMITED, offset=0)
        ids = tuple(account.id for account, _ in page.items)
    outcome = inactive.remove(actor, list(ids), after=after)
    deleted = [(account.id, "deleted", account.label) for account in outcome.deleted]
    skipped = [(id, f"skipped: {why}", "") for id, why in outcome.skipped.items()]
    return Output(
        {
            "deleted": [account.id for account in outcome.deleted],
            "skipped": [{"id": id, "reason": why} for id, why in outcome.skipped.items()],
        },
        table(("id", "result", "name"), [*deleted, *skipped]),
    )


def _person(name: str) -> Account:
    account = find_account(name)
    if not account.is_person:
        raise Conflict(f"{name!r} is a service account, not a user.")
    return account


def _row(account: Account) -> tuple[object, ...]:
    return account.id, account.role.title, _seen(account), account.label


def _seen(account: Account) -> str:
    seen = account.last_sign_in_at
    return f"{seen:%Y-%m-%d}" if seen else "never"
