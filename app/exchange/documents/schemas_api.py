"""Documents and their plans as JSON."""

from typing import Any

from marshmallow import EXCLUDE, fields, validate

from app.exchange.documents.documents import VERSION, Kind
from app.exchange.documents.plans import Choice, Status
from app.web.schemas import Key, Schema, SingleLine, StrictList, WholeNumber


def _things(kind: Kind, has: str) -> Any:
    """The list of things of a kind. ``schemas_files`` checks each of them."""
    description = f"{kind.many.capitalize()}: {has}."
    return StrictList(fields.Dict(), attribute=kind.value, metadata={"description": description})


class ConfigurationDocument(Schema):
    """What a file of flagstaff export says. Fields that have their usual value are left out."""

    version = WholeNumber(
        required=True,
        validate=validate.Equal(VERSION, error=f"Must be {VERSION}."),
        metadata={"enum": [VERSION]},
    )
    environments = _things(Kind.ENVIRONMENTS, "name, type, sortOrder, deprecated")
    context_fields = _things(
        Kind.CONTEXT_FIELDS, "name, description, stickiness, sortOrder, legalValues"
    )
    strategy_types = _things(Kind.STRATEGY_TYPES, "name, description, parameters, deprecated")
    tag_types = _things(Kind.TAG_TYPES, "name, description, hue")
    tags = _things(Kind.TAGS, "type, value")
    users = _things(Kind.USERS, "username, email, name, rootRole (its name)")
    service_accounts = _things(Kind.SERVICE_ACCOUNTS, "username, name, rootRole (its name)")
    projects = _things(
        Kind.PROJECTS,
        "id, name, description, mode, defaultStickiness, environments, approvals (numbers by "
        "environment), members (roles by username), archived",
    )
    segments = _things(Kind.SEGMENTS, "name, description, project, constraints")
    default_strategies = _things(
        Kind.DEFAULT_STRATEGIES, "project, environment, and a strategy with segments by name"
    )
    release_templates = _things(
        Kind.RELEASE_TEMPLATES,
        "name, description, project (null: all can use it), milestones (name, strategies with "
        "segments by name, transitionCondition)",
    )
    features = _things(
        Kind.FEATURES,
        "name, project, type, description, stale, impressionData, archived, completed, tags "
        "(type:value), links (url, title), parent, environments (enabled, strategies and "
        "variants by environment)",
    )
    browser_origins = StrictList(
        fields.String(),
        attribute=Kind.BROWSER_ORIGINS.value,
        metadata={"description": "Sites that may read features in browsers."},
    )


class ExportQuery(Schema):
    project = Key(metadata={"description": "Only this project, with what it refers to."})


class PlanQuery(Schema):
    class Meta:
        unknown = EXCLUDE  # dryRun, which any write takes

    plan = SingleLine(
        high=64,
        metadata={
            "description": "The digest of the plan that you have read. If the plan is another one "
            "now, the answer is 409 and nothing changes. Without it, the present plan is applied."
        },
    )


class ConfigurationDifference(Schema):
    path = fields.String(metadata={"description": "The field, like production/enabled."})
    here = fields.Raw(allow_none=True, metadata={"description": "Its value on this server."})
    there = fields.Raw(allow_none=True, metadata={"description": "Its value in the document."})


class ConfigurationEntry(Schema):
    kind = fields.String(metadata={"enum": [*Kind]})
    name = fields.String()
    status = fields.String(metadata={"enum": [*Status]})
    choice = fields.String(metadata={"enum": [*Choice]})
    faults = fields.List(
        fields.String(), metadata={"description": "Why it can’t be applied. Then nothing is."}
    )
    differences = fields.List(fields.Nested(ConfigurationDifference))
    needs_approval_in = fields.List(
        fields.String(),
        attribute="proposed",
        metadata={"description": "Environments whose changes go into a change request."},
    )


class ConfigurationPlan(Schema):
    digest = fields.String(
        attribute="plan.digest", metadata={"description": "Equal for plans with equal effects."}
    )
    counts = fields.Function(
        lambda shown: {kind.value: dict(found) for kind, found in shown.plan.counts().items()},
        metadata={
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": {"type": "integer"},
            },
            "description": "How many things there are, by kind and status.",
        },
    )
    entries = fields.List(
        fields.Nested(ConfigurationEntry),
        attribute="plan.reported",
        metadata={"description": "Things with changes or faults, in the order of writing."},
    )


class ShownConfigurationPlan(ConfigurationPlan):
    lines = fields.List(
        fields.String(), metadata={"description": "The plan in words, as flagstaff apply shows it."}
    )
    summary = fields.List(
        fields.String(),
        metadata={"description": "The numbers in words, and how much is only on this server."},
    )


class AppliedConfiguration(ConfigurationPlan):
    batch_id = fields.Function(
        lambda applied: applied.batch_id if applied.plan.written else None,
        metadata={
            "type": ["string", "null"],
            "description": "Of the events in the event log; null if nothing was to change.",
        },
    )
    change_requests = fields.List(
        fields.Integer(),
        attribute="result.change_requests",
        metadata={
            "description": "The ids of those that wait for approval. If one of the caller waits "
            "with the same changes, no other is opened."
        },
    )
