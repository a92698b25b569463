from typing import Any

from marshmallow import fields, post_load, validate

from app.catalogue.usage.models import MAX_NAME
from app.delivery.applications.counts import MOST_HOURS, Period
from app.delivery.applications.service import SdkState
from app.web.listing import MAX_LIMIT, PageQuery
from app.web.schemas import Ignored, Key, QueryNumber, Schema, SingleLine, StrictList, Timestamp

SORTED_BY = ("appName", "createdAt", "lastSeen")


class CheckedQuery(PageQuery):
    """Filters of the features that an application checks."""

    limit = QueryNumber(load_default=25, low=1, high=MAX_LIMIT)
    text = SingleLine(high=100)


class ApplicationQuery(PageQuery):
    query = SingleLine(high=100, metadata={"description": "Part of the name."})
    environment = Key(metadata={"description": "Seen in this environment."})
    sdk = fields.Enum(
        SdkState, by_value=True, metadata={"description": "Those with an outdated SDK."}
    )
    sort_by = fields.String(
        validate=validate.OneOf(SORTED_BY, error=f"Must be one of: {', '.join(SORTED_BY)}."),
        metadata={"description": "What to sort by; the name if left out."},
    )
    sort_order = fields.String(
        validate=validate.OneOf(["asc", "desc"], error="Must be asc or desc."),
    )

    @post_load
    def _join_sort(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        by, order = data.pop("sort_by", None), data.pop("sort_order", "asc")
        sign = "-" if order == "desc" else ""
        return data | {"sort": f"{sign}{by or SORTED_BY[0]}"}


class UsageQuery(Schema):
    """What the page of a feature's usage shows."""

    environment = Key()
    application = SingleLine(high=MAX_NAME)
    period = fields.Enum(Period, by_value=True, load_default=Period.TWO_DAYS)


class RawQuery(Schema):
    hours_back = QueryNumber(
        low=1,
        high=MOST_HOURS,
        load_default=24,
        metadata={"description": "How far back. For more than 48 hours, rows are days."},
    )


class ProjectUseRow(Schema):
    project = fields.String()
    environments = fields.List(fields.String())


class SdkName(Schema):
    reported = fields.String()


def _sdks(**metadata: Any) -> fields.List[Any]:
    return fields.List(fields.Pluck(SdkName, "reported"), metadata=metadata)


class ApplicationRow(Schema):
    extended = frozenset(
        {"environments", "instanceCount", "sdks", "outdatedSdks", "lastSeen", "createdAt"}
    )

    app_name = fields.String(attribute="application.name")
    strategies = fields.List(
        fields.String(),
        attribute="application.strategies",
        metadata={"description": "The types of strategy that it says it can evaluate."},
    )
    usage = fields.List(
        fields.Nested(ProjectUseRow),
        metadata={
            "description": "Where it asked for features in the last 7 days, without projects that "
            "you cannot see."
        },
    )
    environments = fields.List(fields.String())
    instance_count = fields.Integer(metadata={"description": "Instances of the last 24 hours."})
    sdks = _sdks(description="Such as unleash-node-sdk:6.12.1.")
    outdated_sdks = _sdks(description="Those with a newer major version.")
    last_seen = Timestamp(
        allow_none=True, metadata={"description": "Null: not in the last 7 days."}
    )
    created_at = Timestamp(attribute="application.created_at")


class ApplicationList(Schema):
    applications = fields.List(fields.Nested(ApplicationRow), attribute="items")
    total = fields.Integer()


class NewApplication(Schema):
    strategies = StrictList(SingleLine(high=MAX_NAME), load_default=())
    url = Ignored()
    color = Ignored()
    icon = Ignored()


class ProjectApplicationQuery(PageQuery):
    query = SingleLine(high=100, metadata={"description": "Part of the name."})
    sort_by = fields.String(validate=validate.OneOf([SORTED_BY[0]]))
    sort_order = fields.String(load_default="asc", validate=validate.OneOf(["asc", "desc"]))


class SdkVersions(Schema):
    name = fields.String()
    versions = fields.List(fields.String())


class ProjectApplication(Schema):
    name = fields.String(attribute="application.name")
    environments = fields.List(fields.String())
    instances = fields.Function(
        lambda view: sorted({one.id for one in view.instances}),
        metadata={"type": "array", "items": {"type": "string"}},
    )
    sdks = fields.List(fields.Nested(SdkVersions), attribute="sdk_versions")


class ProjectApplicationList(Schema):
    applications = fields.List(fields.Nested(ProjectApplication))
    total = fields.Integer()


class EnvironmentIssues(Schema):
    extended = frozenset({"unreadableFeatures"})

    missing_features = fields.List(
        fields.String(), metadata={"description": "Names that no feature has."}
    )
    unreadable_features = fields.List(
        fields.String(), metadata={"description": "Those of projects that its token doesn’t read."}
    )
    outdated_sdks = _sdks()


class EnvironmentUseRow(Schema):
    name = fields.String()
    instance_count = fields.Integer()
    sdks = _sdks()
    frontend_sdks = _sdks(description="Those in browsers and on phones.")
    backend_sdks = _sdks()
    last_seen = Timestamp(allow_none=True)
    issues = fields.Nested(EnvironmentIssues)


class ApplicationIssues(Schema):
    missing_strategies = fields.List(
        fields.String(),
        metadata={"description": "Types that its features use and it can’t evaluate."},
    )


class ApplicationOverview(Schema):
    """What an application did in the last 24 hours, without projects that you cannot see."""

    projects = fields.List(fields.String())
    feature_count = fields.Integer()
    environments = fields.List(fields.Nested(EnvironmentUseRow))
    issues = fields.Nested(ApplicationIssues)


class InstanceRow(Schema):
    instance_id = fields.String(attribute="id")
    sdk_version = fields.String(attribute="sdk", allow_none=True)
    last_seen = Timestamp(attribute="last_seen_at")


class InstanceList(Schema):
    instances = fields.List(fields.Nested(InstanceRow))


class EnvironmentSeen(Schema):
    environment = fields.String()
    seen_at = Timestamp(attribute="last_seen_at")


class UnknownReport(Schema):
    app_name = fields.String()
    environments = fields.List(fields.Nested(EnvironmentSeen))


class UnknownFlag(Schema):
    name = fields.String()
    last_seen_at = Timestamp()
    reports = fields.List(fields.Nested(UnknownReport))


class UnknownFlagList(Schema):
    unknown_flags = fields.List(fields.Nested(UnknownFlag))


class OutdatedSdk(Schema):
    extended = frozenset({"newestMajor"})

    sdk_version = fields.String()
    newest_major = fields.Integer()
    applications = fields.List(fields.String())


class OutdatedSdkList(Schema):
    sdks = fields.List(fields.Nested(OutdatedSdk))


class HourRow(Schema):
    environment = fields.String()
    timestamp = Timestamp()
    yes = fields.Integer()
    no = fields.Integer()


class FeatureUseRow(Schema):
    version = fields.Constant(1)
    maturity = fields.Constant("stable")
    feature_name = fields.String(attribute="name")
    last_hour_usage = fields.List(
        fields.Nested(HourRow),
        metadata={"description": "This hour and the one before, by environment."},
    )
    seen_applications = fields.List(
        fields.String(), attribute="applications", metadata={"description": "In 24 hours."}
    )


class RawRow(Schema):
    feature_name = fields.String()
    app_name = fields.String()
    environment = fields.String()
    timestamp = Timestamp(metadata={"description": "When the hour or day began."})
    yes = fields.Integer()
    no = fields.Integer()
    variants = fields.Dict(keys=fields.String(), values=fields.Integer())


class RawRows(Schema):
    version = fields.Constant(1)
    maturity = fields.Constant("stable")
    data = fields.List(fields.Nested(RawRow))
