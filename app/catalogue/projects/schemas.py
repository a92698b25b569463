from typing import Any, TypeVar

from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from app.catalogue.projects.models import Membership, ProjectMode
from app.core.permissions import PROJECT_ROLES, Role
from app.web.listing import PageQuery, Sort
from app.web.schemas import (
    Ignored,
    Key,
    Multiline,
    QueryBoolean,
    RoleId,
    Schema,
    SingleLine,
    StrictList,
    Timestamp,
    WholeNumber,
    accepts,
)

T = TypeVar("T")

MAX_APPROVALS = 10


class Approvals(WholeNumber):
    """A number of approvals. Below 1 becomes 1, above 10 becomes 10."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> int:
        return min(max(super()._deserialize(value, *args, **kwargs), 1), MAX_APPROVALS)


def environment_name(**kwargs: Any) -> SingleLine:
    return SingleLine(high=100, **kwargs)


def repeated(values: list[T]) -> list[tuple[int, T]]:
    """The values that are repetitions, each with its index."""
    first: dict[T, int] = {}
    return [
        (index, value)
        for index, value in enumerate(values)
        if first.setdefault(value, index) != index
    ]


class ApprovalRule(Schema):
    name = environment_name(required=True)
    required_approvals = Approvals(
        load_default=1, metadata={"description": "Clamped to 1..10.", "default": 1}
    )


class _ProjectFields(Schema):
    name = SingleLine(high=255, required=True)
    description = Multiline(low=0, high=5_000, allow_none=True)
    mode = fields.Enum(ProjectMode, by_value=True)
    default_stickiness = SingleLine(high=100)
    feature_limit = Ignored()


class _Environments(Schema):
    environments = StrictList(
        environment_name(), validate=validate.Length(min=1, error="Name at least one environment.")
    )
    change_request_environments = StrictList(fields.Nested(ApprovalRule))

    @validates_schema(skip_on_field_errors=True)
    def _refuse_repetition(self, data: dict[str, Any], **_: Any) -> None:
        names = [rule["name"] for rule in data.get("change_request_environments", ())]
        twice = {
            index: {"name": [f"{name!r} is listed more than once."]}
            for index, name in repeated(names)
        }
        if twice:
            raise ValidationError({"changeRequestEnvironments": twice})


class NewProject(_ProjectFields, _Environments):
    id = Key(required=True)


class ProjectSettings(_ProjectFields, _Environments):
    """Everything that the settings page of a project sends."""

    mode = fields.Enum(ProjectMode, by_value=True, required=True)


class ProjectEnvironments(_Environments):
    environments = StrictList(
        environment_name(),
        required=True,
        validate=validate.Length(min=1, error="Name at least one environment."),
    )


class AddedEnvironment(Schema):
    environment = environment_name(required=True)
    change_requests_enabled = Ignored()
    default_strategy = Ignored()


class ApprovalDetail(Schema):
    name = fields.String(attribute="environment")
    required_approvals = fields.Integer()


class ProjectDetail(Schema):
    id = fields.String()
    name = fields.String()
    description = fields.String(allow_none=True)
    feature_limit = fields.Constant(
        None, metadata={"type": "integer", "description": "null: no limit."}
    )
    mode = fields.Enum(ProjectMode, by_value=True)
    default_stickiness = fields.String()
    environments = fields.List(fields.String())
    change_request_environments = fields.List(fields.Nested(ApprovalDetail))


class ProjectRow(ProjectDetail):
    extended = frozenset({"featureLimit", "environments", "changeRequestEnvironments"})

    feature_count = fields.Integer()
    member_count = fields.Integer()
    created_at = Timestamp()
    archived_at = Timestamp(allow_none=True)


@accepts(ProjectRow)
class ProjectChanges(_ProjectFields):
    """Accepts what a read returns. Fields with an endpoint of their own are ignored."""

    id = fields.String()


class ProjectList(Schema):
    extended = frozenset({"total"})

    version = fields.Constant(1)
    projects = fields.List(fields.Nested(ProjectRow), attribute="items")
    total = fields.Integer()


class ProjectQuery(PageQuery):
    sort = Sort("id", "name", "createdAt", "changedAt", "featureCount", "memberCount")
    text = SingleLine(high=100, metadata={"description": "Part of the name or the id."})
    mode = fields.Enum(ProjectMode, by_value=True)
    membership = fields.Enum(
        Membership,
        by_value=True,
        metadata={"description": "mine: the caller is a member. ownerless: no Owner."},
    )
    environment = SingleLine(
        high=100, metadata={"description": "Only projects that use this environment."}
    )
    archived = QueryBoolean(
        load_default=False,
        metadata={"description": "true: archived projects. Default: active ones."},
    )


class MemberRow(Schema):
    id = fields.Function(lambda row: row[0].id, metadata={"type": "integer"})
    username = fields.Function(lambda row: row[0].username, metadata={"type": ["string", "null"]})
    name = fields.Function(lambda row: row[0].name, metadata={"type": ["string", "null"]})
    account_type = fields.Function(
        lambda row: row[0].kind.account_type, metadata={"type": "string"}
    )
    role_id = fields.Function(lambda row: int(row[1].role), metadata={"type": "integer"})


@accepts(MemberRow)
class MemberRef(Schema):
    id = WholeNumber(required=True, metadata={"description": "The account's id."})
    role_id = RoleId(PROJECT_ROLES, kind="project", required=True)


class AccessChange(Schema):
    members = StrictList(fields.Nested(MemberRef), required=True)

    @validates_schema(skip_on_field_errors=True)
    def _refuse_repetition(self, data: dict[str, Any], **_: Any) -> None:
        ids = [member["id"] for member in data["members"]]
        twice = {
            index: {"id": ["This account is listed more than once."]}
            for index, _id in repeated(ids)
        }
        if twice:
            raise ValidationError({"members": twice})

    @post_load
    def _by_id(self, data: dict[str, Any], **_: Any) -> dict[str, dict[int, Role]]:
        return {"members": {member["id"]: member["role_id"] for member in data["members"]}}


class Access(Schema):
    version = fields.Constant(1)
    members = fields.List(fields.Nested(MemberRow))
