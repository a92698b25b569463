from typing import Any

from wtforms import BooleanField, SelectChoice, SelectField, StringField

from app.access.users import schemas
from app.access.users.bulk import UserChanges
from app.accounts.forms import SparseForm, role_field
from app.accounts.models import Account
from app.catalogue.projects.forms import ROLES
from app.core.permissions import ROOT_ROLES, Role
from app.web.conflicts import Values
from app.web.forms import ReasonField, SchemaForm


class _UserFields(SchemaForm):
    username = StringField(
        "User name", description="Used to sign in. Must differ from everyone else’s, ignoring case."
    )
    email = StringField("E-mail", description="Also works for signing in. No mail is sent.")
    name = StringField("Full name", description="Shown to others in lists and events.")
    root_role = role_field()
    reason = ReasonField()

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.username.flags.instead = "an e-mail"
        self.email.flags.instead = "a user name"


class NewUserForm(SparseForm, _UserFields):
    schema = schemas.NewUser


class UserForm(_UserFields):
    schema = schemas.UserChanges


class BulkForm(SparseForm):
    """What to change for several users."""

    schema = schemas.BulkChanges

    root_role = SelectField(
        "Role",
        choices=[
            SelectChoice("", "Keep as it is"),
            *(SelectChoice(str(role.value), role.title) for role in ROOT_ROLES),
        ],
    )
    project = StringField(
        "Add to project",
        description="Its id. People who belong to the project already keep the role they have.",
    )
    project_role = SelectField(
        "Role in that project",
        choices=[SelectChoice(*role) for role in ROLES],
    )
    sign_out = BooleanField("Sign them out everywhere (they can sign in again)")
    reason = ReasonField()

    def validate(self, extra_validators: Any = None) -> bool:
        if super().validate(extra_validators) and not self.changes:
            self.show([("", "Choose a role, a project, or to sign people out.")])
        return not self.problems

    @property
    def changes(self) -> UserChanges:
        """What a valid form asks for."""
        chosen: UserChanges = {**self.values}  # type: ignore[typeddict-item] # as the schema loads them
        if "project" not in chosen:
            chosen.pop("project_role", None)
        if not chosen.get("sign_out"):
            chosen.pop("sign_out", None)
        return chosen

    @property
    def choices(self) -> list[tuple[str, str]]:
        """What was chosen, for the hidden fields of the review."""
        return [(name, value) for name, value in self.carried if name != "reason"]

    @property
    def makes_admins(self) -> bool:
        return bool(self.root_role.data == str(Role.ADMIN.value))


def form_data(account: Account) -> Values:
    """The user as the form's field values."""
    return {
        "username": account.username or "",
        "email": account.email or "",
        "name": account.name or "",
        "root_role": str(Role(account.role).value),
    }
