import click

from app.accounts import service as accounts
from app.cli.commands import ALL, Said, account_of, changing, checked, reading, role_option, table
from app.core.actor import Actor
from app.core.errors import Conflict
from app.core.permissions import ROOT_ROLES
from app.service_accounts import schemas, service
from app.service_accounts.service import ServiceAccount

HEADINGS = ("id", "role", "tokens", "username", "name")
_username = click.argument("username")


@click.group("service-account")
def service_account() -> None:
    """Manage accounts of programs; their tokens: flagstaff token."""


@service_account.command("list")
@click.option("--text", help="Part of the username or name.")
@reading
def list_service_accounts(_actor: Actor, text: str | None) -> Said:
    """List service accounts."""
    query = checked(schemas.ServiceAccountQuery, {"text": text}) | {"limit": ALL}
    page = service.search(**query)
    return Said(schemas.ServiceAccountList().dump(page), table(HEADINGS, map(_row, page.items)))


@service_account.command()
@click.option("--username", help="Made from the name if left out.")
@click.option("--name", help="What people call it.")
@role_option(ROOT_ROLES, default="Viewer", show_default=True)
@changing
def create(actor: Actor, username: str | None, name: str | None, role: int) -> Said:
    """Create a service account."""
    given = {"username": username, "name": name, "rootRole": role}
    found = service.create(actor, **checked(schemas.NewServiceAccount, given))
    return _told(found)


@service_account.command()
@_username
@click.option("--username", "new_username", help="Another username.")
@click.option("--name", help="What people call it.")
@role_option(ROOT_ROLES)
@changing
def update(
    actor: Actor, username: str, new_username: str | None, name: str | None, role: int | None
) -> Said:
    """Change the service account USERNAME; an option that is left out changes nothing."""
    found = _found(username)
    given = {"username": new_username, "name": name, "rootRole": role}
    accounts.update(actor, found.account, **checked(schemas.ServiceAccountChanges, given))
    return _told(found)


@service_account.command()
@_username
@changing
def delete(actor: Actor, username: str) -> Said:
    """Delete the service account USERNAME; its tokens stop at once."""
    account = _found(username).account
    label = account.label
    accounts.remove(actor, account)
    return Said({"id": account.id}, f"Deleted {label}, which had the id {account.id}.")


def _found(username: str) -> ServiceAccount:
    account = account_of(username)
    if account.is_person:
        raise Conflict(f"{username!r} is a person.")
    return service.get_for_change(account.id)


def _told(found: ServiceAccount) -> Said:
    return Said(schemas.ServiceAccountDetail().dump(found), table(HEADINGS, [_row(found)]))


def _row(found: ServiceAccount) -> tuple[object, ...]:
    account = found.account
    return account.id, account.role.title, len(found.tokens), account.label, account.name
