from typing import Any

from wtforms import PasswordField, StringField

from app.access.service_accounts import schemas
from app.accounts.forms import SparseForm, role_field
from app.accounts.models import Account
from app.core.permissions import Role
from app.web.conflicts import Values
from app.web.forms import ReasonField, SchemaForm
from app.web.schemas import Schema, SingleLine


class _ServiceAccountFields(SchemaForm):
    name = StringField("Name", description="For example “Deploy pipeline”.")
    username = StringField("User name", description="Shown in events.")
    root_role = role_field()
    reason = ReasonField()


class _WithToken(schemas.NewServiceAccount):
    """``token``: the description of a first token to create with the account."""

    token = SingleLine(low=0, high=255)


class NewServiceAccountForm(SparseForm, _ServiceAccountFields):
    schema = _WithToken

    username = StringField(
        "User name", description="Shown in events. Leave it empty to create it from the name."
    )
    token = StringField(
        "First token",
        description="What the token is for. It expires in 90 days. Leave it empty for no token.",
    )

    @property
    def api_body(self) -> dict[str, Any]:
        return {name: value for name, value in self.payload().items() if name != "token"}


class ServiceAccountForm(_ServiceAccountFields):
    schema = schemas.ServiceAccountChanges


class FindTokenForm(SchemaForm):
    class _Secret(Schema):
        secret = SingleLine(high=512, required=True)

    schema = _Secret

    secret = PasswordField("The token you found")


def form_data(account: Account) -> Values:
    """The service account as the form's field values."""
    return {
        "name": account.name or "",
        "username": account.username or "",
        "root_role": str(Role(account.role).value),
    }
