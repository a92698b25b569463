from typing import Any

from wtforms import RadioField, StringField

from app.accounts import schemas
from app.accounts.models import Account
from app.core.forms import ReasonField, SchemaForm
from app.core.permissions import ROOT_ROLES, Role


class _UserFields(SchemaForm):
    username = StringField("User name", description="To sign in with; unique, whatever its case.")
    email = StringField("E-mail", description="To sign in with too. No mail is sent.")
    name = StringField("Full name", description="What others see, in lists and events.")
    root_role = RadioField("Role", choices=[str(role.value) for role in ROOT_ROLES])
    reason = ReasonField()


class NewUserForm(_UserFields):
    schema = schemas.NewUser

    def payload(self) -> dict[str, Any]:
        """A blank is left out: the API takes no empty name or address."""
        return {name: value for name, value in super().payload().items() if value != ""}


class UserForm(_UserFields):
    schema = schemas.UserChanges


def settings_of(account: Account) -> dict[str, str]:
    """The person in the words of the form."""
    return {
        "username": account.username or "",
        "email": account.email or "",
        "name": account.name or "",
        "root_role": str(Role(account.role).value),
    }


def in_words(settings: dict[str, str]) -> dict[str, str]:
    """The settings as they are said to people: a role has a name."""
    return settings | {"root_role": Role(int(settings["root_role"])).title}
