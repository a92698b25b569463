"""docs/unleash-api.md: what clients of Unleash meet here, operation by operation."""

import re
from pathlib import Path

from app.web.refusals import INSTEAD
from tests.unleash import facts

DOCUMENT = Path(__file__).parents[2] / "docs" / "unleash-api.md"
INTRODUCTION = """\
# What scripts for Unleash meet here

Every operation that Unleash 8.2 documents, and what Flagstaff answers. *Same* means: the statuses
and exactly the fields that Unleash documents, and each field that it documents for the request is
taken. A test asks all of them and makes this table.

With `?extended=true`, answers have the fields that only Flagstaff has too. Lists are whole unless
the request has a `limit`. An address may end with a slash.

| Operation | Here |
|---|---|
"""
FEATURES = "/api/admin/projects/{projectId}/features"
FEATURE = f"{FEATURES}/{{featureName}}"
STRATEGIES = f"{FEATURE}/environments/{{environment}}/strategies"
NEAREST = "Types that Unleash doesn’t have are named by the nearest one."
CREATED = "201, as in Unleash itself; its document has 200."
COLOUR = "`icon` and `color` are ignored: types of tags have a colour of their own here."
DIFFERS = {
    "DELETE /api/admin/tags/{type}/{value}": "409 while a feature has the tag. Remove it there.",
    "GET /api/admin/events": NEAREST,
    "GET /api/admin/events/{featureName}": NEAREST,
    "GET /api/admin/search/events": NEAREST,
    "GET /api/admin/tag-types/{name}": "As documented. Unleash itself answers `tagType` around it.",
    "GET /api/admin/user": "Has `user.isAPI` too.",
    "GET /api/admin/user-admin/search": "For Admins only.",
    "GET /api/admin/user/tokens": "A token that never expires does so in the year 9999.",
    f"GET {STRATEGIES}": "A list, as in Unleash itself; its document has one strategy.",
    "POST /api/admin/environments/{name}/off": "Deprecates it: new projects no longer get it.",
    f"POST {FEATURES}": CREATED,
    f"POST {FEATURE}/clone": CREATED,
    "POST /api/admin/tag-types": COLOUR,
    "PUT /api/admin/tag-types/{name}": COLOUR,
}
"""What differs, and why. ``FAULTS`` in the tests lists what they can measure of it."""


def instead(operation: facts.Operation) -> str | None:
    """What to use instead of an operation that is not here."""
    return next(
        (text for path, text in INSTEAD.items() if re.fullmatch(path, operation.path)), None
    )


def written() -> str:
    rows = [f"| `{operation}` | {_here(operation)} |\n" for operation in facts.operations()]
    return INTRODUCTION + "".join(rows)


def _here(operation: facts.Operation) -> str:
    if sentence := instead(operation):
        return f"Not here. {sentence}"
    return DIFFERS.get(str(operation), "Same")
