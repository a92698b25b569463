from typing import Any

from wtforms import PasswordField, StringField

from app.accounts.forms import NewAccountForm, role_field
from app.accounts.models import Account
from app.core.conflicts import Values
from app.core.forms import ReasonField, SchemaForm
from app.core.permissions import Role
from app.core.schemas import Line, Schema
from app.service_accounts import schemas


class _ServiceAccountFields(SchemaForm):
    name = StringField("Name", description="What it is, in words: “Deploy pipeline”.")
    username = StringField("User name", description="Stands in events.")
    root_role = role_field()
    reason = ReasonField()


class _WithToken(schemas.NewServiceAccount):
    """With ``token``, the description of a first token to make at once."""

    token = Line(low=0, high=255)


class NewServiceAccountForm(NewAccountForm, _ServiceAccountFields):
    schema = _WithToken

    username = StringField(
        "User name", description="Stands in events. Left empty, it is made from the name."
    )
    token = StringField(
        "First token", description="What it is for. It lasts 90 days; left empty, none is made."
    )

    @property
    def api_body(self) -> dict[str, Any]:
        return {name: value for name, value in self.payload().items() if name != "token"}


class ServiceAccountForm(_ServiceAccountFields):
    schema = schemas.ServiceAccountChanges


class FindTokenForm(SchemaForm):
    class _Secret(Schema):
        secret = Line(high=512, required=True)

    schema = _Secret

    secret = PasswordField("The secret that was found")


def settings_of(account: Account) -> Values:
    """The service account in the words of the form."""
    return {
        "name": account.name or "",
        "username": account.username or "",
        "root_role": str(Role(account.role).value),
    }
