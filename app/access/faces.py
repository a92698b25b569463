"""What this room shows to the others: who may come in, and how."""

from app.access import reminders
from app.access.access_reviews import api as access_reviews_api
from app.access.access_reviews import pages as access_review_pages
from app.access.auth import identity
from app.access.auth import pages as auth_pages
from app.access.groups import api as groups_api
from app.access.groups import pages as groups_pages
from app.access.my_account import api as me_api
from app.access.my_account import pages as me_pages
from app.access.my_account import pages_authenticator as me_pages_authenticator
from app.access.scim import api as scim_api
from app.access.scim_tokens import api as scim_tokens_api
from app.access.scim_tokens import pages as scim_token_pages
from app.access.security_log import api as security_log_api
from app.access.security_log import pages as security_log_pages
from app.access.security_log import requests as security_log_requests
from app.access.security_log.models import SECURITY_ENTRIES
from app.access.service_accounts import api as service_accounts_api
from app.access.service_accounts import pages as service_accounts_pages
from app.access.sign_on import api as sign_on_api
from app.access.sign_on import pages as sign_on_pages
from app.access.sign_on import pages_linking as linking_pages
from app.access.sign_on import pages_settings as single_sign_on_pages
from app.access.users import api as users_api
from app.access.users import pages as users_pages
from app.access.users import pages_bulk as users_pages_bulk
from app.access.users import pages_inactive as users_pages_inactive
from app.core.permissions import Permission
from app.web.navigation import Action, Entry, Heading, needs
from app.web.rooms import Choice, Reminder, Room

_OWN = "My account"

ROOM = Room(
    keeps=(SECURITY_ENTRIES,),
    apis=(
        me_api.bp,
        service_accounts_api.bp,
        users_api.bp,
        groups_api.bp,
        scim_tokens_api.bp,
        access_reviews_api.bp,
        security_log_api.bp,
    ),
    pages=(
        auth_pages.bp,
        sign_on_pages.bp,
        sign_on_api.bp,
        scim_api.bp,
        linking_pages.bp,
        single_sign_on_pages.bp,
        scim_token_pages.bp,
        access_review_pages.bp,
        me_pages.bp,
        me_pages_authenticator.bp,
        users_pages.bp,
        users_pages_bulk.bp,
        users_pages_inactive.bp,
        security_log_pages.bp,
        groups_pages.bp,
        service_accounts_pages.bp,
    ),
    starts=(
        identity.init_app,
        security_log_requests.init_app,
        auth_pages.init_app,
        sign_on_pages.init_app,
        scim_api.init_app,
    ),
    entries=(
        Entry(Heading.PEOPLE, 1, "Users", "user_pages.index", Permission.ADMIN),
        Entry(
            Heading.PEOPLE, 2, "Groups", "group_pages.index", Permission.ADMIN, also="/new-group"
        ),
        Entry(
            Heading.PEOPLE, 3, "Service accounts", "service_account_pages.index", Permission.ADMIN
        ),
        Entry(
            Heading.PEOPLE,
            4,
            "Single sign-on",
            "single_sign_on_pages.show",
            Permission.ADMIN,
            also="/scim-tokens",
        ),
        Entry(Heading.AUDIT, 2, "Security log", "security_log_pages.index", Permission.ADMIN),
    ),
    actions=(
        Action(
            5,
            "New user",
            "Users",
            "user_pages.new",
            needs(Permission.ADMIN),
            words="create add invite person",
        ),
        Action(
            6,
            "Check a leaked token",
            "Service accounts",
            "service_account_pages.find_token",
            needs(Permission.ADMIN),
            words="found secret whose key",
        ),
        Action(
            11,
            "New service account",
            "Service accounts",
            "service_account_pages.new",
            needs(Permission.ADMIN),
            words="create add bot machine",
        ),
        Action(
            13,
            "Find inactive users",
            "Users",
            "inactive_pages.index",
            needs(Permission.ADMIN),
            words="unused delete clean up",
        ),
        Action(
            14,
            "Restore deleted users",
            "Users",
            "user_pages.index_deleted",
            needs(Permission.ADMIN),
            words="undo bring back",
        ),
        Action(18, "Change password", _OWN, "account_pages.change_password"),
        Action(
            19, "New personal token", _OWN, "account_pages.new_token", words="create add api key"
        ),
        Action(20, "My account", _OWN, "account_pages.show", words="profile settings theme dark"),
        Action(
            21,
            "My permissions",
            _OWN,
            "account_pages.permissions",
            words="roles access what can i do",
        ),
        Action(
            22,
            "My sessions",
            _OWN,
            "account_pages.show_security",
            words="security sign out browsers",
        ),
        Action(
            24,
            "Two-step sign-in",
            _OWN,
            "authenticator_pages.show",
            words="second factor 2fa mfa totp authenticator recovery codes",
        ),
    ),
    lists={
        "user_pages.index": "Users",
        "service_account_pages.index": "Service accounts",
        "security_log_pages.index": "Security log",
    },
    reminders=(
        Reminder(
            12,
            "inactive",
            "Inactive people",
            reminders.inactive_people,
            "Review",
            "inactive_pages.index",
        ),
        Reminder(
            14,
            "access",
            "Projects whose access is to be reviewed",
            reminders.access_reviews,
            "Review",
            "access_review_pages.new",
        ),
    ),
    choices={
        "users": Choice(
            "Columns of the list of users",
            {
                "username": "User name",
                "role": "Role",
                "lastSignIn": "Last sign-in",
                "created": "Created",
            },
        ),
    },
)
