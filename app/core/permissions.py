"""Who may do what: the permissions, the five roles, and what each role holds."""

from collections.abc import Sequence
from enum import Enum, IntEnum, StrEnum

from app.core.words import listed

DEFAULT_PROJECT = "default"


class Permission(StrEnum):
    ADMIN = "ADMIN"
    CREATE_PROJECT = "CREATE_PROJECT"
    CREATE_TAG_TYPE = "CREATE_TAG_TYPE"
    UPDATE_TAG_TYPE = "UPDATE_TAG_TYPE"
    DELETE_TAG_TYPE = "DELETE_TAG_TYPE"
    CREATE_CONTEXT_FIELD = "CREATE_CONTEXT_FIELD"
    UPDATE_CONTEXT_FIELD = "UPDATE_CONTEXT_FIELD"
    DELETE_CONTEXT_FIELD = "DELETE_CONTEXT_FIELD"
    CREATE_SEGMENT = "CREATE_SEGMENT"
    UPDATE_SEGMENT = "UPDATE_SEGMENT"
    DELETE_SEGMENT = "DELETE_SEGMENT"
    CREATE_STRATEGY = "CREATE_STRATEGY"
    UPDATE_STRATEGY = "UPDATE_STRATEGY"
    DELETE_STRATEGY = "DELETE_STRATEGY"
    READ_LOGS = "READ_LOGS"
    CREATE_CLIENT_API_TOKEN = "CREATE_CLIENT_API_TOKEN"
    READ_CLIENT_API_TOKEN = "READ_CLIENT_API_TOKEN"
    UPDATE_CLIENT_API_TOKEN = "UPDATE_CLIENT_API_TOKEN"
    DELETE_CLIENT_API_TOKEN = "DELETE_CLIENT_API_TOKEN"
    CREATE_FRONTEND_API_TOKEN = "CREATE_FRONTEND_API_TOKEN"
    READ_FRONTEND_API_TOKEN = "READ_FRONTEND_API_TOKEN"
    UPDATE_FRONTEND_API_TOKEN = "UPDATE_FRONTEND_API_TOKEN"
    DELETE_FRONTEND_API_TOKEN = "DELETE_FRONTEND_API_TOKEN"
    UPDATE_CORS = "UPDATE_CORS"
    UPDATE_PROJECT = "UPDATE_PROJECT"
    DELETE_PROJECT = "DELETE_PROJECT"
    PROJECT_USER_ACCESS_WRITE = "PROJECT_USER_ACCESS_WRITE"
    CREATE_PROJECT_API_TOKEN = "CREATE_PROJECT_API_TOKEN"
    READ_PROJECT_API_TOKEN = "READ_PROJECT_API_TOKEN"
    DELETE_PROJECT_API_TOKEN = "DELETE_PROJECT_API_TOKEN"
    CREATE_FEATURE = "CREATE_FEATURE"
    UPDATE_FEATURE = "UPDATE_FEATURE"
    UPDATE_FEATURE_DEPENDENCY = "UPDATE_FEATURE_DEPENDENCY"
    DELETE_FEATURE = "DELETE_FEATURE"
    UPDATE_FEATURE_ENVIRONMENT = "UPDATE_FEATURE_ENVIRONMENT"
    CREATE_FEATURE_STRATEGY = "CREATE_FEATURE_STRATEGY"
    UPDATE_FEATURE_STRATEGY = "UPDATE_FEATURE_STRATEGY"
    DELETE_FEATURE_STRATEGY = "DELETE_FEATURE_STRATEGY"
    UPDATE_FEATURE_ENVIRONMENT_VARIANTS = "UPDATE_FEATURE_ENVIRONMENT_VARIANTS"
    UPDATE_PROJECT_SEGMENT = "UPDATE_PROJECT_SEGMENT"
    APPROVE_CHANGE_REQUEST = "APPROVE_CHANGE_REQUEST"
    APPLY_CHANGE_REQUEST = "APPLY_CHANGE_REQUEST"
    SKIP_CHANGE_REQUEST = "SKIP_CHANGE_REQUEST"


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

ON_FEATURES = frozenset(
    {
        Permission.CREATE_FEATURE,
        Permission.UPDATE_FEATURE,
        Permission.UPDATE_FEATURE_DEPENDENCY,
        Permission.DELETE_FEATURE,
        Permission.UPDATE_FEATURE_ENVIRONMENT,
        Permission.CREATE_FEATURE_STRATEGY,
        Permission.UPDATE_FEATURE_STRATEGY,
        Permission.DELETE_FEATURE_STRATEGY,
        Permission.UPDATE_FEATURE_ENVIRONMENT_VARIANTS,
        Permission.UPDATE_PROJECT_SEGMENT,
    }
)
ON_CHANGE_REQUESTS = frozenset({Permission.APPROVE_CHANGE_REQUEST, Permission.APPLY_CHANGE_REQUEST})
"""What members may do with the proposals of others; only they, in open projects too."""

ON_PROJECTS = (
    ON_FEATURES
    | ON_CHANGE_REQUESTS
    | {
        Permission.UPDATE_PROJECT,
        Permission.DELETE_PROJECT,
        Permission.PROJECT_USER_ACCESS_WRITE,
        Permission.CREATE_PROJECT_API_TOKEN,
        Permission.READ_PROJECT_API_TOKEN,
        Permission.DELETE_PROJECT_API_TOKEN,
    }
)

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
            Permission.CREATE_CONTEXT_FIELD,
            Permission.UPDATE_CONTEXT_FIELD,
            Permission.DELETE_CONTEXT_FIELD,
            Permission.CREATE_SEGMENT,
            Permission.UPDATE_SEGMENT,
            Permission.DELETE_SEGMENT,
            Permission.CREATE_STRATEGY,
            Permission.UPDATE_STRATEGY,
            Permission.DELETE_STRATEGY,
            Permission.READ_LOGS,
        }
    ),
    Role.VIEWER: frozenset(),
    Role.OWNER: ON_PROJECTS,
    Role.MEMBER: ON_FEATURES | ON_CHANGE_REQUESTS,
}


PERMISSION_WORDS = {
    Permission.ADMIN: "Do everything",
    Permission.CREATE_PROJECT: "Create projects",
    Permission.CREATE_TAG_TYPE: "Create tag types",
    Permission.UPDATE_TAG_TYPE: "Change tag types",
    Permission.DELETE_TAG_TYPE: "Delete tag types",
    Permission.CREATE_CONTEXT_FIELD: "Create context fields",
    Permission.UPDATE_CONTEXT_FIELD: "Change context fields",
    Permission.DELETE_CONTEXT_FIELD: "Delete context fields",
    Permission.CREATE_SEGMENT: "Create segments",
    Permission.UPDATE_SEGMENT: "Change segments",
    Permission.DELETE_SEGMENT: "Delete segments",
    Permission.CREATE_STRATEGY: "Create strategy types",
    Permission.UPDATE_STRATEGY: "Change strategy types",
    Permission.DELETE_STRATEGY: "Delete strategy types",
    Permission.READ_LOGS: "Read the event log",
    Permission.CREATE_CLIENT_API_TOKEN: "Create tokens for server SDKs",
    Permission.READ_CLIENT_API_TOKEN: "See tokens for server SDKs, without their secrets",
    Permission.UPDATE_CLIENT_API_TOKEN: "Change when tokens for server SDKs expire; rotate them",
    Permission.DELETE_CLIENT_API_TOKEN: "Revoke tokens for server SDKs",
    Permission.CREATE_FRONTEND_API_TOKEN: "Create tokens for browsers and phones",
    Permission.READ_FRONTEND_API_TOKEN: "See tokens for browsers and phones, without their secrets",
    Permission.UPDATE_FRONTEND_API_TOKEN: "Change when tokens for browsers and phones expire; "
    "rotate them",
    Permission.DELETE_FRONTEND_API_TOKEN: "Revoke tokens for browsers and phones",
    Permission.UPDATE_CORS: "Choose the sites that may read features in browsers",
    Permission.UPDATE_PROJECT: "Change settings, environments and approvals",
    Permission.DELETE_PROJECT: "Archive and revive the project",
    Permission.PROJECT_USER_ACCESS_WRITE: "Add and remove members",
    Permission.CREATE_PROJECT_API_TOKEN: "Create and rotate SDK tokens of the project",
    Permission.READ_PROJECT_API_TOKEN: "See SDK tokens of the project, without their secrets",
    Permission.DELETE_PROJECT_API_TOKEN: "Revoke SDK tokens of the project",
    Permission.CREATE_FEATURE: "Create features",
    Permission.UPDATE_FEATURE: "Change features and their tags",
    Permission.UPDATE_FEATURE_DEPENDENCY: "Change what features depend on",
    Permission.DELETE_FEATURE: "Archive and revive features",
    Permission.UPDATE_FEATURE_ENVIRONMENT: "Switch features on and off",
    Permission.CREATE_FEATURE_STRATEGY: "Add strategies",
    Permission.UPDATE_FEATURE_STRATEGY: "Change and sort strategies",
    Permission.DELETE_FEATURE_STRATEGY: "Delete strategies",
    Permission.UPDATE_FEATURE_ENVIRONMENT_VARIANTS: "Change variants of features",
    Permission.UPDATE_PROJECT_SEGMENT: "Create, change and delete segments of the project",
    Permission.APPROVE_CHANGE_REQUEST: "Approve and reject change requests of others",
    Permission.APPLY_CHANGE_REQUEST: "Apply and schedule approved change requests",
    Permission.SKIP_CHANGE_REQUEST: "Change guarded environments without approval, with a reason",
}


def who_can_grant(permission: Permission, project: str | None, owners: Sequence[str] = ()) -> str:
    """Who to ask. ``owners``: their names, if the reader can see the project."""
    if project is None or permission not in ON_PROJECTS:
        return "an Admin"
    named = f" ({listed(owners)})" if owners else ""
    return f"an Admin or an Owner of project {project}{named}"
