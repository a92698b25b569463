"""Numbers about projects, in the shapes that Unleash has."""

from marshmallow import fields

from app.catalogue.features.schemas import FeatureRow
from app.web.schemas import Schema, Timestamp


class ProjectStats(Schema):
    """The current window is the last 30 days, the past one the 30 days before."""

    avg_time_to_prod_current_window = fields.Float(metadata={"description": "In days."})
    created_current_window = fields.Integer()
    created_past_window = fields.Integer()
    archived_current_window = fields.Integer()
    archived_past_window = fields.Integer()
    project_activity_current_window = fields.Integer(metadata={"description": "Events."})
    project_activity_past_window = fields.Integer()
    project_members_added_current_window = fields.Integer(
        metadata={"description": "How often the members changed."}
    )


class TypeCount(Schema):
    type = fields.Function(lambda row: row[0].value, metadata={"type": "string"})
    count = fields.Function(lambda row: row[1], metadata={"type": "integer"})


class EnvironmentOfProject(Schema):
    environment = fields.String()


class Onboarding(Schema):
    status = fields.String()
    feature = fields.String()


class _ProjectOverview(Schema):
    version = fields.Constant(1)
    name = fields.String(attribute="project.name")
    description = fields.String(allow_none=True, attribute="project.description")
    default_stickiness = fields.String(attribute="project.default_stickiness")
    mode = fields.String(attribute="project.mode")
    feature_limit = fields.Constant(None, metadata={"type": "integer"})
    members = fields.Integer()
    health = fields.Integer(metadata={"description": "Per cent neither stale nor proposed."})
    technical_debt = fields.Integer(metadata={"description": "The rest of them."})
    environments = fields.List(fields.Nested(EnvironmentOfProject), attribute="project.enabled")
    updated_at = Timestamp(allow_none=True)
    created_at = Timestamp(attribute="project.created_at")
    favorite = fields.Boolean(attribute="is_favourite")
    stats = fields.Nested(ProjectStats)


class ProjectOverview(_ProjectOverview):
    feature_type_counts = fields.List(fields.Nested(TypeCount), attribute="types")
    archived_at = Timestamp(allow_none=True, attribute="project.archived_at")
    onboarding_status = fields.Nested(Onboarding, attribute="onboarding")


class HealthReport(_ProjectOverview):
    features = fields.List(fields.Nested(FeatureRow))
    potentially_stale_count = fields.Integer(attribute="counts.proposed")
    active_count = fields.Integer(attribute="counts.total")
    stale_count = fields.Integer(attribute="counts.stale")


class LeadTime(Schema):
    name = fields.String()
    time_to_production = fields.Integer(attribute="days", metadata={"description": "In days."})


class LeadTimes(Schema):
    project_average = fields.Float(attribute="average")
    features = fields.List(fields.Nested(LeadTime))


class HealthRating(Schema):
    rating = fields.Integer()
    active_count = fields.Integer(attribute="counts.total")
    potentially_stale_count = fields.Integer(attribute="counts.proposed")
    stale_count = fields.Integer(attribute="counts.stale")


class MemberChange(Schema):
    current_members = fields.Integer()
    change = fields.Integer()


class ProjectInsights(Schema):
    stats = fields.Nested(ProjectStats)
    health = fields.Nested(HealthRating)
    technical_debt = fields.Nested(HealthRating)
    lead_time = fields.Nested(LeadTimes)
    feature_type_counts = fields.List(fields.Nested(TypeCount), attribute="types")
    members = fields.Nested(MemberChange)


class ActivityOfDay(Schema):
    date = fields.Function(lambda row: row[0], metadata={"type": "string"})
    count = fields.Function(lambda row: row[1], metadata={"type": "integer"})


class Current(Schema):
    current = fields.Function(lambda number: number, metadata={"type": "integer"})


class Total(Schema):
    total = fields.Function(lambda number: number, metadata={"type": "integer"})


class ProjectResources(Schema):
    api_tokens = fields.Integer(attribute="tokens")
    members = fields.Integer()
    segments = fields.Integer()


class StageSummary(Schema):
    average_days = fields.Float(allow_none=True)
    current_flags = fields.Integer()


class ArchivedSummary(Schema):
    current_flags = fields.Integer()
    last_30_days = fields.Integer(data_key="last30Days")


class LifecycleSummary(Schema):
    initial = fields.Nested(StageSummary)
    pre_live = fields.Nested(StageSummary)
    live = fields.Nested(StageSummary)
    completed = fields.Nested(StageSummary)
    archived = fields.Nested(ArchivedSummary)


class ProjectStatus(Schema):
    activity_count_by_date = fields.List(fields.Nested(ActivityOfDay), attribute="activity")
    health = fields.Nested(Current)
    technical_debt = fields.Nested(Current)
    resources = fields.Nested(ProjectResources)
    stale_flags = fields.Nested(Total, attribute="stale")
    lifecycle_summary = fields.Nested(LifecycleSummary)


class StageCounts(Schema):
    initial = fields.Integer()
    pre_live = fields.Integer()
    live = fields.Integer()
    completed = fields.Integer()
    archived = fields.Integer()
