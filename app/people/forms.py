from wtforms import StringField

from app.accounts import schemas
from app.accounts.forms import NewAccountForm, role_field
from app.accounts.models import Account
from app.core.conflicts import Values
from app.core.forms import ReasonField, SchemaForm
from app.core.permissions import Role


class _UserFields(SchemaForm):
    username = StringField("User name", description="To sign in with; unique, whatever its case.")
    email = StringField("E-mail", description="To sign in with too. No mail is sent.")
    name = StringField("Full name", description="What others see, in lists and events.")
    root_role = role_field()
    reason = ReasonField()


class NewUserForm(NewAccountForm, _UserFields):
    schema = schemas.NewUser


class UserForm(_UserFields):
    schema = schemas.UserChanges


def settings_of(account: Account) -> Values:
    """The person in the words of the form."""
    return {
        "username": account.username or "",
        "email": account.email or "",
        "name": account.name or "",
        "root_role": str(Role(account.role).value),
    }
