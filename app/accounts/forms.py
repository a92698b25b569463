"""Shared parts of the forms of users and service accounts."""

from typing import Any

from wtforms import BooleanField, RadioField

from app.accounts.models import Account
from app.core.permissions import ROOT_ROLES, Role
from app.core.words import counted
from app.web.conflicts import Values
from app.web.forms import SchemaForm


def role_field() -> RadioField:
    return RadioField("Role", choices=[str(role.value) for role in ROOT_ROLES])


def offer_to_revoke(field: BooleanField, tokens: int) -> None:
    """Say how many tokens a new password can revoke too."""
    field.label.text = f"Also revoke my {counted(tokens, 'token')}"


class SparseForm(SchemaForm):
    def payload(self) -> dict[str, Any]:
        """What was entered, without blanks: the API refuses an empty name or address."""
        return {name: value for name, value in super().payload().items() if value != ""}


def makes_admin(form: SchemaForm, account: Account) -> bool:
    """Whether the form gives the role Admin to an account without it."""
    return account.role is not Role.ADMIN and form["root_role"].data == str(Role.ADMIN.value)


def ends_admin(form: SchemaForm, account: Account) -> bool:
    """Whether the form takes the role Admin from an account."""
    return account.role is Role.ADMIN and form["root_role"].data != str(Role.ADMIN.value)


def display_values(settings: Values) -> Values:
    """An account's settings for display: the role by name instead of id."""
    return settings | {"root_role": Role(int(settings["root_role"])).title}
