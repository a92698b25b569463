"""What there is to look up, beside what the code itself can tell; shown under ``/help``."""

from typing import NamedTuple

from app.events.models import EventType


class SettingEntry(NamedTuple):
    name: str
    meaning: str
    default: str
    allowed: str


class Refusal(NamedTuple):
    """``when`` it comes, and what to do about it."""

    status: int
    name: str
    when: str
    remedy: str


class CommandEntry(NamedTuple):
    words: str
    does: str


SETTINGS = (
    SettingEntry(
        "FLAGSTAFF_HOME",
        "The folder of the SQLite file, the secret key and what is noted beside them. It is made "
        "if it is missing, for its owner alone.",
        "instance",
        "a path",
    ),
    SettingEntry(
        "FLAGSTAFF_DATABASE_URL",
        "The database.",
        "flagstaff.db in the home folder",
        "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE",
    ),
    SettingEntry(
        "FLAGSTAFF_HOST",
        "The address to listen on. Other than loopback only with FLAGSTAFF_BASE_URL.",
        "127.0.0.1",
        "an IP address or host name",
    ),
    SettingEntry("FLAGSTAFF_PORT", "The port to listen on.", "4242", "1 to 65535"),
    SettingEntry(
        "FLAGSTAFF_THREADS",
        "Requests worked on at a time. The last of several is left to those that change nothing.",
        "4",
        "1 to 64",
    ),
    SettingEntry(
        "FLAGSTAFF_BASE_URL",
        "The address that people use; links begin with it, so change it with the port. Pages "
        "answer to its host and to loopback names alone, the API to any. With https, cookies are "
        "Secure and browsers are told to stay with it.",
        "http://127.0.0.1:4242",
        "an http or https address",
    ),
    SettingEntry(
        "FLAGSTAFF_URL_PREFIX",
        "The path below which a reverse proxy shows Flagstaff.",
        "none",
        "like /flagstaff",
    ),
    SettingEntry(
        "FLAGSTAFF_TRUSTED_PROXY",
        "The proxy whose X-Forwarded-For, -Host and -Proto are believed. From others they are "
        "dropped.",
        "none",
        "one IP address",
    ),
    SettingEntry(
        "FLAGSTAFF_BOOTSTRAP_TOKEN",
        "If no Admin has a valid token at the start, a service account named bootstrap holds this "
        "one. Take it out of the environment afterwards.",
        "none",
        "32 to 512 printable ASCII characters, no spaces",
    ),
    SettingEntry(
        "FLAGSTAFF_INACTIVITY_DAYS",
        "Days without a sign-in or use of a token after which a person is inactive.",
        "180",
        "1 to 3650",
    ),
    SettingEntry(
        "FLAGSTAFF_MAX_REQUEST_BYTES",
        "The largest body of a request.",
        "2097152 (2 MiB)",
        "1024 to 1073741824",
    ),
    SettingEntry(
        "FLAGSTAFF_PASSWORD_MIN", "The fewest characters of a new password.", "15", "8 to 128"
    ),
    SettingEntry(
        "FLAGSTAFF_LOG_FORMAT",
        "The form of the log lines on standard error.",
        "text",
        "text, json",
    ),
    SettingEntry(
        "FLAGSTAFF_SECRET_KEY",
        "Signs cookies and reviews, and makes the codes of two-step sign-in. Several servers on "
        "one database need the same.",
        "made at the first start: secret_key in the home folder",
        "32 or more printable ASCII characters, no spaces",
    ),
    SettingEntry(
        "FLAGSTAFF_SESSION_HOURS",
        "Hours after which a session that was not used is over; after 30 days each is.",
        "12",
        "1 to 720",
    ),
)

REFUSALS = (
    Refusal(
        400,
        "ValidationError",
        "The request breaks a rule of form. details has every problem with its place, as a JSON "
        "pointer such as /tags/addedTags/0/value.",
        "Mend what the message names. Unknown fields are refused, since they are often typos.",
    ),
    Refusal(
        401,
        "AuthenticationRequired",
        "No token came along, or one that is unknown, expired or revoked.",
        "Send Authorization: TOKEN. An Admin sees under Service accounts when a token expires, and "
        "finds out by “Is this ours?” what a secret is.",
    ),
    Refusal(
        403,
        "NoAccessError",
        "The permission is missing; the message names it.",
        "Ask whom the message names: an Admin, or an Owner of the project. Under “What I may do” "
        "stands which role gives what.",
    ),
    Refusal(
        400,
        "ForeignFormError",
        "A form was sent from another site, or the proxy hides under which name people come.",
        "Open the page again. If it stays so: flagstaff doctor --proxy URL.",
    ),
    Refusal(
        404,
        "NotFoundError",
        "There is no such thing, or it is not for you to see: a private project answers like one "
        "that does not exist.",
        "Check the spelling, then ask whoever owns the project to make you a member.",
    ),
    Refusal(
        405,
        "MethodNotAllowedError",
        "The address does not take this method.",
        "The header Allow has those that it takes.",
    ),
    Refusal(
        409,
        "NameExistsError",
        "The name is taken, perhaps by something archived.",
        "Choose another, or revive what has it.",
    ),
    Refusal(
        409,
        "ConflictError",
        "The present state forbids it: a parent with children, an archived project, the last "
        "Admin, facts that changed since a review.",
        "The message says what stands in the way. Look at the present state, then try again.",
    ),
    Refusal(
        412,
        "PreconditionFailedError",
        "It was changed since you read it, and If-Match said that this matters.",
        "Read it again, then send your change with the new ETag.",
    ),
    Refusal(
        413,
        "PayloadTooLargeError",
        "The body is larger than FLAGSTAFF_MAX_REQUEST_BYTES.",
        "Send it in parts. If a proxy says so, its own limit is lower: flagstaff doctor --proxy.",
    ),
    Refusal(
        415,
        "ContentTypeerror",
        "The body is not declared as JSON.",
        "Send Content-Type: application/json.",
    ),
    Refusal(
        400,
        "ForeignHostError",
        "A page was asked for under a name that is not that of FLAGSTAFF_BASE_URL.",
        "Use the address that the message names, or set FLAGSTAFF_BASE_URL to yours.",
    ),
    Refusal(
        429,
        "RateLimitError",
        "Too many passwords were tried just now. Nobody is locked out for good.",
        "Wait for the seconds of Retry-After.",
    ),
    Refusal(
        500,
        "InternalError",
        "A fault of Flagstaff. Nothing was changed.",
        "The log has the same id as the answer, and what went wrong; please report it.",
    ),
    Refusal(
        503,
        "UnavailableError",
        "The database is full, locked, read-only or gone. Nothing was changed.",
        "Try again in a moment. If it stays so: flagstaff doctor.",
    ),
)

COMMANDS = (
    CommandEntry("serve", "migrates the database, then serves until it is told to stop"),
    CommandEntry("doctor", "says what is wrong, or will be, and what to do"),
    CommandEntry("backup FILE", "writes all that the instance is into FILE, while it serves"),
    CommandEntry("restore FILE", "checks FILE; with --yes makes an empty instance what it was"),
    CommandEntry("example NAME", "prints a file for systemd, nginx, Apache, containers, Windows"),
    CommandEntry("demo", "fills an empty instance with a made-up organisation"),
    CommandEntry("completion SHELL", "prints what lets bash, zsh or fish complete these commands"),
    CommandEntry("user list", "people, by text, role, or those who were deleted lately"),
    CommandEntry("user show NAME", "one of them"),
    CommandEntry("user create", "makes one, and prints the link to set the password"),
    CommandEntry("user update NAME", "changes username, e-mail address, name or role"),
    CommandEntry("user delete NAME", "deletes one; within 30 days user restore brings him back"),
    CommandEntry("user restore ID", "brings back who was deleted within 30 days"),
    CommandEntry("user reset-password NAME", "prints a link to set a new password"),
    CommandEntry("user reset-second-step NAME", "lets the password be enough again"),
    CommandEntry("user sign-out NAME", "ends every session of his"),
    CommandEntry("user inactive", "who has been away for FLAGSTAFF_INACTIVITY_DAYS"),
    CommandEntry("user delete-inactive", "deletes those with the given ids, or --all"),
    CommandEntry("service-account list", "accounts of programs"),
    CommandEntry("service-account create", "makes one"),
    CommandEntry("service-account update USERNAME", "changes username, name or role"),
    CommandEntry("service-account delete USERNAME", "deletes one; its tokens stop at once"),
    CommandEntry("token list NAME", "the tokens of an account, without their secrets"),
    CommandEntry("token create NAME", "makes one and prints its secret, once"),
    CommandEntry("token rotate NAME ID", "a new one in its place; the old one lives on for hours"),
    CommandEntry("token revoke NAME ID", "stops one at once"),
    CommandEntry("token whose", "“is this ours?” of the secret on standard input"),
    CommandEntry("project list", "projects"),
    CommandEntry("project show ID", "one of them"),
    CommandEntry("project create ID", "makes one"),
    CommandEntry("project update ID", "changes name, mode or description"),
    CommandEntry("project archive ID", "puts one away that has no active features"),
    CommandEntry("project revive ID", "brings it back"),
    CommandEntry("project members ID", "who has a role in it"),
    CommandEntry("project grant ID ACCOUNT", "makes somebody a Member or Owner"),
    CommandEntry("project withdraw ID ACCOUNT", "takes the role away"),
    CommandEntry("feature list PROJECT", "features, by text and tags"),
    CommandEntry("feature create PROJECT NAME", "makes one"),
    CommandEntry("feature tag PROJECT NAMES", "puts tags on many and takes tags off"),
    CommandEntry("feature plan PROJECT NAMES", "what archiving these would do"),
    CommandEntry("feature archive PROJECT NAMES", "archives them, all or none"),
    CommandEntry("feature revive PROJECT NAMES", "brings them back with their parents"),
    CommandEntry("tag list", "tags, and how many features carry each"),
    CommandEntry("events list", "the event log, with filters"),
    CommandEntry("events verify", "whether the log is as it was told, event by event"),
    CommandEntry("events prune --before DAY", "takes older events away for ever"),
    CommandEntry("db current", "which revision the database has, and which is needed"),
    CommandEntry("db upgrade", "migrates it; serve does so too"),
    CommandEntry("db move --to URL", "copies everything into another database and compares"),
)

EVENTS = {
    EventType.ENVIRONMENT_CREATED: "an environment was made",
    EventType.ENVIRONMENT_UPDATED: "an environment was changed, or is deprecated now",
    EventType.EVENTS_PRUNED: "the oldest events were taken away, with the digest of the last",
    EventType.FEATURE_ARCHIVED: "a feature was archived, with the parent that it lost",
    EventType.FEATURE_CREATED: "a feature was made",
    EventType.FEATURE_DEPENDENCY_ADDED: "a feature depends on another now",
    EventType.FEATURE_DEPENDENCY_REMOVED: "a feature no longer depends on another",
    EventType.FEATURE_REVIVED: "an archived feature came back",
    EventType.FEATURE_TAGS_CHANGED: "tags were put on a feature, or taken off",
    EventType.FEATURE_UPDATED: "type, description or staleness of a feature was changed",
    EventType.INACTIVE_USERS_DELETED: "people were deleted who had been away, and who was left why",
    EventType.PASSWORD_CHANGED: "somebody has a new password",
    EventType.PROJECT_ACCESS_UPDATED: "the members of a project were changed",
    EventType.PROJECT_ARCHIVED: "a project was archived",
    EventType.PROJECT_CREATED: "a project was made",
    EventType.PROJECT_ENVIRONMENTS_UPDATED: "environments or approvals of a project were changed",
    EventType.PROJECT_REVIVED: "an archived project came back",
    EventType.PROJECT_UPDATED: "name, mode, description or stickiness of a project was changed",
    EventType.RECOVERY_CODES_MADE: "somebody has new recovery codes, and the old ones are void",
    EventType.RECOVERY_CODE_USED: "somebody signed in with a recovery code",
    EventType.SECOND_FACTOR_TURNED_OFF: "two-step sign-in of somebody is off",
    EventType.SECOND_FACTOR_TURNED_ON: "two-step sign-in of somebody is on",
    EventType.SERVICE_ACCOUNT_CREATED: "a service account was made",
    EventType.SERVICE_ACCOUNT_DELETED: "a service account was deleted, with its tokens",
    EventType.SERVICE_ACCOUNT_UPDATED: "a service account was changed, its role perhaps",
    EventType.TAG_TYPE_CREATED: "a tag type was made",
    EventType.TAG_TYPE_DELETED: "a tag type was deleted",
    EventType.TAG_TYPE_UPDATED: "a tag type was changed",
    EventType.TOKEN_CREATED: "a token was made, for whom and until when",
    EventType.TOKEN_REVOKED: "a token was stopped",
    EventType.TOKEN_ROTATED: "a token was replaced, and until when the old one lives on",
    EventType.USER_CREATED: "a person was made known",
    EventType.USER_DELETED: "a person was deleted; within 30 days he can be restored",
    EventType.USER_RESTORED: "a deleted person came back",
    EventType.USER_SIGNED_OUT: "all sessions of a person were ended",
    EventType.USER_UPDATED: "a person was changed, his role perhaps",
}
