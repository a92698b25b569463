from collections.abc import Sequence
from typing import Any

from wtforms import SelectChoice, SelectField, StringField

from app.access.groups import schemas
from app.access.groups.models import Group
from app.core.permissions import PROJECT_ROLES, ROOT_ROLES, Role
from app.web.conflicts import Values
from app.web.forms import ReasonField, SchemaForm
from app.web.listing import is_number

ROLE = "role-"
"""Start of the names of inputs with roles in projects; the id of the project follows."""
REMOVE = "remove"
ROLE_CHOICES = [
    *((str(role.value), role.title) for role in PROJECT_ROLES),
    (REMOVE, "No role"),
]


class _Fields(SchemaForm):
    name = StringField(
        "Name", description="The group’s name at your provider. Upper and lower case don’t matter."
    )
    root_role = SelectField(
        "Role everywhere",
        choices=[
            SelectChoice("", "None"),
            *(SelectChoice(str(role.value), role.title) for role in reversed(ROOT_ROLES)),
        ],
    )
    project = SelectField("Also in the project", validate_choice=False)
    project_role = SelectField(
        "Role there",
        choices=[SelectChoice(str(role.value), role.title) for role in reversed(PROJECT_ROLES)],
    )
    reason = ReasonField()

    def __init__(
        self,
        projects: Sequence[tuple[str, str]],
        data: Values | None = None,
        *,
        empty: bool = False,
    ) -> None:
        """``projects``: the ids and names of those to choose from."""
        super().__init__(data=data, empty=empty)
        self.name.flags.required = True
        present = (data or {}).get("projects", {})
        sent = self.sent or {}
        self.roles = {id: sent.get(f"{ROLE}{id}", role) for id, role in present.items()}
        self.project_names = dict(projects)
        offered = [SelectChoice(*project) for project in projects if project[0] not in self.roles]
        self.project.choices = [SelectChoice("", "None"), *offered]

    def payload(self) -> dict[str, Any]:
        projects = [(id, role) for id, role in self.roles.items() if role != REMOVE]
        if added := (self.project.data or "").strip():
            projects.append((added, self.project_role.data or ""))
        return super().payload() | {
            "projects": [
                {"id": id, "roleId": int(role) if is_number(role) else role}
                for id, role in projects
            ]
        }


class NewGroupForm(_Fields):
    schema = schemas.NewGroup


class GroupForm(_Fields):
    schema = schemas.GroupChanges


def form_data(group: Group) -> Values:
    """The group as the form's values: the roles in projects by id."""
    return {
        "name": group.name,
        "root_role": str(group.root_role.value) if group.root_role else "",
        "projects": {row.project_id: str(row.role.value) for row in group.projects},
    }


def display_values(settings: Values) -> Values:
    """The settings with roles by name."""
    role, projects = settings["root_role"], settings["projects"]
    return settings | {
        "root_role": Role(int(role)).title if role else "",
        "projects": {id: Role(int(each)).title for id, each in projects.items()},
    }


def gives_admin(form: SchemaForm, group: Group | None) -> bool:
    """Whether the form makes Admins of a group's members, which the group did not do before."""
    is_admin = str(Role.ADMIN.value)
    was_admin = group is not None and group.root_role is Role.ADMIN
    return form["root_role"].data == is_admin and not was_admin
