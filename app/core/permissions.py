"""Who may do what: the permissions, the five roles, and what each role holds."""

import re
from collections.abc import Sequence
from enum import Enum, IntEnum, StrEnum, auto
from typing import Self

from app.core.words import either

DEFAULT_PROJECT = "default"


class Role(IntEnum):
    """The values are the ids that clients send as ``rootRole``; they never change."""

    ADMIN = 1
    EDITOR = 2
    VIEWER = 3
    OWNER = 4
    MEMBER = 5

    @property
    def title(self) -> str:
        return self.name.capitalize()

    @property
    def with_article(self) -> str:
        """``an Owner``, ``a Member``."""
        return f"{'an' if self.title[0] in 'AEIOU' else 'a'} {self.title}"

    @property
    def words(self) -> str:
        """What the role allows, for people who choose one."""
        return ROLE_WORDS[self]


ROLE_WORDS = {
    Role.ADMIN: "can do everything: people, service accounts, environments and all projects",
    Role.EDITOR: "can create projects, tag types, context fields and segments, and read the event "
    "log; can’t manage people",
    Role.VIEWER: "can view everything, and work in projects they belong to",
    Role.OWNER: "can change the project, its members and its features",
    Role.MEMBER: "can work on the project’s features",
}
ROOT_ROLES = (Role.ADMIN, Role.EDITOR, Role.VIEWER)
PROJECT_ROLES = (Role.OWNER, Role.MEMBER)
_TEAM = (Role.EDITOR, *PROJECT_ROLES)
"""Roles that work on features."""


class Permission(StrEnum):
    """A permission: what it allows, and the roles that have it besides Admin.

    Permissions of Owners apply within their project. Where Editors have one of these too, it
    applies only in the project ``default``, while that is open; they need not be members.
    """

    _value_: str
    words: str
    roles: frozenset[Role]

    @staticmethod
    def _generate_next_value_(name: str, *_: object) -> str:
        return name

    def __new__(cls, name: str, words: str, *roles: Role) -> Self:
        self = str.__new__(cls, name)
        self._value_ = name
        self.words = words
        self.roles = frozenset(roles)
        return self

    @property
    def least_role(self) -> Role:
        """The role that allows it and little else."""
        narrow = (role for role in (Role.MEMBER, Role.OWNER, Role.EDITOR) if role in self.roles)
        return next(narrow, Role.ADMIN)

    ADMIN = auto(), "Do everything"
    CREATE_PROJECT = auto(), "Create projects", Role.EDITOR
    CREATE_TAG_TYPE = auto(), "Create tag types", Role.EDITOR
    UPDATE_TAG_TYPE = auto(), "Change tag types", Role.EDITOR
    DELETE_TAG_TYPE = auto(), "Delete tag types", Role.EDITOR
    CREATE_CONTEXT_FIELD = auto(), "Create context fields", Role.EDITOR
    UPDATE_CONTEXT_FIELD = auto(), "Change context fields", Role.EDITOR
    DELETE_CONTEXT_FIELD = auto(), "Delete context fields", Role.EDITOR
    CREATE_SEGMENT = auto(), "Create segments", Role.EDITOR
    UPDATE_SEGMENT = auto(), "Change segments", Role.EDITOR
    DELETE_SEGMENT = auto(), "Delete segments", Role.EDITOR
    CREATE_STRATEGY = auto(), "Create strategy types", Role.EDITOR
    UPDATE_STRATEGY = auto(), "Change strategy types", Role.EDITOR
    DELETE_STRATEGY = auto(), "Delete strategy types", Role.EDITOR
    READ_LOGS = auto(), "Read the event log", Role.EDITOR
    CREATE_CLIENT_API_TOKEN = auto(), "Create tokens for server SDKs"
    READ_CLIENT_API_TOKEN = auto(), "See tokens for server SDKs, without their secrets"
    UPDATE_CLIENT_API_TOKEN = auto(), "Change when tokens for server SDKs expire; rotate them"
    DELETE_CLIENT_API_TOKEN = auto(), "Revoke tokens for server SDKs"
    CREATE_FRONTEND_API_TOKEN = auto(), "Create tokens for browsers and phones"
    READ_FRONTEND_API_TOKEN = auto(), "See tokens for browsers and phones, without their secrets"
    UPDATE_FRONTEND_API_TOKEN = (
        auto(),
        "Change when tokens for browsers and phones expire; rotate them",
    )
    DELETE_FRONTEND_API_TOKEN = auto(), "Revoke tokens for browsers and phones"
    UPDATE_CORS = auto(), "Choose the sites that may read features in browsers"
    UPDATE_PROJECT = auto(), "Change settings, environments and approvals", Role.EDITOR, Role.OWNER
    DELETE_PROJECT = auto(), "Archive and revive the project", Role.OWNER
    PROJECT_USER_ACCESS_WRITE = auto(), "Add and remove members", Role.OWNER
    CREATE_PROJECT_API_TOKEN = auto(), "Create and rotate SDK tokens of the project", Role.OWNER
    READ_PROJECT_API_TOKEN = (
        auto(),
        "See SDK tokens of the project, without their secrets",
        Role.OWNER,
    )
    DELETE_PROJECT_API_TOKEN = auto(), "Revoke SDK tokens of the project", Role.OWNER
    CREATE_FEATURE = auto(), "Create features", *_TEAM
    UPDATE_FEATURE = auto(), "Change features and their tags", *_TEAM
    UPDATE_FEATURE_DEPENDENCY = auto(), "Change what features depend on", *_TEAM
    DELETE_FEATURE = auto(), "Archive and revive features", *_TEAM
    UPDATE_FEATURE_ENVIRONMENT = auto(), "Switch features on and off", *_TEAM
    CREATE_FEATURE_STRATEGY = auto(), "Add strategies", *_TEAM
    UPDATE_FEATURE_STRATEGY = auto(), "Change and sort strategies", *_TEAM
    DELETE_FEATURE_STRATEGY = auto(), "Delete strategies", *_TEAM
    UPDATE_FEATURE_ENVIRONMENT_VARIANTS = auto(), "Change variants of features", *_TEAM
    UPDATE_PROJECT_SEGMENT = auto(), "Create, change and delete segments of the project", *_TEAM
    APPROVE_CHANGE_REQUEST = auto(), "Approve and reject change requests of others", *PROJECT_ROLES
    APPLY_CHANGE_REQUEST = auto(), "Apply and schedule approved change requests", *PROJECT_ROLES
    SKIP_CHANGE_REQUEST = auto(), "Change guarded environments without approval, with a reason"


class Access(Enum):
    """What a route may need instead of a permission."""

    PUBLIC = "public"
    SIGNED_IN = "signed in"


Need = Permission | Access


def _held_by(role: Role) -> frozenset[Permission]:
    return frozenset(permission for permission in Permission if role in permission.roles)


ON_PROJECTS = _held_by(Role.OWNER)
EDITOR_ON_DEFAULT = ON_PROJECTS & _held_by(Role.EDITOR)
GRANTS: dict[Role, frozenset[Permission]] = {
    Role.ADMIN: frozenset(Permission),
    Role.EDITOR: _held_by(Role.EDITOR) - ON_PROJECTS,
    Role.VIEWER: frozenset(),
    Role.OWNER: ON_PROJECTS,
    Role.MEMBER: _held_by(Role.MEMBER),
}
"""What each role holds: everywhere, or an Owner and a Member in their project."""


OWNERS_SHOWN = 3
"""Most Owners that a sentence names."""


def who_can_grant(permission: Permission, project: str | None, owners: Sequence[str] = ()) -> str:
    """Who to ask. ``owners``: their names, if the reader can see the project."""
    if project is None or permission not in ON_PROJECTS:
        return "an Admin"
    if owners:
        others = ["another Owner"] if len(owners) > OWNERS_SHOWN else []
        return either([*sorted(owners)[:OWNERS_SHOWN], *others])
    return f"an Admin or an Owner of project {project}"


def refusal(permission: Permission, project: str | None) -> str:
    """What someone without the permission can’t do, and whom to ask: for people."""
    if permission is Permission.ADMIN:
        return "Only Admins can do this."
    narrow = re.split("; |, with", permission.words)[0]
    act = narrow[0].lower() + narrow[1:]
    if permission.least_role is Role.ADMIN:
        return f"Only Admins can {act}."
    where = f" in project {project}" if project is not None else ""
    return f"You can’t {act}{where}. Ask {who_can_grant(permission, project)}."
