import re
from collections.abc import Iterable
from typing import Any

from wtforms import RadioField, SelectField, SelectMultipleField, StringField, TextAreaField

from app.core.conflicts import Values
from app.core.forms import ReasonField, SchemaForm
from app.core.permissions import PROJECT_ROLES, Role
from app.core.schemas import MAX_KEY
from app.environments.models import Environment
from app.projects import schemas
from app.projects.models import Project, ProjectMode
from app.projects.schemas import MAX_APPROVALS

OFF = "off"
PREFIX = "approvals-"
REMOVE = "remove"


class _ProjectForm(SchemaForm):
    """``approvals``: what stands in the field of each environment, with what is wrong there."""

    name = StringField("Name", description="People see it in lists and messages.")
    description = TextAreaField("Description")
    mode = RadioField(
        "Who can see and change it", choices=[mode.value for mode in ProjectMode], validators=[]
    )
    default_stickiness = StringField(
        "Default stickiness",
        description="What keeps a person in the same group of a gradual rollout.",
    )
    environments = SelectMultipleField("Environments and approvals")

    def __init__(self, known: list[Environment], data: dict[str, Any]) -> None:
        super().__init__(data=data)
        self.environments.choices = [environment.name for environment in known]
        self.approval_errors: dict[str, list[str]] = {}
        rules = self.approvals_before = data.get("approvals", {})
        sent = self.sent or {}
        self.approvals = {
            environment.name: sent.get(
                PREFIX + environment.name, str(rules.get(environment.name, OFF))
            ).strip()
            for environment in known
        }

    def payload(self) -> dict[str, Any]:
        rules = [
            {"name": name, "requiredApprovals": int(typed) if _is_number(typed) else typed}
            for name, typed in self.approvals.items()
            if typed.lower() not in {"", OFF, "0"}
        ]
        return super().payload() | {"changeRequestEnvironments": rules}

    def show(self, problems: Iterable[tuple[str, str]]) -> None:
        rest = []
        for path, message in problems:
            place = re.fullmatch(r"/changeRequestEnvironments/(\d+)/.*", path)
            if place is None:
                rest.append((path, message))
                continue
            rule = self.payload()["changeRequestEnvironments"][int(place[1])]
            words = f"Enter a number from 1 to {MAX_APPROVALS}, or “{OFF}”."
            self.approval_errors[rule["name"]] = [words]
        super().show(rest)

    @property
    def problems(self) -> list[tuple[str, str]]:
        return super().problems + [
            (PREFIX + name, f"Approvals in {name}: {words}")
            for name, errors in self.approval_errors.items()
            for words in errors
        ]

    @property
    def clamped(self) -> list[str]:
        """What was typed as a number of approvals and taken for another."""
        return [
            f"{typed} approvals in {name} were taken for {min(max(int(typed), 1), MAX_APPROVALS)}."
            for name, typed in self.approvals.items()
            if _is_number(typed) and int(typed) and not 1 <= int(typed) <= MAX_APPROVALS
        ]

    @property
    def carried(self) -> list[tuple[str, str]]:
        return super().carried + [(PREFIX + name, typed) for name, typed in self.approvals.items()]

    @property
    def settings(self) -> Values:
        """What the valid form says, in the words of ``settings_of``."""
        rules = self.values["change_request_environments"]
        return {
            "name": self.values["name"],
            "description": self.values["description"] or "",
            "mode": self.values["mode"].value,
            "default_stickiness": self.values["default_stickiness"],
            "environments": sorted(self.values["environments"]),
            "approvals": {rule["name"]: rule["required_approvals"] for rule in rules},
        }

    def take(self, part: str, settings: Values) -> None:
        """Put what the settings say of this part in the place of what was typed."""
        if part == "approvals":
            rules = settings["approvals"]
            self.approvals = {name: str(rules.get(name, OFF)) for name in self.approvals}
        else:
            self[part].data = settings[part]


class NewProjectForm(_ProjectForm):
    schema = schemas.NewProject

    id = StringField(
        "Project id",
        description="Programs know the project by it, so it can’t be changed later. "
        "Left empty, it is made from the name.",
    )

    def __init__(self, known: list[Environment]) -> None:
        usual = [environment.name for environment in known if not environment.deprecated]
        data = {"mode": "open", "default_stickiness": "default", "environments": usual}
        super().__init__(known, data)
        self.id.flags.required = False

    def payload(self) -> dict[str, Any]:
        sent = super().payload()
        if not sent.get("id") and (made := slug(sent.get("name", ""))):
            self.id.data = sent["id"] = made
        return sent


class ProjectForm(_ProjectForm):
    schema = schemas.ProjectSettings

    reason = ReasonField()

    def __init__(self, known: list[Environment], project: Project) -> None:
        super().__init__(known, settings_of(project))

    @property
    def api_body(self) -> dict[str, Any]:
        """What the API takes of it in the request for the project itself."""
        elsewhere = {"environments", "changeRequestEnvironments"}
        return {name: value for name, value in self.payload().items() if name not in elsewhere}


def settings_of(project: Project) -> Values:
    """The project in the words of the form: environments are names, approvals numbers by name."""
    return {
        "name": project.name,
        "description": project.description or "",
        "mode": project.mode.value,
        "default_stickiness": project.default_stickiness,
        "environments": project.environments,
        "approvals": {row.environment: row.required_approvals for row in project.approvals},
    }


class MembersForm(SchemaForm):
    """Each member's role, and one account to add. ``present``: the members by their ids."""

    schema = schemas.AccessChange

    add = StringField("User name or e-mail")
    add_role = SelectField("As", choices=[str(role.value) for role in PROJECT_ROLES])
    reason = ReasonField()

    def __init__(self, present: dict[int, Role]) -> None:
        super().__init__(data={"add_role": str(Role.MEMBER.value)})
        sent = self.sent or {}
        self.roles = {id: sent.get(f"role-{id}", str(role.value)) for id, role in present.items()}
        self.added: int | None = None

    def payload(self) -> dict[str, Any]:
        chosen = dict(self.roles)
        if self.added is not None:
            chosen[self.added] = self.add_role.data or ""
        return {
            "members": [
                {"id": id, "roleId": int(role) if _is_number(role) else role}
                for id, role in chosen.items()
                if role != REMOVE
            ]
        }


def slug(name: str) -> str:
    """An id from a name: ``Web shop (EU)`` -> ``web-shop-eu``; empty if nothing is left."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:MAX_KEY]


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]{1,15}", text) is not None
