"""Who may do what: the permissions, the five roles, and what each role holds."""

from collections.abc import Sequence
from enum import Enum, IntEnum, StrEnum

from app.core.errors import listed

DEFAULT_PROJECT = "default"


class Permission(StrEnum):
    ADMIN = "ADMIN"
    CREATE_PROJECT = "CREATE_PROJECT"
    CREATE_TAG_TYPE = "CREATE_TAG_TYPE"
    UPDATE_TAG_TYPE = "UPDATE_TAG_TYPE"
    DELETE_TAG_TYPE = "DELETE_TAG_TYPE"
    READ_LOGS = "READ_LOGS"
    UPDATE_PROJECT = "UPDATE_PROJECT"
    DELETE_PROJECT = "DELETE_PROJECT"
    PROJECT_USER_ACCESS_WRITE = "PROJECT_USER_ACCESS_WRITE"
    CREATE_FEATURE = "CREATE_FEATURE"
    UPDATE_FEATURE = "UPDATE_FEATURE"
    UPDATE_FEATURE_DEPENDENCY = "UPDATE_FEATURE_DEPENDENCY"
    DELETE_FEATURE = "DELETE_FEATURE"


class Access(Enum):
    """What a route may need instead of a permission."""

    PUBLIC = "public"
    SIGNED_IN = "signed in"


Need = Permission | Access


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
    def words(self) -> str:
        """What it means, for who has to choose one."""
        return ROLE_WORDS[self]


ROLE_WORDS = {
    Role.ADMIN: "can do everything: people, service accounts, environments and all projects",
    Role.EDITOR: "can create projects and tag types and read the event log; can’t manage people",
    Role.VIEWER: "can look, and work in projects that made him a member",
    Role.OWNER: "can change the project, its members and its features",
    Role.MEMBER: "can work on the project’s features",
}
ROOT_ROLES = (Role.ADMIN, Role.EDITOR, Role.VIEWER)
PROJECT_ROLES = (Role.OWNER, Role.MEMBER)

ON_FEATURES = frozenset(
    {
        Permission.CREATE_FEATURE,
        Permission.UPDATE_FEATURE,
        Permission.UPDATE_FEATURE_DEPENDENCY,
        Permission.DELETE_FEATURE,
    }
)
ON_PROJECTS = ON_FEATURES | {
    Permission.UPDATE_PROJECT,
    Permission.DELETE_PROJECT,
    Permission.PROJECT_USER_ACCESS_WRITE,
}

EDITOR_ON_DEFAULT = ON_FEATURES | {Permission.UPDATE_PROJECT}
"""What an Editor may do in the project ``default`` without being a member, while it is open."""

GRANTS: dict[Role, frozenset[Permission]] = {
    Role.ADMIN: frozenset(Permission),
    Role.EDITOR: frozenset(
        {
            Permission.CREATE_PROJECT,
            Permission.CREATE_TAG_TYPE,
            Permission.UPDATE_TAG_TYPE,
            Permission.DELETE_TAG_TYPE,
            Permission.READ_LOGS,
        }
    ),
    Role.VIEWER: frozenset(),
    Role.OWNER: ON_PROJECTS,
    Role.MEMBER: ON_FEATURES,
}


PERMISSION_WORDS = {
    Permission.ADMIN: "Do everything",
    Permission.CREATE_PROJECT: "Create projects",
    Permission.CREATE_TAG_TYPE: "Create tag types",
    Permission.UPDATE_TAG_TYPE: "Change tag types",
    Permission.DELETE_TAG_TYPE: "Delete tag types",
    Permission.READ_LOGS: "Read the event log",
    Permission.UPDATE_PROJECT: "Change settings, environments and approvals",
    Permission.DELETE_PROJECT: "Archive and revive the project",
    Permission.PROJECT_USER_ACCESS_WRITE: "Add and remove members",
    Permission.CREATE_FEATURE: "Create features",
    Permission.UPDATE_FEATURE: "Change features and their tags",
    Permission.UPDATE_FEATURE_DEPENDENCY: "Change what features depend on",
    Permission.DELETE_FEATURE: "Archive and revive features",
}


def who_can_grant(permission: Permission, project: str | None, owners: Sequence[str] = ()) -> str:
    """Whom to ask. ``owners``: names, where whoever asks knows of the project and so of them."""
    if project is None or permission not in ON_PROJECTS:
        return "an Admin"
    named = f" ({listed(owners)})" if owners else ""
    return f"an Admin, or an Owner of project {project}{named},"
