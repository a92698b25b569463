import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from wtforms import (
    RadioField,
    SelectChoice,
    SelectField,
    SelectMultipleField,
    StringField,
    TextAreaField,
)

from app.accounts.models import Account
from app.catalogue.environments.models import Environment
from app.catalogue.projects import members, schemas
from app.catalogue.projects.models import Project, ProjectMode
from app.catalogue.projects.schemas import MAX_APPROVALS
from app.core.permissions import PROJECT_ROLES, Role
from app.core.words import MAX_KEY, counted, spoken
from app.web.conflicts import Values
from app.web.forms import ReasonField, SchemaForm

APPROVALS = "approvals-"
NEEDS_APPROVALS = "needs-approvals-"
ROLE = "role-"
REMOVE = "remove"
SIMILAR = 3
ROLES = [(str(role.value), role.title) for role in PROJECT_ROLES]


class _ProjectForm(SchemaForm):
    """Approvals have two inputs per environment: a switch, and a number that counts if it is on.

    ``approvals``: the text of each number. ``guarded``: the environments with the switch on.
    ``known``: all environments, with the number of projects that use each.
    """

    name = StringField("Name", description="Shown in lists and messages.")
    description = TextAreaField("Description")
    mode = RadioField(
        "Who can see and change it", choices=[mode.value for mode in ProjectMode], validators=[]
    )
    default_stickiness = StringField(
        "Default stickiness",
        description="The context field that keeps a person in the same group of a rollout.",
    )
    environments = SelectMultipleField("Environments and approvals")

    def __init__(self, known: Mapping[Environment, int], data: dict[str, Any]) -> None:
        super().__init__(data=data)
        self.known = known
        names = [environment.name for environment in known]
        self.environments.choices = names
        self.approval_errors: dict[str, str] = {}
        self.saved_approvals: dict[str, int] = data.get("approvals", {})
        if self.sent is None:
            self._show_approvals(names, self.saved_approvals)
        else:
            self.approvals = {name: self.sent.get(APPROVALS + name, "").strip() for name in names}
            self.guarded = {name for name in names if NEEDS_APPROVALS + name in self.sent}

    def payload(self) -> dict[str, Any]:
        rules = [
            {"name": name, "requiredApprovals": int(typed) if _is_number(typed) else typed}
            for name, typed in self.approvals.items()
            if name in self.guarded
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
            self.approval_errors[rule["name"]] = f"Enter a whole number from 1 to {MAX_APPROVALS}"
        super().show(rest)

    @property
    def problems(self) -> list[tuple[str, str]]:
        return super().problems + [
            (APPROVALS + name, f"Approvals in {name}: {words}")
            for name, words in self.approval_errors.items()
        ]

    @property
    def clamped(self) -> list[str]:
        """Sentences on numbers of approvals out of range, with the number saved instead."""
        return [
            f"Approvals in {name} were "
            + (f"capped at {MAX_APPROVALS}" if int(typed) > MAX_APPROVALS else "raised to 1")
            + f" (you entered {typed})."
            for name, typed in self.approvals.items()
            if name in self.guarded and _is_number(typed) and not 1 <= int(typed) <= MAX_APPROVALS
        ]

    def uses_any(self, names: Iterable[str]) -> bool:
        """Whether the form has one of these environments."""
        return not set(names).isdisjoint(self.environments.data or [])

    def approvals_before(self, name: str) -> str | None:
        """The saved number of approvals in words, if the form has another one."""
        saved = self.saved_approvals.get(name, 0)
        current = self.approvals[name] if name in self.guarded else "0"
        return None if current == str(saved) else counted(saved, "approval")

    @property
    def carried(self) -> list[tuple[str, str]]:
        return [
            *super().carried,
            *((APPROVALS + name, typed) for name, typed in self.approvals.items()),
            *((NEEDS_APPROVALS + name, "y") for name in sorted(self.guarded)),
        ]

    @property
    def settings(self) -> Values:
        """The values of a valid form, in the shape of ``form_data``."""
        rules = self.values["change_request_environments"]
        return {
            "name": self.values["name"],
            "description": self.values["description"] or "",
            "mode": self.values["mode"].value,
            "default_stickiness": self.values["default_stickiness"],
            "environments": sorted(self.values["environments"]),
            "approvals": {rule["name"]: rule["required_approvals"] for rule in rules},
        }

    def reset(self, part: str, settings: Values) -> None:
        """Replace what was entered for this part by its value in ``settings``."""
        if part == "approvals":
            self._show_approvals(self.approvals, settings["approvals"])
        else:
            self[part].data = settings[part]

    def _show_approvals(self, names: Iterable[str], rules: dict[str, int]) -> None:
        self.approvals = {name: str(rules.get(name, 1)) for name in names}
        self.guarded = set(rules)


class NewProjectForm(_ProjectForm):
    schema = schemas.NewProject

    id = StringField(
        "Project id",
        description="Code refers to the project by this id, so it can’t be changed later. "
        "Leave empty to create it from the name.",
    )

    def __init__(self, known: Mapping[Environment, int]) -> None:
        usual = [environment.name for environment in known if not environment.deprecated]
        data = {"mode": "open", "default_stickiness": "default", "environments": usual}
        super().__init__(known, data)
        self.id.flags.required = False  # the API requires it; here it can follow from the name

    def payload(self) -> dict[str, Any]:
        sent = super().payload()
        if not sent.get("id") and (made := slug(sent.get("name", ""))):
            self.id.data = sent["id"] = made
        return sent


class ProjectForm(_ProjectForm):
    schema = schemas.ProjectSettings

    reason = ReasonField()

    def __init__(self, known: Mapping[Environment, int], project: Project) -> None:
        super().__init__(known, form_data(project))

    @property
    def api_body(self) -> dict[str, Any]:
        """Body of the API request for the project itself; environments have their own request."""
        elsewhere = {"environments", "changeRequestEnvironments"}
        return {name: value for name, value in self.payload().items() if name not in elsewhere}


def form_data(project: Project) -> Values:
    """The project as the form's values: environments as names, approvals as numbers by name."""
    return {
        "name": project.name,
        "description": project.description or "",
        "mode": project.mode.value,
        "default_stickiness": project.default_stickiness,
        "environments": project.environments,
        "approvals": {row.environment: row.required_approvals for row in project.approvals},
    }


class MembersForm(SchemaForm):
    """The role of each member, by the id of the account.

    ``current``: the roles as saved. ``seen``: the roles that the form was opened with.
    """

    schema = schemas.AccessChange

    reason = ReasonField()

    def __init__(
        self, current: dict[int, Role], seen: dict[int, Role] | None = None, *, empty: bool = False
    ) -> None:
        super().__init__(empty=empty)
        self.seen = current if seen is None else seen
        sent = self.sent or {}
        self.roles = {
            id: sent.get(f"{ROLE}{id}", str(role.value))
            for id, role in {**self.seen, **current}.items()
        }

    def payload(self) -> dict[str, Any]:
        return {
            "members": [
                {"id": id, "roleId": int(role) if _is_number(role) else role}
                for id, role in self.roles.items()
                if role != REMOVE
            ]
        }

    @property
    def changes(self) -> dict[int, Role | None]:
        """Roles that the valid form sets, if they differ from ``seen``; None removes a member."""
        return {
            id: None if self.roles[id] == REMOVE else Role(int(self.roles[id]))
            for id, role in self.seen.items()
            if self.roles[id] != str(role.value)
        }


class NewMemberForm(SchemaForm):
    """An account to add. ``member``: the account that the valid form found."""

    schema = schemas.MemberRef

    account = StringField("Name, user name or e-mail")
    role_id = SelectField("Role", choices=[SelectChoice(*role) for role in ROLES])
    reason = ReasonField()

    member: Account

    def __init__(self, *, empty: bool = False) -> None:
        super().__init__(data={"role_id": str(Role.MEMBER.value)}, empty=empty)
        self.account.flags.required = True
        self.account_id = 0

    def validate(self, extra_validators: Any = None) -> bool:
        name, found = (self.account.data or "").strip(), self._found
        if len(found) == 1:
            self.member, self.account_id = found[0], found[0].id
        super().validate(extra_validators)
        if len(found) != 1:
            self.show([("account", _unclear(name, found))])
        return not self.problems

    @cached_property
    def _found(self) -> list[Account]:
        return members.accounts_called((self.account.data or "").strip())

    def payload(self) -> dict[str, Any]:
        return {"id": self.account_id, **super().payload()}


def _unclear(name: str, found: list[Account]) -> str:
    """Error message for a name that doesn't match exactly one account."""
    if not name:
        return "Enter a name, a user name or an e-mail address."
    if found:
        labels = spoken((account.label for account in found), shown=SIMILAR)
        return f"{len(found)} accounts are called “{name}”: {labels}. Enter a user name."
    similar = [f"{account.called} ({account.label})" for account in members.accounts_like(name)]
    if similar:
        return f"No account is called “{name}”. Similar: {spoken(similar, shown=SIMILAR)}."
    return f"No account matches “{name}”. Check the spelling."


def slug(name: str) -> str:
    """An id from a name: ``Web shop (EU)`` -> ``web-shop-eu``; empty if nothing is left."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:MAX_KEY]


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]{1,15}", text) is not None
