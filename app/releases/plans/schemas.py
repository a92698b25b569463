from typing import Any

from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from app.catalogue.releases.models import MAX_REASON, ReleaseState
from app.releases.plans.service import ENDINGS, OFF
from app.releases.templates.schemas import MilestoneRow, Milestones, TransitionCondition
from app.web.listing import PageQuery, Sort
from app.web.schemas import (
    Key,
    QueryBoolean,
    QueryNumber,
    Schema,
    SingleLine,
    StrictBoolean,
    Timestamp,
)


class ReleaseFields(Schema):
    template_id = SingleLine(
        high=36, metadata={"description": "The template whose steps it takes."}
    )
    milestones = Milestones(
        metadata={"description": "Its own steps, instead of those of the template."}
    )
    start_at = Timestamp(
        allow_none=True, metadata={"description": "When the first step starts by itself."}
    )
    when_stopped = fields.String(
        load_default=OFF,
        validate=validate.OneOf(ENDINGS, error="Send “off” or “restore”."),
        metadata={"description": "“restore”: the strategies of before come back."},
    )


class NewRelease(ReleaseFields):
    start = StrictBoolean(
        load_default=False, metadata={"description": "Start the first step at once."}
    )


BEGINNINGS = ("now", "at", "hand")


class StartInput(NewRelease):
    """What the form to start a release sends."""

    begins = fields.String(validate=validate.OneOf(BEGINNINGS), load_default=BEGINNINGS[0])
    start_at = Timestamp(allow_none=True, error_messages={"invalid": "Enter a date and a time."})

    @validates_schema
    def _check(self, data: dict[str, Any], **_: Any) -> None:
        if data["begins"] == "at" and not data.get("start_at"):
            raise ValidationError("Enter a date and a time.", "startAt")

    @post_load
    def _begin(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        begins = data.pop("begins")
        at = data.pop("start_at", None)
        return data | {"start": begins == "now"} | ({"start_at": at} if begins == "at" else {})


class ReleaseReason(Schema):
    reason = SingleLine(low=0, high=MAX_REASON, allow_none=True, load_default=None)


class Progression(Schema):
    target_milestone = SingleLine(
        high=36,
        allow_none=True,
        metadata={"description": "The step that starts then. Default: the next one."},
    )
    transition_condition = fields.Nested(TransitionCondition, required=True)


class ReleaseQuery(PageQuery):
    sort = Sort("feature", "createdAt", "endedAt")
    text = SingleLine(high=100, metadata={"description": "Part of the feature’s or its own name."})
    project = Key()
    feature = Key()
    environment = Key()
    state = fields.Enum(ReleaseState, by_value=True)
    is_open = QueryBoolean(
        data_key="open", metadata={"description": "Under way, or ended. Default: under way."}
    )
    waits = QueryBoolean(metadata={"description": "Those that wait for someone."})
    created_by = QueryNumber(low=1, metadata={"description": "The id of who created it."})


class HoldRow(Schema):
    since = fields.String()
    until = fields.String()
    by = fields.String()
    reason = fields.String(allow_none=True)


class ReviewedStep(Schema):
    """What a step will mean."""

    name = fields.String()
    says = fields.String(metadata={"description": "People with the feature then."})
    due_at = Timestamp(allow_none=True, metadata={"description": "At the earliest."})
    starts = fields.String(metadata={"enum": ["automatically", "by hand"]})


class ReviewedPerson(Schema):
    """When a made-up person would get the feature."""

    person = fields.String()
    step = fields.Integer(allow_none=True, metadata={"description": "From 1. Null: never."})
    why = fields.String()


class ReleaseReview(Schema):
    steps = fields.List(fields.Nested(ReviewedStep))
    people = fields.List(fields.Nested(ReviewedPerson))
    warnings = fields.List(fields.String())


class ReleaseRow(Schema):
    volatile = frozenset({"summary"})
    extended = frozenset(
        {
            *("project", "state", "summary", "nextAt", "isAutomatic", "whenStopped", "holds"),
            *("startedBy", "endedAt", "endedBy", "reason", "changeRequestId", "review"),
        }
    )

    id = fields.String(attribute="release.id")
    discriminator = fields.Constant("plan", metadata={"type": "string"})
    name = fields.String(attribute="release.name")
    description = fields.String(allow_none=True, attribute="release.description")
    project = fields.String(attribute="project_id")
    feature_name = fields.String(attribute="feature")
    environment = fields.String(attribute="release.environment")
    release_plan_template_id = fields.Function(
        lambda view: view.release.template_id or "", metadata={"type": "string"}
    )
    created_by_user_id = fields.Function(
        lambda view: view.release.created_by_id or 0, metadata={"type": "integer"}
    )
    created_at = Timestamp(attribute="release.created_at")
    active_milestone_id = fields.Function(
        lambda view: view.step and view.step.id, metadata={"type": "string", "nullable": True}
    )
    milestones = fields.List(fields.Nested(MilestoneRow))
    safeguards: fields.Constant[list[object]] = fields.Constant(
        [], metadata={"type": "array", "items": {"type": "object"}}
    )
    state = fields.String(attribute="release.state.value")
    summary = fields.String(
        attribute="headline", metadata={"description": "Where it is, in a sentence."}
    )
    next_at = Timestamp(
        allow_none=True,
        attribute="release.next_at",
        metadata={"description": "When the next step can start. Null: at any time, or never."},
    )
    is_automatic = fields.Boolean(
        attribute="release.is_automatic", metadata={"description": "It starts by itself then."}
    )
    when_stopped = fields.Function(
        lambda view: ENDINGS[view.release.restores],
        metadata={"type": "string", "enum": list(ENDINGS)},
    )
    holds = fields.List(fields.Nested(HoldRow), attribute="release.holds")
    started_by = fields.String(allow_none=True, attribute="release.started_by")
    ended_at = Timestamp(allow_none=True, attribute="release.ended_at")
    ended_by = fields.String(allow_none=True, attribute="release.ended_by")
    reason = fields.String(allow_none=True, attribute="release.reason")
    change_request_id = fields.Integer(allow_none=True, attribute="release.request_id")


class ReviewedRelease(ReleaseRow):
    """A release with what its steps will mean."""

    review = fields.Nested(ReleaseReview)


class ReleaseList(Schema):
    releases = fields.List(fields.Nested(ReleaseRow), attribute="items")
    total = fields.Integer()
