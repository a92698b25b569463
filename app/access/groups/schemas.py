from marshmallow import fields

from app.core.permissions import PROJECT_ROLES, ROOT_ROLES
from app.web.listing import PageQuery
from app.web.schemas import Key, RoleId, Schema, SingleLine, StrictList, Timestamp, accepts


class Grant(Schema):
    id = Key(required=True, metadata={"description": "The project."})
    role = RoleId(PROJECT_ROLES, kind="project", required=True, data_key="roleId")


class _Fields(Schema):
    root_role = RoleId(ROOT_ROLES, kind="root", allow_none=True)
    projects = StrictList(
        fields.Nested(Grant),
        metadata={"description": "The roles that the group gives in projects, all of them."},
    )


class NewGroup(_Fields):
    name = SingleLine(
        high=255,
        required=True,
        metadata={"description": "The group’s name at your provider, ignoring case."},
    )


class GroupQuery(PageQuery):
    text = SingleLine(high=100, metadata={"description": "Part of the name."})


class GrantRow(Schema):
    id = fields.String(attribute="project_id")
    role_id = fields.Integer(attribute="role")


class GroupDetail(Schema):
    volatile = frozenset({"changedAt"})

    id = fields.Integer()
    name = fields.String()
    scim_id = fields.String(
        allow_none=True,
        metadata={"description": "Of a group whose members the directory decides; else null."},
    )
    root_role = fields.Integer(allow_none=True)
    projects = fields.List(fields.Nested(GrantRow))
    created_at = Timestamp()
    changed_at = Timestamp()


class ListedGroup(GroupDetail):
    member_count = fields.Integer()


@accepts(ListedGroup)
class GroupChanges(_Fields):
    """Accepts what a read returns."""

    name = SingleLine(high=255)


class AccessGroupList(Schema):
    groups = fields.List(fields.Nested(ListedGroup), attribute="items")
    total = fields.Integer()
