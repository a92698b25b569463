"""Who acts in a request, and what they may do."""

import getpass
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum, auto
from typing import Self

from app.core.errors import NoAccess
from app.core.permissions import (
    DEFAULT_PROJECT,
    EDITOR_ON_DEFAULT,
    GRANTS,
    ON_PROJECTS,
    Permission,
    Role,
    refusal,
    who_can_grant,
)


class Proof(Enum):
    """How someone who is signed in can prove again that it is them."""

    PASSWORD = auto()
    PROVIDER = auto()
    NONE = auto()
    """Their proxy signed them in, and they have no password."""


@dataclass(frozen=True, slots=True)
class Actor:
    """The person, service account or command line that acts in this request.

    ``project_roles`` maps project ids to the role held there. ``default_is_open``: whether the
    project ``default`` is in mode open, where Editors work without being members. ``name``: the
    person's full name. ``proved_at``: when they last proved their identity in this browser;
    ``proof``: how they can do so again.
    ``time_zone``: in which they read times on pages; None: in UTC, since they never chose one.
    ``batch_id``: batch of all events that the actor records. ``cause``: reason in the event log if
    the actor gave none. Unlike ``reason``, it can't bypass approvals.
    """

    id: int | None
    username: str
    role: Role
    project_roles: Mapping[str, Role] = field(default_factory=dict)
    default_is_open: bool = False
    token_id: int | None = None
    session_id: int | None = None
    proved_at: datetime | None = None
    proof: Proof = Proof.PASSWORD
    time_zone: str | None = None
    has_password: bool = True
    name: str | None = None
    ip: str | None = None
    reason: str | None = None
    batch_id: str | None = None
    cause: str | None = None

    @property
    def account_id(self) -> int:
        """The id, of an actor who must have an account: anyone but the command line."""
        if self.id is None:
            raise TypeError(f"{self.username} has no account")
        return self.id

    @property
    def is_admin(self) -> bool:
        return self.role is Role.ADMIN

    def may(self, permission: Permission, project: str | None = None) -> bool:
        """Whether the actor holds the permission: everywhere, or in ``project``."""
        if permission in GRANTS[self.role]:
            return True
        if project is None or permission not in ON_PROJECTS:
            return False
        held = self.project_roles.get(project)
        if held is not None and permission in GRANTS[held]:
            return True
        return permission in EDITOR_ON_DEFAULT and self._edits_default(project)

    def require(self, permission: Permission, project: str | None = None) -> None:
        """Refuse an actor who lacks the permission: everywhere, or in ``project``."""
        if not self.may(permission, project):
            # Identical whether or not the project exists: a 403 must not reveal that.
            where = f" in project {project}" if project is not None else ""
            who = who_can_grant(permission, project)
            raise NoAccess(
                f"You need the permission {permission}{where}. Ask {who}.",
                on_page=refusal(permission, project),
            )

    def for_act(self, batch_id: str, cause: str | None = None) -> Self:
        """Copy of the actor, whose events share a batch and, without a reason, a cause."""
        return replace(self, batch_id=batch_id, cause=cause or self.cause)

    def with_all_rights(self) -> Self:
        """Copy of the actor as Admin, to carry out what others have approved.

        Their reason is only recorded: it can't bypass approvals, since they may be no Admin.
        """
        recorded = ": ".join(filter(None, (self.cause, self.reason)))
        return replace(self, role=Role.ADMIN, reason=None, cause=recorded or None)

    def may_read_events(self, project: str | None) -> bool:
        """Whether the actor may read the event log, or with ``project`` that of the project."""
        return self.may(Permission.READ_LOGS) or project in self.project_roles

    def require_events(self, project: str | None) -> None:
        """Refuse an actor who may not."""
        if not self.may_read_events(project):
            self.require(Permission.READ_LOGS)

    def source(self, permission: Permission, project: str | None = None) -> str | None:
        """Which of the actor's roles grants the permission; None if none does."""
        if permission in GRANTS[self.role]:
            return f"Root role {self.role.title}"
        held = self.project_roles.get(project or "")
        if held is not None and permission in GRANTS[held]:
            return f"{held.title} of {project}"
        if self.may(permission, project):
            return f"Root role {self.role.title}, in the open project {DEFAULT_PROJECT}"
        return None

    def permissions(self) -> list[tuple[Permission, str | None]]:
        """All permissions held, as sorted (permission, project or None) without duplicates."""
        if self.is_admin:
            return [(Permission.ADMIN, None)]
        held = {(permission, "") for permission in GRANTS[self.role]}
        for project, role in self.project_roles.items():
            held |= {(permission, project) for permission in GRANTS[role]}
        if self._edits_default(DEFAULT_PROJECT):
            held |= {(permission, DEFAULT_PROJECT) for permission in EDITOR_ON_DEFAULT}
        return [(permission, project or None) for permission, project in sorted(held)]

    def _edits_default(self, project: str) -> bool:
        return self.role is Role.EDITOR and project == DEFAULT_PROJECT and self.default_is_open


_is_name = re.compile(r"[A-Za-z0-9_.@\\-]{1,64}").fullmatch


def system_user() -> str:
    """``root``, or ``ada as root`` when ada ran it with sudo.

    The user comes from the operating system. Only the environment names the caller of sudo.
    """
    name, caller = _process_user(), os.environ.get("SUDO_USER", "")
    return f"{caller} as {name}" if _is_name(caller) and caller != name else name


def _process_user() -> str:
    try:
        import pwd  # noqa: PLC0415 - not on Windows
    except ImportError:
        return getpass.getuser()
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # in a container with a user id of its own
        return f"uid {os.getuid()}"


FIRST_LINK = "set-up link"
"""Who the event log says created the first Admin."""

COMMAND_LINE = Actor(id=None, username=f"{system_user()} (command line)", role=Role.ADMIN)
"""The system user of this process. Anyone who can run a command can also write to the database."""
