"""Every field of every body, what kind of value it takes, and how to send it one."""

from collections.abc import Collection
from copy import deepcopy
from typing import Any, NamedTuple

TOLD = "2099-01-01T00:00:00.000Z"
LONGEST = '"' + "x" * 1_000_000 + '"'

READABLE = {
    "null": "null",
    "true": "true",
    "false": "false",
    "0": "0",
    "-0": "-0",
    "-1": "-1",
    "1": "1",
    "1.0": "1.0",
    "1e0": "1e0",
    "1.5": "1.5",
    "1e400 times smaller": "1e-400",
    "2^31": "2147483648",
    "2^53-1": "9007199254740991",
    "2^53": "9007199254740992",
    "-2^53": "-9007199254740992",
    "2^63-1": "9223372036854775807",
    "text": '"text"',
    "a number in quotes": '"5"',
    "true in quotes": '"true"',
    "a time": f'"{TOLD}"',
    "empty": '""',
    "blank": '" "',
    "1 MB": LONGEST,
    "a line break": '"a\\nb"',
    "a control character": '"a\\u0007b"',
    "turned around": '"a\\u202eb"',
    "[]": "[]",
    "[null]": "[null]",
    "[[]]": "[[]]",
    "{}": "{}",
    "an object": '{"unheard of": 1}',
}
UNREADABLE = {
    "1e400": "1e400",
    "NaN": "NaN",
    "Infinity": "Infinity",
    "-Infinity": "-Infinity",
    "2^63": "9223372036854775808",
    "10^30": "1" + "0" * 30,
    "5,000 digits": "9" * 5_000,
    "a key twice": '{"a": 1, "a": 2}',
    "NUL": '"a\\u0000b"',
    "half a pair": '"\\ud800"',
    "deep": "[" * 21 + "]" * 21,
}

LISTS_OF_WEBHOOKS = ("eventTypes", "projects", "environments")

TEXTS = {"text", "a number in quotes", "true in quotes"}
KEY = {*TEXTS}
LINE = {*TEXTS, "a time"}
PROSE = {*LINE, "empty", "blank", "a line break"}
TRUTH = {"true", "false"}
TIME = {"a time"}
ONE = {"1", "1.0", "1e0"}
ZERO = {"0", "-0", "1e400 times smaller"}
NUMBER = {
    *(*ONE, *ZERO, "-1", "1.5", "2^31", "2^53-1", "2^53", "-2^53", "2^63-1"),
}
WHOLE = {*ONE, *ZERO, "-1", "2^31", "2^53-1"}
NULL = {"null"}
ANYTHING = {*READABLE}
NOTHING: set[str] = set()
"""No value of this list: what is chosen from, e-mail addresses, passwords, lists of objects."""


class Slot(NamedTuple):
    """A field of a body; ``status``: what values that it takes are answered with.

    ``known``: those of them that name something that there is, answered with 200.
    """

    method: str
    path: str
    pointer: str
    takes: set[str]
    status: int = 200
    known: Collection[str] = ()


SHOP, PIECE = "/projects/shop", "/projects/shop/features/a"
SILENT = "/projects/shop/features/b/environments/production"
LINK = f"{SHOP}/features/b/link/{{link}}"
ROBOT, PERSON = "/service-account/{robot}", "/user-admin/{person}"
TAGS, ACCESS = "/projects/shop/tags", "/projects/shop/access"
ENVIRONMENTS = "/projects/empty/environments"
OF_ACCOUNT = ("id", "isAPI", "imageUrl", "loginAttempts", "emailSent", "seenAt", "createdAt")
OF_PROJECT = ("environments", "changeRequestEnvironments", "featureCount", "memberCount")
OF_FEATURE = (
    *("project", "createdAt", "archivedAt", "tags", "dependencies", "children", "environments"),
    *("links", "lifecycle", "staleProposal", "lastSeenAt", "archived", "createdBy", "favorite"),
)
PLACE = f"{PIECE}/environments/production"
STRATEGIES = f"{PLACE}/strategies"
WALKING = f"{SHOP}/features/walking/environments/production"
WALK, ACTS = f"{WALKING}/release-plans/{{release}}", ("hold", "stop")
PROGRESSION = f"{WALKING}/progressions/{{first_step}}"
DEFAULT = f"{SHOP}/environments/production/default-strategy"
PROPOSING = "/projects/bank/environments/production/change-requests"
DRAFT = "/projects/bank/change-requests/{draft}"
COMMENTS = "/projects/bank/change-requests/{reviewed}/comments"
EXPORT = "/features-batch/export"
KINDS = (
    *("environments", "contextFields", "strategyTypes", "tagTypes", "tags", "users"),
    *("serviceAccounts", "projects", "segments", "defaultStrategies", "releaseTemplates"),
    "features",
)
SEVERAL = f"{SHOP}/bulk_features/environments/production"


def of_constraint(method: str, path: str, before: str, status: int) -> list["Slot"]:
    """The fields of a constraint with the operator IN."""
    takes = {
        "contextName": NOTHING,
        "operator": NOTHING,
        "values": NOTHING,
        "values/0": LINE | NUMBER,
        "value": NULL | {"empty", "blank"},
        "inverted": TRUTH,
        "caseInsensitive": {"false"},
    }
    return [Slot(method, path, f"{before}{name}", what, status) for name, what in takes.items()]


def of_variant(method: str, path: str, before: str, status: int = 200) -> list["Slot"]:
    takes = {
        "name": LINE,
        "weight": ONE | ZERO,
        "weightType": NOTHING,
        "stickiness": NOTHING,
        "payload": NOTHING,
        "payload/type": NOTHING,
        "payload/value": PROSE | {"a control character", "turned around"},
    }
    return [Slot(method, path, f"{before}{name}", what, status) for name, what in takes.items()]


def of_group(method: str, path: str, status: int) -> list["Slot"]:
    """The roles that a group gives, everywhere and in a project."""
    takes = {
        "rootRole": ONE | NULL,
        "projects": {"[]"},
        "projects/0": NOTHING,
        "projects/0/id": NOTHING,
        "projects/0/roleId": NOTHING,
    }
    return [Slot(method, path, name, what, status) for name, what in takes.items()]


def of_contents(method: str, path: str, before: str = "", status: int = 200) -> list["Slot"]:
    """The fields of what a strategy consists of, with a constraint, a segment and a variant."""
    takes = {
        "name": NOTHING,
        "title": (PROSE | NULL) - {"a line break"},
        "parameters": {"{}"},
        "constraints": {"[]"},
        "constraints/0": NOTHING,
        "segments": {"[]"},
        "segments/0": ONE,
        "variants": {"[]"},
        "variants/0": NOTHING,
    }
    found = [Slot(method, path, f"{before}{name}", what, status) for name, what in takes.items()]
    return [
        *found,
        *of_constraint(method, path, f"{before}constraints/0/", status),
        *of_variant(method, path, f"{before}variants/0/", status),
    ]


def of_strategy(method: str, path: str, before: str = "", status: int = 200) -> list["Slot"]:
    place = {"disabled": TRUTH | NULL, "sortOrder": ONE | ZERO}
    own = [Slot(method, path, f"{before}{name}", what, status) for name, what in place.items()]
    return [*of_contents(method, path, before, status), *own]


def of_milestones(method: str, path: str, status: int) -> list["Slot"]:
    """A list of steps, and the fields of one."""
    ignored = ("id", "releasePlanDefinitionId", "startedAt", "progressionExecutedAt", "pausedAt")
    takes = {
        "": NOTHING,
        "/0": NOTHING,
        "/0/name": LINE,
        "/0/sortOrder": ONE | ZERO,
        "/0/strategies": NOTHING,
        "/0/strategies/0": NOTHING,
        "/0/transitionCondition": NULL,
        **of_transition("/0/transitionCondition"),
        **{f"/0/{name}": ANYTHING for name in (*ignored, "startedBy")},
        **{
            f"/0/strategies/0/{name}": ANYTHING
            for name in ("id", "milestoneId", "strategyName", "summary")
        },
    }
    return [
        *(Slot(method, path, f"milestones{name}", what, status) for name, what in takes.items()),
        *of_strategy(method, path, "milestones/0/strategies/0/", status),
    ]


def of_transition(before: str) -> dict[str, set[str]]:
    return {
        f"{before}/type": NOTHING,
        f"{before}/intervalMinutes": ONE,
        f"{before}/manual": TRUTH,
    }


def of_template(method: str, path: str, status: int) -> list["Slot"]:
    ignored = (
        *("id", "discriminator", "project", "createdAt", "createdByUserId", "archivedAt"),
        *("usedBy", "stopped"),
    )
    return [
        Slot(method, path, "name", LINE, status),
        Slot(method, path, "description", (PROSE | NULL) - {"a line break"}, status),
        *(Slot(method, path, name, ANYTHING, status) for name in ignored),
        *of_milestones(method, path, status),
    ]


def of_patch(method: str, path: str, value: set[str]) -> list["Slot"]:
    """The fields of an operation of JSON Patch. ``value``: what its path takes."""
    takes = {"": NOTHING, "/op": NOTHING, "/path": NOTHING, "/from": LINE | {"empty", "blank"}}
    takes["/value"] = value
    return [Slot(method, path, f"0{name}", what) for name, what in takes.items()]


def of_tag(method: str, path: str, name: str, status: int) -> list["Slot"]:
    """A list of tags, and the fields of one."""
    takes = {"": {"[]"}, "/0": NOTHING, "/0/value": LINE, "/0/type": NOTHING, "/0/color": ANYTHING}
    return [Slot(method, path, f"{name}{each}", what, status) for each, what in takes.items()]


def of_segment(method: str, path: str, status: int) -> list["Slot"]:
    takes = {
        "name": LINE,
        "description": (PROSE | NULL) - {"a line break"},
        "project": NULL,
        "constraints": {"[]"},
        "constraints/0": NOTHING,
    }
    found = [Slot(method, path, name, what, status) for name, what in takes.items()]
    return [*found, *of_constraint(method, path, "constraints/0/", status)]


def of_type(method: str, path: str, status: int) -> list["Slot"]:
    """The fields of a type of strategy with a parameter."""
    text = (PROSE | NULL) - {"a line break"}
    takes = {
        "description": text,
        "parameters": {"[]"},
        "parameters/0": NOTHING,
        "parameters/0/name": LINE,
        "parameters/0/type": NOTHING,
        "parameters/0/description": text - NULL,
        "parameters/0/required": TRUTH,
    }
    return [Slot(method, path, name, what, status) for name, what in takes.items()]


SLOTS = [
    Slot("POST", f"{SHOP}/access-reviews", "version", NOTHING),
    Slot("POST", f"{SHOP}/access-reviews", "entries", NOTHING),
    Slot("POST", f"{SHOP}/access-reviews", "entries/0", NOTHING),
    Slot("POST", f"{SHOP}/access-reviews", "entries/0/id", NOTHING),
    Slot("POST", f"{SHOP}/access-reviews", "entries/0/decision", NOTHING),
    Slot("POST", f"{SHOP}/access-reviews", "comment", PROSE | NULL, 201),
    Slot("POST", "/scim-tokens", "tokenName", LINE, 201),
    Slot("POST", "/scim-tokens", "expiresAt", TIME | NULL, 201),
    Slot("POST", "/groups", "name", LINE, 201),
    *of_group("POST", "/groups", 201),
    Slot("PUT", "/groups/{group}", "name", LINE, 204),
    *of_group("PUT", "/groups/{group}", 204),
    *(
        Slot("PUT", "/groups/{group}", name, ANYTHING, 204)
        for name in ("id", "scimId", "createdAt", "changedAt", "memberCount")
    ),
    Slot("POST", "/service-account", "username", LINE, 201),
    Slot("POST", "/service-account", "name", LINE, 201),
    Slot("POST", "/service-account", "rootRole", ONE, 201),
    Slot("PUT", ROBOT, "username", LINE),
    Slot("PUT", ROBOT, "name", LINE | NULL),
    Slot("PUT", ROBOT, "rootRole", ONE),
    *(Slot("PUT", ROBOT, name, ANYTHING) for name in (*OF_ACCOUNT, "tokens")),
    Slot("POST", ROBOT + "/token", "description", LINE, 201),
    Slot("POST", ROBOT + "/token", "expiresAt", TIME | NULL, 201),
    Slot("POST", ROBOT + "/token/{token}/rotate", "overlapHours", ONE | ZERO, 201),
    Slot("POST", ROBOT + "/token/{token}/rotate", "expiresAt", TIME, 201),
    Slot("POST", "/api-tokens", "tokenName", LINE, 201),
    Slot("POST", "/api-tokens", "type", NOTHING),
    Slot("POST", "/api-tokens", "environment", NOTHING),
    Slot("POST", "/api-tokens", "projects", NOTHING),
    Slot("POST", "/api-tokens", "projects/0", NOTHING),
    Slot("POST", "/api-tokens", "project", NOTHING),
    Slot("POST", "/api-tokens", "expiresAt", TIME | NULL, 201),
    Slot("POST", "/maintenance", "enabled", TRUTH, 204),
    Slot("POST", "/webhooks", "name", LINE, 201),
    Slot("POST", "/webhooks", "channel", NULL, 201),
    Slot("PUT", "/webhooks/{hook}", "channel", NOTHING),
    Slot("PUT", "/webhooks/{hook}", "name", LINE, 204),
    *(
        slot
        for method, path, status in (("POST", "/webhooks", 201), ("PUT", "/webhooks/{hook}", 204))
        for slot in (
            *(Slot(method, path, name, NOTHING) for name in ("url", *LISTS_OF_WEBHOOKS)),
            *(Slot(method, path, f"{name}/0", NOTHING) for name in LISTS_OF_WEBHOOKS),
            Slot(method, path, "paused", TRUTH, status),
        )
    ),
    Slot("PUT", "/api-tokens/{sdk}", "expiresAt", TIME | NULL),
    Slot("POST", "/api-tokens/{sdk}/rotate", "overlapHours", ONE | ZERO, 201),
    Slot("POST", SHOP + "/api-tokens/{own_sdk}/rotate", "overlapHours", ONE | ZERO, 201),
    Slot("POST", SHOP + "/api-tokens", "tokenName", LINE, 201),
    Slot("POST", SHOP + "/api-tokens", "type", NOTHING),
    Slot("POST", SHOP + "/api-tokens", "environment", NOTHING),
    Slot("POST", SHOP + "/api-tokens", "expiresAt", TIME | NULL, 201),
    Slot("PUT", "/user/mail", "kinds", {"[]"}),
    Slot("PUT", "/user/mail", "kinds/0", NOTHING),
    Slot("PUT", "/user/time-zone", "timeZone", NOTHING),
    Slot("POST", "/user/tokens", "description", LINE, 201),
    Slot("POST", "/user/tokens", "expiresAt", TIME | NULL, 201),
    Slot("POST", "/user/change-password", "oldPassword", NOTHING),
    Slot("POST", "/user/change-password", "newPassword", TIME),
    Slot("POST", "/user/change-password", "revokeTokens", TRUTH),
    Slot("POST", "/feedback", "feedbackId", KEY),
    Slot("POST", "/feedback", "neverShow", TRUTH),
    Slot("POST", "/feedback", "given", TIME),
    Slot("PUT", "/feedback/menu", "neverShow", TRUTH),
    Slot("PUT", "/feedback/menu", "given", TIME | NULL),
    Slot("PUT", "/feedback/menu", "userId", ANYTHING),
    Slot("PUT", "/feedback/menu", "feedbackId", ANYTHING),
    Slot("POST", "/user-admin", "username", LINE, 201),
    Slot("POST", "/user-admin", "email", NOTHING),
    Slot("POST", "/user-admin", "name", LINE, 201),
    Slot("POST", "/user-admin", "rootRole", ONE, 201),
    Slot("POST", "/user-admin", "sendEmail", TRUTH, 201),
    Slot("PUT", PERSON, "username", LINE),
    Slot("PUT", PERSON, "email", NULL),
    Slot("PUT", PERSON, "name", LINE | NULL),
    Slot("PUT", PERSON, "rootRole", ONE),
    *(Slot("PUT", PERSON, name, ANYTHING) for name in OF_ACCOUNT),
    *(
        slot
        for act in ("deactivate", "reactivate")
        for slot in (
            Slot("POST", f"/user-admin/{act}", "ids", {"[]"}),
            Slot("POST", f"/user-admin/{act}", "ids/0", WHOLE, 404, known=ONE),
        )
    ),
    Slot("POST", "/user-admin/inactive/delete", "ids", {"[]"}),
    Slot("POST", "/user-admin/inactive/delete", "ids/0", WHOLE),
    *(
        Slot("POST", f"{SILENT}/{act}", "event", ONE | {"2^31", "2^53-1"}, 404)
        for act in ("receipts/notify", "instances/mark-as-ended")
    ),
    Slot("POST", f"{SILENT}/instances/mark-as-ended", "asOf", TIME),
    Slot("POST", "/projects", "id", KEY, 201),
    Slot("POST", "/projects", "name", LINE, 201),
    Slot("POST", "/projects", "description", PROSE | NULL, 201),
    Slot("POST", "/projects", "mode", NOTHING),
    Slot("POST", "/projects", "defaultStickiness", LINE, 201),
    Slot("POST", "/projects", "featureLimit", ANYTHING, 201),
    Slot("POST", "/projects", "environments", NOTHING),
    Slot("POST", "/projects", "environments/0", NOTHING),
    Slot("POST", "/projects", "changeRequestEnvironments", {"[]"}, 201),
    Slot("POST", "/projects", "changeRequestEnvironments/0", NOTHING),
    Slot("POST", "/projects", "changeRequestEnvironments/0/name", NOTHING),
    Slot("POST", "/projects", "changeRequestEnvironments/0/requiredApprovals", WHOLE, 201),
    Slot("PUT", SHOP, "id", NOTHING),
    Slot("PUT", SHOP, "name", LINE),
    Slot("PUT", SHOP, "description", PROSE | NULL),
    Slot("PUT", SHOP, "mode", NOTHING),
    Slot("PUT", SHOP, "defaultStickiness", LINE),
    *(Slot("PUT", SHOP, n, ANYTHING) for n in (*OF_PROJECT, "featureLimit", "createdAt")),
    Slot("PUT", SHOP, "archivedAt", ANYTHING),
    Slot("PUT", ENVIRONMENTS, "environments", NOTHING),
    Slot("PUT", ENVIRONMENTS, "environments/0", NOTHING),
    Slot("PUT", ENVIRONMENTS, "changeRequestEnvironments", {"[]"}),
    Slot("PUT", ENVIRONMENTS, "changeRequestEnvironments/0", NOTHING),
    Slot("PUT", ENVIRONMENTS, "changeRequestEnvironments/0/name", NOTHING),
    Slot("PUT", ENVIRONMENTS, "changeRequestEnvironments/0/requiredApprovals", WHOLE),
    *(
        Slot(method, path, pointer, NOTHING)
        for method, path in (("POST", PROPOSING), ("PUT", f"{DRAFT}/changes/{{change}}"))
        for pointer in ("feature", "action", "payload")
    ),
    Slot("PUT", f"{PROPOSING}/config", "changeRequestsEnabled", {"true", "false"}),
    Slot("PUT", f"{PROPOSING}/config", "requiredApprovals", ONE | NULL),
    Slot("PUT", f"{DRAFT}/state", "state", NOTHING),
    Slot("PUT", f"{DRAFT}/state", "comment", PROSE | NULL),
    Slot("PUT", f"{DRAFT}/state", "scheduledAt", NULL),
    Slot("PUT", f"{DRAFT}/state", "version", {*ONE, "2^31", "2^53-1"}, 412),
    Slot("PUT", f"{DRAFT}/title", "title", LINE | {"empty", "blank"}),
    Slot("PUT", f"{DRAFT}/title", "description", PROSE | NULL),
    Slot("PUT", f"{DRAFT}/approvers", "reviewers", {"[]"}),
    Slot("PUT", f"{DRAFT}/approvers", "reviewers/0", ONE),
    Slot("POST", COMMENTS, "text", PROSE - {"empty", "blank"}, 201),
    Slot("PUT", ACCESS, "members", {"[]"}, 409),
    Slot("PUT", ACCESS, "members/0", NOTHING),
    Slot("PUT", ACCESS, "members/0/id", ONE),
    Slot("PUT", ACCESS, "members/0/roleId", NOTHING),
    *(Slot("PUT", ACCESS, f"members/0/{n}", ANYTHING) for n in ("username", "name", "accountType")),
    Slot(
        "PUT",
        "/feature-types/release/lifetime",
        "lifetimeDays",
        ONE | ZERO | NULL,
    ),
    Slot("POST", SHOP + "/features", "name", KEY, 201),
    Slot("POST", SHOP + "/features", "type", NOTHING),
    Slot("POST", SHOP + "/features", "description", PROSE | NULL, 201),
    Slot("POST", SHOP + "/features", "stale", TRUTH, 201),
    Slot("POST", SHOP + "/features", "impressionData", TRUTH, 201),
    Slot("PUT", PIECE, "name", NOTHING),
    Slot("PUT", PIECE, "type", NOTHING),
    Slot("PUT", PIECE, "description", PROSE | NULL),
    Slot("PUT", PIECE, "stale", TRUTH),
    Slot("PUT", PIECE, "impressionData", TRUTH),
    *(Slot("PUT", PIECE, name, ANYTHING) for name in OF_FEATURE),
    *of_patch("PATCH", PIECE, TRUTH),
    *of_patch("PATCH", f"{PLACE}/variants", NOTHING),
    *of_tag("POST", SHOP + "/features", "tags", 201),
    *(
        slot
        for part in ("addedTags", "removedTags")
        for slot in of_tag("PUT", "/features/a/tags", part, 200)
    ),
    Slot("POST", "/features/a/tags", "value", LINE, 201),
    Slot("POST", "/features/a/tags", "type", NOTHING),
    Slot("POST", "/features/a/tags", "color", ANYTHING, 201),
    Slot("POST", "/tags", "value", LINE, 201),
    Slot("POST", "/tags", "type", LINE, 404),
    Slot("POST", "/tags", "color", ANYTHING, 201),
    *(
        Slot("POST", f"/tags/{way}", f"{part}/color", ANYTHING, status)
        for way, status in (("rename", 200), ("merge", 200))
        for part in ("tag", "to")
    ),
    Slot("POST", "/tags/delete", "color", ANYTHING),
    Slot("PUT", TAGS, "tags/addedTags/0/color", ANYTHING),
    Slot("PUT", TAGS, "tags/removedTags/0/color", ANYTHING),
    *(Slot("POST", "/tag-types", name, ANYTHING, 201) for name in ("icon", "color")),
    *(Slot("PUT", "/tag-types/team", name, ANYTHING) for name in ("icon", "color")),
    *(Slot("POST", "/tag-types/validate", name, ANYTHING) for name in ("icon", "color")),
    Slot("POST", "/tag-types/validate", "name", KEY),
    Slot("POST", "/tag-types/validate", "description", (PROSE | NULL) - {"a line break"}),
    Slot("POST", "/tag-types/validate", "hue", ONE),
    Slot("POST", "/context", "project", ANYTHING, 201),
    Slot("PUT", "/context/plan", "project", ANYTHING),
    Slot("POST", "/context/validate", "name", KEY),
    Slot("POST", "/features/validate", "name", KEY),
    Slot("POST", "/features/validate", "projectId", ANYTHING),
    Slot("POST", f"{PIECE}/clone", "name", KEY, 201),
    Slot("POST", f"{PIECE}/clone", "replaceGroupId", TRUTH, 201),
    Slot("PUT", f"{PIECE}/variants-batch", "environments", NOTHING),
    Slot("PUT", f"{PIECE}/variants-batch", "environments/0", KEY, 404),
    Slot("PUT", f"{PIECE}/variants-batch", "variants", {"[]"}),
    Slot("PUT", f"{PIECE}/variants-batch", "variants/0", NOTHING),
    *of_variant("PUT", f"{PIECE}/variants-batch", "variants/0/"),
    *(
        Slot("PUT", f"{PIECE}/variants-batch", f"variants/0/overrides{pointer}", takes)
        for pointer, takes in (
            ("", {"[]"}),
            ("/0", NOTHING),
            ("/0/contextName", NOTHING),
            ("/0/values", NOTHING),
            ("/0/values/0", LINE),
        )
    ),
    Slot("POST", "/projects/empty/environments", "environment", NOTHING),
    *(
        Slot("POST", "/projects/empty/environments", name, ANYTHING)
        for name in ("changeRequestsEnabled", "defaultStrategy")
    ),
    *(Slot("PUT", "/environments/production", n, ANYTHING) for n in ("enabled", "protected")),
    *(
        Slot("POST", "/metrics/applications/new", name, ANYTHING, 202)
        for name in ("url", "color", "icon")
    ),
    Slot("POST", "/metrics/applications/new", "strategies", {"[]"}, 202),
    Slot("POST", "/metrics/applications/new", "strategies/0", LINE, 202),
    *(
        Slot("POST", "/strategies", name, ANYTHING, 201)
        for name in ("title", "displayName", "editable", "deprecated")
    ),
    Slot("PUT", "/strategies/by-region", "title", ANYTHING),
    Slot("PUT", PERSON, "accountType", ANYTHING),
    Slot("POST", "/user-admin", "password", TIME, 201),
    Slot("POST", "/user-admin/reset-password", "id", ONE | {"a number in quotes"}),
    *(
        slot
        for path in ("/user-admin/validate-password", f"{PERSON}/change-password")
        for slot in (
            Slot("POST", path, "password", TIME),
            Slot("POST", path, "oldPassword", ANYTHING),
            Slot("POST", path, "confirmPassword", ANYTHING),
        )
    ),
    Slot(
        "POST",
        "/user/change-password",
        "password",
        PROSE | {"a control character", "turned around"},
    ),
    Slot("POST", "/user/change-password", "confirmPassword", NOTHING),
    Slot("POST", f"{PIECE}/link", "id", ANYTHING, 204),
    Slot("POST", f"{PIECE}/link", "url", NOTHING),
    Slot("POST", f"{PIECE}/link", "title", LINE | NULL | {"empty", "blank"}, 204),
    Slot("PUT", LINK, "id", ANYTHING, 204),
    Slot("PUT", LINK, "url", NOTHING),
    Slot("PUT", LINK, "title", LINE | NULL | {"empty", "blank"}, 204),
    Slot("POST", f"{PIECE}/lifecycle/complete", "status", NOTHING),
    Slot("POST", f"{PIECE}/lifecycle/complete", "statusValue", LINE | NULL | {"empty", "blank"}),
    Slot("POST", PIECE + "/dependencies", "feature", KEY, 404),
    Slot("POST", PIECE + "/dependencies", "enabled", TRUTH),
    Slot("POST", PIECE + "/dependencies", "variants", {"[]"}),
    Slot("POST", PIECE + "/dependencies", "variants/0", NOTHING),
    Slot("POST", ACCESS, "id", ONE),
    Slot("POST", ACCESS, "roleId", NOTHING),
    *(Slot("POST", ACCESS, name, ANYTHING) for name in ("username", "name", "accountType")),
    *(
        Slot("POST", f"{SHOP}/{way}", pointer, takes, status)
        for way, choice, values in (("stale", "stale", TRUTH), ("type", "type", NOTHING))
        for pointer, takes, status in (
            ("features", NOTHING, 202),
            ("features/0", KEY, 404),
            (choice, values, 202),
        )
    ),
    *(
        Slot("POST", f"/tags/{way}", pointer, takes, status)
        for way, found in (("rename", 200), ("merge", 404))
        for pointer, takes, status in (
            ("tag", NOTHING, 200),
            ("tag/value", LINE, 404),
            ("tag/type", LINE, 404),
            ("to", NOTHING, 200),
            ("to/value", LINE, found),
            ("to/type", NOTHING, 200),
        )
    ),
    Slot("POST", "/tags/undo", "batch", LINE, 404),
    Slot("POST", "/tags/delete", "value", LINE, 404),
    Slot("POST", "/tags/delete", "type", LINE, 404),
    Slot("PUT", TAGS, "features", NOTHING),
    Slot("PUT", TAGS, "features/0", KEY, 404),
    Slot("PUT", TAGS, "tags", NOTHING),
    Slot("PUT", TAGS, "tags/addedTags", {"[]"}),
    Slot("PUT", TAGS, "tags/addedTags/0", NOTHING),
    Slot("PUT", TAGS, "tags/addedTags/0/value", LINE),
    Slot("PUT", TAGS, "tags/addedTags/0/type", NOTHING),
    Slot("PUT", TAGS, "tags/removedTags", {"[]"}),
    Slot("PUT", TAGS, "tags/removedTags/0", NOTHING),
    Slot("PUT", TAGS, "tags/removedTags/0/value", LINE),
    Slot("PUT", TAGS, "tags/removedTags/0/type", NOTHING),
    *(
        Slot("POST", f"{SHOP}/{way}", pointer, takes, status)
        for way, status, empty in (
            ("archive", 404, 202),
            ("archive/validate", 200, 200),
            ("archive/plan", 200, 200),
            ("revive-features", 404, 200),
            ("revive", 404, 200),
            ("delete", 404, 200),
        )
        for pointer, takes, status in (("features", {"[]"}, empty), ("features/0", KEY, status))
    ),
    *(
        Slot("POST", f"{SHOP}/{way}", pointer, takes, status)
        for way, status in (("archive", 202), ("archive/plan", 200))
        for pointer, takes in (
            ("removeDependenciesOn", {"[]"}),
            ("removeDependenciesOn/0", KEY),
        )
    ),
    Slot("POST", "/tags/rename-type", "type", LINE, 404),
    Slot("POST", "/tags/rename-type", "to", KEY),
    Slot("POST", "/user/filters", "name", LINE, 201),
    Slot("POST", "/user/filters", "address", NOTHING),
    Slot("PUT", "/user/filters/{saved}", "name", LINE),
    Slot("PUT", "/user/notices/read", "upTo", ONE | ZERO),
    Slot("PUT", "/user/display/projects", "hidden", {"[]"}),
    Slot("PUT", "/user/display/projects", "hidden/0", NOTHING),
    *(
        Slot("POST", f"/features-batch/{way}", *each)
        for way in ("import", "validate")
        for each in (
            ("project", KEY, 404),
            ("environment", KEY, 404),
            ("data", NOTHING),
        )
    ),
    *(
        Slot("POST", f"/configuration/{way}", *each)
        for way in ("plan", "apply")
        for each in (
            ("version", ONE),
            *((kind, {"[]"}) for kind in (*KINDS, "browserOrigins")),
            *((f"{kind}/0", NOTHING) for kind in (*KINDS, "browserOrigins")),
        )
    ),
    Slot("POST", "/imports", "url", NOTHING),
    Slot("POST", "/imports", "token", NOTHING),
    Slot("POST", "/imports", "content", NOTHING),
    Slot("PATCH", "/imports/{planned}", "different", NOTHING),
    Slot("PATCH", "/imports/{planned}", "byKey", {"{}"}),
    Slot("PATCH", "/imports/{planned}", "leftOut", {"[]"}),
    Slot("PATCH", "/imports/{planned}", "leftOut/0", NOTHING),
    Slot("PATCH", "/imports/{planned}", "chosen", NULL),
    Slot("PATCH", "/imports/{planned}", "chosen/projects", NOTHING),
    Slot("PATCH", "/imports/{planned}", "chosen/projects/0", NOTHING),
    Slot("PATCH", "/imports/{planned}", "chosen/prefix", NOTHING),
    Slot("PATCH", "/imports/{planned}", "chosen/names", NOTHING),
    Slot("PATCH", "/imports/{planned}", "chosen/names/0", NOTHING),
    Slot("POST", "/imports/{planned}/apply", "digest", LINE, 202),
    Slot("POST", EXPORT, "environment", KEY, 404),
    Slot("POST", EXPORT, "features", {"[]"}),
    Slot("POST", EXPORT, "features/0", NOTHING),
    Slot("POST", EXPORT, "tag", LINE),
    Slot("POST", EXPORT, "project", KEY),
    Slot("POST", EXPORT, "downloadFile", TRUTH),
    Slot("POST", "/tag-types", "name", KEY, 201),
    Slot("POST", "/tag-types", "description", (PROSE | NULL) - {"a line break"}, 201),
    Slot("POST", "/tag-types", "hue", ONE, 201),
    Slot("PUT", "/tag-types/team", "description", (PROSE | NULL) - {"a line break"}),
    Slot("PUT", "/tag-types/team", "hue", ONE),
    Slot("PUT", "/tag-types/team", "name", ANYTHING),
    *of_constraint("POST", "/constraints/validate", "", 204),
    *of_strategy("POST", STRATEGIES),
    *of_strategy("PUT", f"{STRATEGIES}/{{first}}"),
    *(
        Slot("PUT", f"{STRATEGIES}/{{first}}", name, ANYTHING)
        for name in ("id", "environment", "summary", "createdAt")
    ),
    *of_contents("POST", DEFAULT),
    *(Slot("POST", DEFAULT, name, ANYTHING) for name in ("id", "summary", "disabled", "sortOrder")),
    *of_milestones("POST", f"{PLACE}/release-plans", 201),
    Slot("POST", f"{PLACE}/release-plans", "templateId", NOTHING),
    Slot("POST", f"{PLACE}/release-plans", "start", TRUTH, 201),
    Slot("POST", f"{PLACE}/release-plans", "startAt", NULL, 201),
    Slot("POST", f"{PLACE}/release-plans", "whenStopped", NOTHING),
    *(Slot("POST", f"{WALK}/{act}", "reason", (PROSE | NULL) - {"a line break"}) for act in ACTS),
    Slot("PUT", PROGRESSION, "targetMilestone", NULL),
    Slot("PUT", PROGRESSION, "transitionCondition", NOTHING),
    *(
        Slot("PUT", PROGRESSION, name, what)
        for name, what in of_transition("transitionCondition").items()
    ),
    *of_template("POST", "/release-plan-templates", 201),
    *of_template("PUT", "/release-plan-templates/{template}", 200),
    *of_template("POST", f"{SHOP}/release-templates", 201),
    *of_template("PUT", f"{SHOP}/release-templates/{{template}}", 200),
    *of_patch("PATCH", f"{STRATEGIES}/{{first}}", (PROSE | NULL) - {"a line break"}),
    Slot("PUT", f"{PLACE}/variants", "0", NOTHING),
    *of_variant("PUT", f"{PLACE}/variants", "0/"),
    Slot("PUT", f"{PLACE}/variants", "0/overrides", {"[]"}),
    Slot("PUT", f"{PLACE}/variants", "0/overrides/0", NOTHING),
    Slot("PUT", f"{PLACE}/variants", "0/overrides/0/contextName", NOTHING),
    Slot("PUT", f"{PLACE}/variants", "0/overrides/0/values", NOTHING),
    Slot("PUT", f"{PLACE}/variants", "0/overrides/0/values/0", LINE),
    *of_segment("POST", "/segments", 201),
    *of_segment("PUT", "/segments/{segment}", 204),
    *(
        Slot("PUT", "/segments/{segment}", name, ANYTHING, 204)
        for name in ("id", "createdAt", "usedInStrategies", "usedInFeatures", "usedInProjects")
    ),
    Slot("POST", "/segments/validate", "name", LINE, 204),
    Slot("POST", "/playground", "environment", NOTHING),
    Slot("POST", "/playground/advanced", "environments", NOTHING),
    Slot("POST", "/playground/advanced", "environments/0", NOTHING),
    *(
        Slot("POST", path, pointer, takes)
        for path in ("/playground", "/playground/advanced")
        for pointer, takes in (
            ("projects", {"[]"}),
            ("context", {"{}", "an object"}),
        )
    ),
    Slot("POST", "/segments/strategies", "projectId", KEY, 404),
    Slot("POST", "/segments/strategies", "environmentId", KEY, 404),
    Slot("POST", "/segments/strategies", "strategyId", NOTHING),
    Slot("POST", "/segments/strategies", "segmentIds", {"[]"}, 201),
    Slot("POST", "/segments/strategies", "segmentIds/0", ONE, 201),
    Slot("POST", "/strategies", "name", KEY, 201),
    *of_type("POST", "/strategies", 201),
    *of_type("PUT", "/strategies/by-region", 200),
    *(
        Slot("PUT", "/strategies/by-region", name, ANYTHING)
        for name in ("name", "displayName", "editable", "deprecated")
    ),
    Slot("POST", f"{STRATEGIES}/set-sort-order", "0", NOTHING),
    Slot("POST", f"{STRATEGIES}/set-sort-order", "0/id", NOTHING),
    Slot("POST", f"{STRATEGIES}/set-sort-order", "0/sortOrder", ONE | ZERO),
    *(
        Slot("POST", f"{SEVERAL}/{way}", pointer, takes, status)
        for way, status in (("on", 404), ("off", 404), ("on/plan", 200), ("off/plan", 200))
        for pointer, takes in (("features", NOTHING), ("features/0", KEY))
    ),
    Slot("POST", "/ui-config/cors", "frontendApiOrigins", {"[]"}, 204),
    Slot("POST", "/ui-config/cors", "frontendApiOrigins/0", NOTHING),
    Slot("POST", "/context", "name", KEY, 201),
    Slot("POST", "/context", "description", (PROSE | NULL) - {"a line break"}, 201),
    Slot("POST", "/context", "stickiness", TRUTH, 201),
    Slot("POST", "/context", "sortOrder", ONE | ZERO, 201),
    Slot("POST", "/context", "legalValues", {"[]"}, 201),
    Slot("POST", "/context", "legalValues/0", NOTHING, 201),
    Slot("POST", "/context", "legalValues/0/value", LINE, 201),
    Slot("POST", "/context", "legalValues/0/description", (PROSE | NULL) - {"a line break"}, 201),
    Slot("PUT", "/context/plan", "description", (PROSE | NULL) - {"a line break"}),
    Slot("PUT", "/context/plan", "stickiness", TRUTH),
    Slot("PUT", "/context/plan", "sortOrder", ONE | ZERO),
    Slot("PUT", "/context/plan", "legalValues", {"[]"}),
    Slot("PUT", "/context/plan", "legalValues/0", NOTHING),
    Slot("PUT", "/context/plan", "legalValues/0/value", LINE),
    Slot("PUT", "/context/plan", "legalValues/0/description", (PROSE | NULL) - {"a line break"}),
    Slot("PUT", "/context/plan", "name", ANYTHING),
    Slot("PUT", "/context/plan", "createdAt", ANYTHING),
    Slot("POST", "/context/plan/legal-values", "value", LINE),
    Slot("POST", "/context/plan/legal-values", "description", (PROSE | NULL) - {"a line break"}),
    Slot("POST", "/environments", "name", KEY, 201),
    Slot("POST", "/environments", "type", NOTHING),
    Slot("POST", "/environments", "sortOrder", ONE | ZERO, 201),
    Slot("PUT", "/environments/production", "type", NOTHING),
    Slot("PUT", "/environments/production", "sortOrder", ONE | ZERO),
    Slot("PUT", "/environments/production", "deprecated", TRUTH),
    Slot("PUT", "/environments/production", "name", ANYTHING),
]


def with_value(body: dict[str, Any], pointer: str, value: Any) -> dict[str, Any]:
    """The body with another value at the pointer, where lists and objects are made as needed."""
    changed = deepcopy(body)
    part: Any = changed
    *before, last = pointer.split("/")
    for step, after in zip(before, pointer.split("/")[1:], strict=True):
        if isinstance(part, list):
            if not part:
                part.append({})
            part = part[int(step)]
        else:
            part = part.setdefault(step, [] if after.isdigit() else {})
    if isinstance(part, list):
        part[:1] = [value]
    else:
        part[last] = value
    return changed
