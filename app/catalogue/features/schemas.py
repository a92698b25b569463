import re
from typing import Any

from marshmallow import ValidationError, fields, post_dump, post_load, validate

from app.catalogue.features import selections
from app.catalogue.features.models import (
    LINK_URL,
    LINKS,
    MAX_LINK_URL,
    CompletedStatus,
    FeatureType,
    Stage,
    StaleReason,
)
from app.catalogue.features.stale import StaleFilter, UsageFilter
from app.catalogue.strategies.schemas import ListedState, StateRow
from app.catalogue.strategies.schemas_variants import MAX_VARIANTS
from app.catalogue.tags.models import TagName
from app.catalogue.tags.schemas import TagRef
from app.web.listing import PageQuery, Sort
from app.web.schemas import (
    MAX_ITEMS,
    UNSEEN,
    Ignored,
    Key,
    KeySet,
    Multiline,
    QueryBoolean,
    Schema,
    SingleLine,
    StrictBoolean,
    StrictList,
    Timestamp,
    accepts,
)


class _FeatureFields(Schema):
    type = fields.Enum(FeatureType, by_value=True)
    description = Multiline(low=0, high=5_000, allow_none=True)
    stale = StrictBoolean()
    impression_data = StrictBoolean()


class NamedFeature(_FeatureFields):
    name = Key(required=True)


class NewFeature(NamedFeature):
    tags = StrictList(fields.Nested(TagRef), load_default=())


class FeatureName(Schema):
    name = Key(required=True)
    project_id = Ignored()


class Clone(Schema):
    name = Key(required=True)
    replace_group_id = StrictBoolean(
        load_default=True,
        metadata={"description": "Whether its rollouts go by its own name instead of the old one."},
    )


class FeatureSettings(_FeatureFields):
    """Everything the settings of a feature save at once."""

    type = fields.Enum(FeatureType, by_value=True, required=True)


class ChosenParent(Schema):
    parent = Key(allow_none=True)


class FeatureTagRow(Schema):
    value = fields.String()
    type = fields.String()


class LinkRow(Schema):
    id = fields.String()
    url = fields.String()
    title = fields.String(allow_none=True)


class _Address(SingleLine):
    default_error_messages = {  # noqa: RUF012 - marshmallow's own way to set it
        "url": "Enter an address like https://wiki.example.com/checkout, without a user name."
    }

    def __init__(self, **kwargs: Any) -> None:
        pattern = LINK_URL.replace("^", f"^(?!.*[{UNSEEN}])", 1)
        super().__init__(high=MAX_LINK_URL, metadata={"pattern": pattern}, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, *args, **kwargs)
        if not re.match(LINK_URL, text):
            raise self.make_error("url")
        return text


@accepts(LinkRow)
class Link(Schema):
    url = _Address(required=True)
    title = SingleLine(
        low=0,
        high=255,
        allow_none=True,
        metadata={"description": "Shown instead of the address."},
    )


class LinkLine(Link):
    """``id``: of a link that is kept; new ones have none."""

    id = fields.String()


class LinkLines(Schema):
    links = StrictList(fields.Nested(LinkLine), validate=validate.Length(max=LINKS.rows))


class ParentRow(Schema):
    feature = fields.String()
    enabled = fields.Boolean(metadata={"description": "Whether the parent must be on, or off."})
    variants = fields.List(fields.String(), metadata={"description": "Empty: any variant."})


class ByAge(Schema):
    """Numbers of features by age."""

    up_to_30_days = fields.Integer()
    up_to_90_days = fields.Integer()
    up_to_365_days = fields.Integer()
    older = fields.Integer()


class HealthRow(Schema):
    """Active features of a project, by what is known of them."""

    version = fields.Constant(1)
    percent = fields.Integer(
        metadata={"description": "The share that is neither stale nor proposed as stale."}
    )
    total = fields.Integer()
    stages = fields.Dict(
        keys=fields.Enum(Stage, by_value=True),
        values=fields.Integer(),
        metadata={"description": "How many are in each stage."},
    )
    stale = fields.Integer(metadata={"description": "Marked as stale by people."})
    proposed = fields.Integer(
        metadata={"description": "Not marked, but unused, on for everyone for long, or too old."}
    )
    leftover_ages = fields.Nested(
        ByAge, metadata={"description": "Stale and proposed, by the time since they were created."}
    )
    on_ages = fields.Nested(
        ByAge,
        metadata={
            "description": "On in production, by the time since their state there last changed."
        },
    )


class StageRow(Schema):
    stage = fields.Enum(Stage, by_value=True)
    status = fields.Enum(
        CompletedStatus, by_value=True, metadata={"description": "Of a completed feature."}
    )
    status_value = fields.String(
        attribute="value", metadata={"description": "What exactly was kept, such as a variant."}
    )
    entered_stage_at = Timestamp(attribute="entered_at")

    @post_dump
    def _leave_out_missing(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {key: value for key, value in data.items() if value is not None}


class Completion(Schema):
    status = fields.Enum(CompletedStatus, by_value=True, required=True)
    status_value = SingleLine(
        low=0,
        high=255,
        allow_none=True,
        metadata={"description": "What exactly was kept, such as a variant."},
    )


class FeatureCreator(Schema):
    id = fields.Integer(metadata={"description": "0: the command line, or not recorded."})
    name = fields.String()
    image_url = fields.String()


class FeatureRow(Schema):
    volatile = frozenset(
        {
            *("environments.lastSeenAt", "environments.yes", "environments.no"),
            *("lifecycle", "staleProposal", "lastSeenAt", "favorite", "createdBy"),
        }
    )
    extended = frozenset({"staleProposal", "lastSeenAt"})

    name = fields.String(attribute="feature.name")
    type = fields.Enum(FeatureType, by_value=True, attribute="feature.type")
    description = fields.String(allow_none=True, attribute="feature.description")
    project = fields.String(attribute="feature.project_id")
    stale = fields.Boolean(attribute="feature.stale")
    impression_data = fields.Boolean(attribute="feature.impression_data")
    created_at = Timestamp(attribute="feature.created_at")
    archived = fields.Function(
        lambda view: view.feature.archived_at is not None, metadata={"type": "boolean"}
    )
    archived_at = Timestamp(allow_none=True, attribute="feature.archived_at")
    created_by = fields.Nested(FeatureCreator, attribute="credits.creator")
    favorite = fields.Boolean(
        attribute="credits.is_favourite",
        metadata={"description": "Whether the caller marked it."},
    )
    tags = fields.List(fields.Nested(FeatureTagRow))
    links = fields.List(fields.Nested(LinkRow))
    dependencies = fields.List(
        fields.Nested(ParentRow), metadata={"description": "The parents of this feature."}
    )
    children = fields.List(
        fields.String(), metadata={"description": "The features that depend on this feature."}
    )
    environments = fields.List(
        fields.Nested(StateRow),
        metadata={"description": "Where it is on, and for whom, in each of the project’s places."},
    )
    lifecycle = fields.Nested(
        StageRow, attribute="life.now", metadata={"description": "The stage that it is in."}
    )
    stale_proposal = fields.Enum(
        StaleReason,
        by_value=True,
        allow_none=True,
        attribute="life.proposal",
        metadata={"description": "Why it looks ready to be removed from code."},
    )
    last_seen_at = Timestamp(
        allow_none=True,
        attribute="life.last_seen_at",
        metadata={"description": "When an application last checked it, anywhere."},
    )


@accepts(FeatureRow)
class FeatureChanges(_FeatureFields):
    """Accepts what reading a feature returns; fields with an endpoint of their own are ignored."""

    name = fields.String()


class FeatureList(Schema):
    version = fields.Constant(1)
    features = fields.List(fields.Nested(FeatureRow), attribute="items")
    total = fields.Integer()


class ProjectFeature(FeatureRow):
    extended = FeatureRow.extended | {
        *("project", "archived", "archivedAt", "createdBy"),
        *("dependencies", "children", "lifecycle", "links"),
    }

    environments = fields.List(fields.Nested(ListedState))


class ProjectFeatures(FeatureList):
    extended = frozenset({"total"})

    features = fields.List(fields.Nested(ProjectFeature), attribute="items")


class TagFilter(SingleLine):
    """A tag in an address: ``type:value``, or the value alone for type simple."""

    def deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        text = super().deserialize(value, *args, **kwargs)
        if not isinstance(text, str):
            return text  # absent
        return TagName.read(text)


class StateFilter(SingleLine):
    """A state in an address: ``on:environment`` or ``off:environment``."""

    def deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        text = super().deserialize(value, *args, **kwargs)
        if not isinstance(text, str):
            return text  # absent
        state, _, environment = text.partition(":")
        if state not in {"on", "off"} or not environment:
            raise ValidationError("Write on:environment or off:environment.")
        return environment, state == "on"


class FeatureQuery(PageQuery):
    sort = Sort("name", "type", "createdAt", "lastSeenAt")
    text = SingleLine(high=100, metadata={"description": "Part of the name or description."})
    tag = TagFilter(high=101, metadata={"description": "Has this tag (type:value)."})
    without_tag = TagFilter(high=101, metadata={"description": "Lacks this tag (type:value)."})
    type = fields.Enum(FeatureType, by_value=True)
    stale = QueryBoolean()
    state = StateFilter(
        high=110,
        metadata={
            "description": "on:environment or off:environment: its state there.",
            "pattern": r"^(on|off):[A-Za-z0-9_~.-]+$",
        },
    )
    archived = QueryBoolean(
        load_default=False, metadata={"description": "Archived features instead of active ones."}
    )
    stage = fields.Enum(
        Stage, by_value=True, metadata={"description": "The stage that they are in now."}
    )
    stale_proposal = fields.Enum(
        StaleFilter,
        by_value=True,
        metadata={"description": "Proposed as stale, for any reason or this one."},
    )
    usage = fields.Enum(
        UsageFilter,
        by_value=True,
        metadata={
            "description": "Checked in the last FLAGSTAFF_STALE_AFTER_DAYS days, only before "
            "that, or never."
        },
    )

    @post_load
    def _include_archived(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return data | {"archived": True} if data.get("stage") is Stage.ARCHIVED else data


class PastedNames(fields.Field[list[str]]):
    """The names in a text: lines, words, or the cells of a CSV file."""

    default_error_messages = {  # noqa: RUF012 - marshmallow's own way to set it
        "none": "Enter at least one feature name",
        "many": f"Enter at most {MAX_ITEMS:,} names",
    }

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> list[str]:
        names = selections.pasted(str(value))
        if not names:
            raise self.make_error("none")
        if len(names) > MAX_ITEMS:
            raise self.make_error("many")
        return names


class PastedList(Schema):
    names = PastedNames(required=True)


class FeatureNames(Schema):
    features = KeySet(
        required=True,
        validate=validate.Length(min=1, error="Name at least one feature."),
        metadata={"description": "Feature names."},
    )


class StaleFeatures(FeatureNames):
    stale = StrictBoolean(required=True)


class TypedFeatures(FeatureNames):
    type = fields.Enum(FeatureType, by_value=True, required=True)


class BulkSettings(Schema):
    """Settings for many features; at least one."""

    type = fields.Enum(FeatureType, by_value=True)
    stale = QueryBoolean()


class Parent(Schema):
    feature = Key(required=True, metadata={"description": "The parent's name."})
    enabled = StrictBoolean(
        load_default=True,
        metadata={"description": "Whether the parent must be on, or off."},
    )
    variants = StrictList(
        SingleLine(high=100),
        load_default=list,
        validate=validate.Length(max=MAX_VARIANTS),
        metadata={
            "maxItems": MAX_VARIANTS,
            "description": "Variants that the parent has in any environment. Each person must get "
            "one of them there. Empty: any, or none.",
        },
    )


class AllFeaturesQuery(FeatureQuery):
    sort = Sort("name", "project", "type", "createdAt", "lastSeenAt")
    project = SingleLine(high=100, metadata={"description": "Only features of this project."})
