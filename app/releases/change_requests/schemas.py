import re
from collections.abc import Mapping
from typing import Any

from marshmallow import EXCLUDE, ValidationError, fields, validate

from app.catalogue.features.schemas import Parent
from app.catalogue.projects.schemas import MAX_APPROVALS
from app.catalogue.segments.schemas import SegmentChanges
from app.catalogue.strategies.schemas import NewStrategy, StrategyChanges, StrategyOrder
from app.catalogue.strategies.schemas_variants import FeatureVariant, Variants
from app.core.clock import in_text
from app.core.db import MAX_ID
from app.core.words import camel_case
from app.releases.change_requests.models import (
    MAX_CHANGES,
    MAX_TEXT,
    MAX_TITLE,
    NEW_DRAFT,
    Action,
    State,
)
from app.releases.plans.schemas import ReleaseFields
from app.web.listing import PageQuery, Sort
from app.web.schemas import (
    Key,
    Multiline,
    QueryNumber,
    Schema,
    SingleLine,
    StrictBoolean,
    StrictList,
    Timestamp,
    WholeNumber,
)

MAX_REVIEWERS = 50


class _Enabled(Schema):
    enabled = StrictBoolean(required=True)


class _Id(fields.UUID):
    """The id of a strategy, kept as text."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        return str(super()._deserialize(value, *args, **kwargs))


class _OneStrategy(Schema):
    id = _Id(required=True)


class _StrategyUpdate(StrategyChanges):
    id = _Id(required=True)  # type: ignore[assignment] # ignored where the address has it


class _Variants(Schema):
    variants = Variants(FeatureVariant, required=True)


class _Parent(Schema):
    feature = Key(metadata={"description": "The parent. Without it, whichever there is."})


class _ImpressionData(Schema):
    impression_data = StrictBoolean(required=True)


class _OneSegment(Schema):
    id = WholeNumber(low=1, high=MAX_ID, required=True)


class _SegmentUpdate(SegmentChanges):
    id = WholeNumber(low=1, high=MAX_ID, required=True)


class _Approvals(Schema):
    required_approvals = WholeNumber(low=0, high=MAX_APPROVALS, required=True)


class _StartAt(Timestamp):
    """Kept as text, as the change is stored."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        return in_text(super()._deserialize(value, *args, **kwargs))


class _Release(ReleaseFields):
    start_at = _StartAt(allow_none=True)


class _Step(Schema):
    plan_id = SingleLine(high=36, required=True)
    milestone_id = SingleLine(high=36, required=True)


PAYLOADS: dict[Action, Schema] = {
    Action.UPDATE_ENABLED: _Enabled(),
    Action.ADD_STRATEGY: NewStrategy(),
    Action.UPDATE_STRATEGY: _StrategyUpdate(),
    Action.DELETE_STRATEGY: _OneStrategy(),
    Action.REORDER_STRATEGY: StrategyOrder(many=True),
    Action.PATCH_VARIANT: _Variants(),
    Action.ARCHIVE_FEATURE: Schema(),
    Action.ADD_DEPENDENCY: Parent(),
    Action.DELETE_DEPENDENCY: _Parent(),
    Action.UPDATE_IMPRESSION_DATA: _ImpressionData(),
    Action.ADD_RELEASE_PLAN: _Release(),
    Action.START_MILESTONE: _Step(),
    Action.UPDATE_SEGMENT: _SegmentUpdate(),
    Action.DELETE_SEGMENT: _OneSegment(),
    Action.UPDATE_APPROVALS: _Approvals(),
    Action.REMOVE_ENVIRONMENT: Schema(),
    Action.ARCHIVE_PROJECT: Schema(),
}


class _Payload(fields.Raw):
    def __init__(self, **kwargs: Any) -> None:
        description = (
            "What the action needs: enabled; the fields of a strategy, with its id unless it is "
            "new; an array of strategy ids with their sortOrder; variants; the parent as feature; "
            "impressionData; the fields of a release; planId and milestoneId; the fields of a "
            "segment with its id; or requiredApprovals."
        )
        objects = {"type": "array", "items": {"type": "object"}}
        metadata = {"description": description, "oneOf": [{"type": "object"}, objects]}
        super().__init__(metadata=metadata, **kwargs)


class EditedChange(Schema):
    """``payload`` is loaded by the schema of the action that the change has."""

    action = fields.Enum(Action, by_value=True, required=True)
    feature = Key(
        allow_none=True,
        metadata={"description": "Null for what is done to a segment or to the project."},
    )
    payload = _Payload(load_default=dict)

    def load(self, data: Any, **kwargs: Any) -> Any:
        loaded = super().load(data, **kwargs)
        for place, each in enumerate(loaded if isinstance(loaded, list) else [loaded]):
            _load_payload(each, place if isinstance(loaded, list) else None)
        return loaded


class ProposedChanges(EditedChange):
    """One change, or an array of them."""

    one_or_many = True

    def load(self, data: Any, **kwargs: Any) -> Any:
        kwargs["many"] = isinstance(data, list)
        if kwargs["many"] and not 1 <= len(data) <= MAX_CHANGES:
            raise ValidationError(f"Send 1 to {MAX_CHANGES:,} changes.")
        return super().load(data, **kwargs)


class _Draft(fields.String):
    """“new”, which is NEW_DRAFT, or the number of a draft."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, *args, **kwargs)
        if text == "new":
            return NEW_DRAFT
        if not re.fullmatch(r"[1-9]\d{0,8}", text):
            raise ValidationError("Send the number of your draft, or “new”.")
        return int(text)


class ProposalQuery(Schema):
    class Meta:
        unknown = EXCLUDE  # dryRun, which any write takes

    draft = _Draft(
        metadata={
            "description": "The number of your draft, or “new”. Default: the draft that you began "
            "last, or a new one.",
            "pattern": r"^(new|[1-9][0-9]{0,8})$",
        }
    )


class NewState(Schema):
    """Takes null, as Unleash’s clients send it for what they don’t say."""

    state = fields.Enum(State, by_value=True, required=True)
    comment = Multiline(
        low=0, high=MAX_TEXT, allow_none=True, metadata={"description": "Needed to reject."}
    )
    scheduled_at = Timestamp(
        allow_none=True, metadata={"description": "When to apply it, to schedule it."}
    )
    version = WholeNumber(
        low=1, metadata={"description": "The one you have seen. If it is another now: 412."}
    )


class NewTitle(Schema):
    title = SingleLine(low=0, high=MAX_TITLE, required=True)
    description = Multiline(low=0, high=MAX_TEXT, allow_none=True)


class NewComment(Schema):
    text = Multiline(high=MAX_TEXT, required=True)


class Reviewers(Schema):
    reviewers = StrictList(
        WholeNumber(low=1, high=MAX_ID),
        required=True,
        validate=validate.Length(max=MAX_REVIEWERS),
        metadata={"maxItems": MAX_REVIEWERS},
    )


class ApprovalsConfig(Schema):
    change_requests_enabled = StrictBoolean(required=True)
    required_approvals = WholeNumber(low=1, high=MAX_APPROVALS, allow_none=True)


class ChangeRequestQuery(PageQuery):
    sort = Sort("id", "createdAt", "title")
    text = SingleLine(
        high=100,
        metadata={"description": "Part of the title or of a feature’s name, or the number."},
    )
    environment = Key()
    state = fields.Enum(State, by_value=True)
    feature = Key()
    created_by = QueryNumber(low=1, metadata={"description": "The id of the author."})
    waits_for = fields.String(
        validate=validate.OneOf(["approval", "applying"]),
        metadata={"description": "Those that wait for your approval, or that you can apply."},
    )


class SearchQuery(ChangeRequestQuery):
    project = Key()


class ReviewerRow(Schema):
    id = fields.Integer()
    username = fields.String(attribute="label")
    name = fields.String(allow_none=True)


def _by(thing: Any) -> dict[str, Any]:
    return {"id": thing.created_by_id, "username": thing.created_by}


class _ByField(fields.Function):
    def __init__(self) -> None:
        super().__init__(
            _by,
            metadata={
                "type": "object",
                "properties": {
                    "id": {"type": "integer", "nullable": True},
                    "username": {"type": "string"},
                },
            },
        )


def sent(payload: Any) -> Any:
    """A stored payload as requests send it."""
    if isinstance(payload, list):
        return [sent(each) for each in payload]
    inner = {"replace_parameters"}  # of a form, which shows all parameters
    found = {camel_case(name): value for name, value in payload.items() if name not in inner}
    if "milestones" in found:
        found["milestones"] = [_sent_step(step) for step in found["milestones"]]
    return found


def _sent_step(step: Mapping[str, Any]) -> dict[str, Any]:
    transition = step.get("transition_condition")
    return {
        "name": step["name"],
        "strategies": sent(step["strategies"]),
        "transitionCondition": transition and sent(transition),
    }


class ListedChange(Schema):
    id = fields.Integer()
    action = fields.Enum(Action, by_value=True)
    payload = fields.Function(lambda change: sent(change.payload), metadata={"type": "object"})
    created_at = Timestamp()


class ChangeRow(ListedChange):
    before = fields.Raw(
        metadata={
            "type": "object",
            "nullable": True,
            "description": "The feature there, the segment or the project, before this change.",
        },
    )
    after = fields.Raw(metadata={"type": "object", "nullable": True})


class ListedFeature(Schema):
    name = fields.String()
    changes = fields.List(fields.Nested(ListedChange))


class ChangedFeature(ListedFeature):
    changes = fields.List(fields.Nested(ChangeRow))


class ListedSegmentChange(ListedChange):
    name = fields.String(attribute="subject")
    segment = fields.Integer(attribute="segment_id")


class SegmentChange(ChangeRow):
    name = fields.String(attribute="subject")
    segment = fields.Integer(attribute="segment_id")


class ApprovalRow(Schema):
    created_by = fields.Nested(ReviewerRow)
    created_at = Timestamp()


class StepRow(Schema):
    id = fields.Integer()
    kind = fields.String(attribute="kind.value")
    text = fields.String(allow_none=True)
    created_by = _ByField()
    created_at = Timestamp()


class ScheduleRow(Schema):
    scheduled_at = Timestamp()
    status = fields.String(metadata={"enum": ["pending", "failed"]})
    reason = fields.String(allow_none=True)


class ListedChangeRequest(Schema):
    """Without what each change is about, which is most of the bytes."""

    id = fields.Integer(attribute="request.id")
    title = fields.String(attribute="title")
    description = fields.String(allow_none=True, attribute="request.description")
    project = fields.String(attribute="request.project_id")
    environment = fields.String(attribute="request.environment")
    state = fields.Enum(State, by_value=True)
    version = fields.Integer(
        attribute="request.version",
        metadata={"description": "Grows with each edit. Send it when you approve or apply."},
    )
    min_approvals = fields.Integer(
        attribute="required", metadata={"description": "How many approvals it needs."}
    )
    created_by = fields.Function(
        lambda view: _by(view.request),
        metadata={"type": "object", "properties": {"id": {"type": "integer"}}},
    )
    created_at = Timestamp(attribute="request.created_at")
    features = fields.List(fields.Nested(ListedFeature))
    segments = fields.List(fields.Nested(ListedSegmentChange))
    project_changes = fields.List(
        fields.Nested(ListedChange),
        metadata={"description": "What is done to the project: to its approvals, above all."},
    )
    approvals = fields.List(fields.Nested(ApprovalRow))
    reviewers = fields.List(fields.Nested(ReviewerRow))
    rejections = fields.List(fields.Nested(StepRow))
    comments = fields.List(fields.Nested(StepRow))
    history = fields.List(fields.Nested(StepRow), attribute="steps")
    state_timestamps = fields.Dict(keys=fields.String(), values=Timestamp())
    schedule = fields.Nested(ScheduleRow, allow_none=True)
    closed_at = Timestamp(allow_none=True, attribute="request.closed_at")
    reverses = fields.Integer(allow_none=True, attribute="request.reverses_id")
    is_outdated = fields.Boolean(
        attribute="request.is_outdated",
        metadata={"description": "Whether it leads to something else than people had approved."},
    )
    obstacle = fields.String(
        allow_none=True,
        attribute="request.obstacle",
        metadata={"description": "Why it can’t be applied, as things are now."},
    )


class _DocumentField(fields.Raw):
    def __init__(self, description: str) -> None:
        metadata = {"type": "object", "nullable": True, "description": description}
        super().__init__(metadata=metadata)


class OutcomeRow(Schema):
    feature = fields.String()
    before = _DocumentField("What applications get without it. Null: off.")
    after = _DocumentField("What they get once it is applied.")
    approved = _DocumentField("What people had approved, or its author had sent.")


class ChangeRequestRow(ListedChangeRequest):
    outcomes = fields.List(fields.Nested(OutcomeRow))
    features = fields.List(fields.Nested(ChangedFeature))
    segments = fields.List(fields.Nested(SegmentChange))
    project_changes = fields.List(fields.Nested(ChangeRow))


class ChangeRequestList(Schema):
    change_requests = fields.List(fields.Nested(ListedChangeRequest), attribute="items")
    total = fields.Integer()


class ChangeRequestCounts(Schema):
    total = fields.Integer(metadata={"description": "Those that are not drafts."})
    review_required = fields.Integer()
    approved = fields.Integer()
    scheduled = fields.Integer()
    applied = fields.Integer()
    rejected = fields.Integer()
    cancelled = fields.Integer()


class ConfigRow(Schema):
    environment = fields.String(attribute="name")
    type = fields.String(attribute="type.value")
    change_request_enabled = fields.Function(
        lambda use: bool(use.required_approvals), metadata={"type": "boolean"}
    )
    required_approvals = fields.Function(
        lambda use: use.required_approvals or None,
        metadata={"type": "integer", "nullable": True},
    )


class EffectRow(Schema):
    id = fields.Integer(attribute="change.id")
    action = fields.Enum(Action, by_value=True, attribute="change.action")
    name = fields.String(attribute="change.subject")
    before = fields.Raw(metadata={"type": "object", "nullable": True})
    after = fields.Raw(metadata={"type": "object", "nullable": True})


class PlanRow(Schema):
    can_be_applied = fields.Boolean()
    obstacles = fields.List(
        fields.String(), metadata={"description": "Why it cannot be applied now."}
    )
    changes = fields.List(fields.Nested(EffectRow))


def _load_payload(change: dict[str, Any], place: int | None) -> None:
    rules = PAYLOADS[change["action"]]
    problems = _misfits(change, rules)
    if not problems:
        try:
            change["payload"] = rules.load(change["payload"])
        except ValidationError as error:
            problems = {"payload": error.messages}
    if problems:
        raise ValidationError(problems if place is None else {place: problems})


def _misfits(change: dict[str, Any], rules: Schema) -> dict[str, Any]:
    """What is wrong with the shape of a change, before its payload is read."""
    action, feature = change["action"], change.get("feature")
    if feature and not action.is_on_feature:
        subject = "a segment" if action.is_on_segment else "the project"
        return {"feature": [f"Leave it out: this action is about {subject}."]}
    if action.is_on_feature and not feature:
        return {"feature": ["Name the feature."]}
    if isinstance(change["payload"], list) is not bool(rules.many):
        return {"payload": [f"Must be {'an array' if rules.many else 'an object'}."]}
    return {}


TABS = ("waiting", "own", "scheduled", "done")


class InboxQuery(SearchQuery):
    show = fields.String(load_default=TABS[0], validate=validate.OneOf(TABS))


class Decision(Schema):
    """What the buttons of a change request send. ``version``: the one that was shown."""

    version = WholeNumber(low=1, required=True)
    comment = Multiline(low=0, high=MAX_TEXT)
    title = SingleLine(low=0, high=MAX_TITLE)
    description = Multiline(low=0, high=MAX_TEXT)
    scheduled_at = Timestamp(
        allow_none=True, error_messages={"invalid": "Enter a date and a time."}
    )
