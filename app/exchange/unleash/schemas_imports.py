"""Imports as JSON."""

import re
from typing import Any

from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from app.core.targets import PATTERN
from app.core.words import MAX_KEY
from app.exchange.documents import schemas
from app.exchange.documents.documents import Document, Fault, Kind, empty
from app.exchange.documents.plans import Choice, Status, Wanted
from app.exchange.documents.renaming import fitting_name
from app.exchange.unleash import choosing
from app.exchange.unleash.models import ImportState
from app.exchange.unleash.unleash import Translation
from app.web.schemas import KeySet, Schema, SingleLine, StrictList, Timestamp

LONGEST_TOKEN = 500
MAX_DECISIONS = 50_000
OF_PROJECTS = {Kind.DEFAULT_STRATEGIES, Kind.RELEASE_TEMPLATES, Kind.FEATURES, Kind.SDK_TOKENS}
MAX_NAME = 255
"""Unleash had longer names than Flagstaff allows."""


class _Address(SingleLine):
    default_error_messages = {  # noqa: RUF012 - marshmallow's own way to set it
        "address": "Enter an address like https://unleash.example.com"
    }

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, *args, **kwargs)
        if not re.fullmatch(PATTERN, text):
            raise self.make_error("address")
        return text


class NewImport(Schema):
    """Where to read from: a running Unleash, or what one exported."""

    url = _Address(
        high=500,
        metadata={
            "pattern": PATTERN,
            "description": "The address of a running Unleash, version 5 or later.",
        },
    )
    token = SingleLine(
        high=LONGEST_TOKEN,
        metadata={"description": "A personal access token of an admin there. Not stored."},
    )
    content = fields.Dict(
        keys=fields.String(),
        metadata={"description": "An export of Unleash: of features, or of a whole state."},
    )

    @validates_schema(skip_on_field_errors=True)
    def _check(self, data: dict[str, Any], **_: Any) -> None:
        if ("url" in data) == ("content" in data):
            raise ValidationError("Send either url with token, or content.", "url")
        if "content" in data and "token" in data:
            raise ValidationError("Send it with url, not with content.", "token")
        if "url" in data and "token" not in data:
            raise ValidationError("This field is required.", "token")


class ImportChoice(Schema):
    """Which features come: those that all of this holds for."""

    projects = KeySet(
        validate=validate.Length(min=1, error="Name at least one project."),
        metadata={
            "description": "Ids of projects there. They come whole: with their segments, default "
            "strategies, release templates, and the SDK tokens that read nothing else."
        },
    )
    prefix = SingleLine(high=MAX_KEY, metadata={"description": "What their names begin with."})
    names = StrictList(
        SingleLine(high=MAX_NAME),
        validate=validate.Length(min=1, error="Name at least one feature."),
        metadata={"description": "Their names there."},
    )

    @post_load
    def _drop_repeated(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return data | {"names": [*dict.fromkeys(data["names"])]} if "names" in data else data


class ImportDecisions(Schema):
    """What to do with things; what is left out stays decided as it was."""

    different = fields.Enum(
        Choice,
        by_value=True,
        validate=validate.OneOf([Choice.KEEP, Choice.TAKE]),
        metadata={
            "enum": [Choice.KEEP.value, Choice.TAKE.value],
            "description": "What to do with all that is here and differs.",
        },
    )
    by_key = fields.Dict(
        keys=SingleLine(high=400),
        values=SingleLine(high=120),
        validate=validate.Length(max=MAX_DECISIONS),
        metadata={
            "description": "A choice of an entry by its key: take, keep, leave-out, switched-off, "
            "or rename:NAME."
        },
    )
    left_out = StrictList(
        fields.Enum(Kind, by_value=True),
        metadata={"description": "Kinds of which nothing is imported."},
    )
    chosen = fields.Nested(
        ImportChoice,
        allow_none=True,
        metadata={
            "description": "Which features come, with what they need. Null: everything that was "
            "read. Users, browser origins and release templates for all projects come only with "
            "everything."
        },
    )

    @post_load
    def _read_null(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        if data.get("chosen") == {}:
            raise ValidationError("Give projects, prefix or names.", "chosen")
        return data | {"chosen": data["chosen"] or {}} if "chosen" in data else data


class ImportApplication(Schema):
    digest = SingleLine(
        high=64, required=True, metadata={"description": "Of the plan that you have read."}
    )


class ImportEntryRow(Schema):
    """A thing that needs a look."""

    key = fields.String()
    kind = fields.String(metadata={"enum": [*Kind]})
    name = fields.String(metadata={"description": "The name that it gets here."})
    was = fields.String(metadata={"description": "The name that it has there."})
    status = fields.String(metadata={"enum": [*Status]})
    choice = fields.String(metadata={"enum": [*Choice]})
    choices = fields.Function(
        lambda entry: [choice for choice, _ in entry["choices"]],
        metadata={"type": "array", "items": {"type": "string"}},
    )
    new_name = fields.String(attribute="newName")
    faults = fields.List(fields.String())
    differences = fields.List(fields.String())
    since = fields.String(
        allow_none=True,
        metadata={
            "enum": ["here", "there", "both", None],
            "description": "Where it has changed since the last import from there.",
        },
    )
    needs_approval_in = fields.List(fields.String(), attribute="proposed")


class UnknownNameRow(Schema):
    name = fields.String()
    similar = fields.String(
        allow_none=True, metadata={"description": "A feature there that is spelled like it."}
    )


class ImportPlanRow(Schema):
    digest = fields.String()
    number = fields.Integer(metadata={"description": "How many things are written."})
    counts = fields.Dict(
        keys=fields.String(), values=fields.Dict(keys=fields.String(), values=fields.Integer())
    )
    names = fields.Dict(
        keys=fields.String(),
        values=fields.Dict(keys=fields.String(), values=fields.List(fields.String())),
        metadata={"description": "The names there of everything, by kind and status."},
    )
    features_there = fields.Integer(
        attribute="there",
        metadata={"description": "How many features were read, also those that don’t come."},
    )
    parents = fields.List(
        fields.String(),
        metadata={"description": "Features that come because chosen ones depend on them."},
    )
    unknown_names = fields.List(
        fields.Nested(UnknownNameRow),
        attribute="unknown",
        metadata={"description": "Chosen names that aren’t there."},
    )
    attention = fields.List(
        fields.Nested(ImportEntryRow),
        metadata={"description": "What differs, can’t come, or needs approval; at most 1,000."},
    )
    notes = fields.List(fields.String())


class ImportRow(Schema):
    volatile = frozenset({"progress"})

    id = fields.Integer()
    source = fields.String()
    state = fields.Enum(ImportState, by_value=True, attribute="phase")
    created_at = Timestamp()
    created_by = fields.String()
    finished_at = Timestamp(allow_none=True)
    batch_id = fields.String(allow_none=True)
    failure = fields.String(allow_none=True, attribute="problem")


class ImportDetail(ImportRow):
    chosen = fields.Nested(
        ImportChoice,
        allow_none=True,
        metadata={"description": "Which features come. Null: everything that was read."},
    )
    plan = fields.Nested(
        ImportPlanRow,
        allow_none=True,
        metadata={"description": "What applying it would do, or did. Null while it is read."},
    )
    change_requests = fields.List(fields.Integer())


class ImportList(Schema):
    version = fields.Constant(1)
    imports = fields.List(fields.Nested(ImportRow))


def wanted(translation: Translation, environments: list[str] | None = None) -> Wanted:
    """The checked content of a translation, with its faults by kind and name. Empties it.

    ``environments``: those whose states the source knows; by default those that it has.
    """
    document: Document = empty()
    faults: dict[tuple[Kind, str], list[Fault]] = {
        key: found for key, found in translation.faults.items() if found
    }
    known = environments or list(translation.raws[Kind.ENVIRONMENTS])
    for kind, raws in translation.raws.items():
        for name in list(raws):
            raw = raws.pop(name)
            has_odd_name = any(f.path == "name" for f in faults.get((kind, name), ()))
            checked = raw | {"name": fitting_name(name)} if has_odd_name else raw
            item, problems = schemas.checked(kind, checked)
            if problems:
                faults.setdefault((kind, name), []).extend(problems)
            if item is not None:
                document[kind][name] = item | {"name": raw["name"]} if has_odd_name else item
            elif kind in OF_PROJECTS:
                translation.lost[f"{kind}:{name}"] = choosing.places(raw)
    return Wanted(document, faults, translation.fields, known, is_exact=True, lost=translation.lost)
