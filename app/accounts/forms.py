"""What the forms of users and of service accounts have in common."""

from typing import Any

from wtforms import RadioField

from app.accounts.models import Account
from app.core.conflicts import Values
from app.core.forms import SchemaForm
from app.core.permissions import ROOT_ROLES, Role


def role_field() -> RadioField:
    return RadioField("Role", choices=[str(role.value) for role in ROOT_ROLES])


class NewAccountForm(SchemaForm):
    def payload(self) -> dict[str, Any]:
        """A blank is left out: the API takes no empty name or address."""
        return {name: value for name, value in super().payload().items() if value != ""}


def makes_admin(form: SchemaForm, account: Account) -> bool:
    """Whether what was sent gives the account the role Admin, which it has not yet."""
    return account.role is not Role.ADMIN and form["root_role"].data == str(Role.ADMIN.value)


def in_words(settings: Values) -> Values:
    """An account's settings as they are said to people: a role has a name."""
    return settings | {"root_role": Role(int(settings["root_role"])).title}
