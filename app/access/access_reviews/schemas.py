from marshmallow import fields, validate

from app.web.listing import PageQuery
from app.web.schemas import Multiline, Schema, SingleLine, StrictList, Timestamp, WholeNumber

KEEP, REMOVE = "keep", "remove"
LONGEST_COMMENT = 2_000

ReviewQuery = PageQuery


class Decision(Schema):
    id = WholeNumber(required=True, metadata={"description": "The account."})
    decision = fields.String(required=True, validate=validate.OneOf([KEEP, REMOVE]))


class SignOff(Schema):
    version = SingleLine(
        high=20,
        required=True,
        metadata={"description": "Of the members that were decided about, as read before."},
    )
    entries = StrictList(
        fields.Nested(Decision),
        required=True,
        metadata={"description": "What to do with each member, all of them."},
    )
    comment = Multiline(high=LONGEST_COMMENT, allow_none=True)


class CandidateRow(Schema):
    id = fields.Integer(attribute="account.id")
    username = fields.String(attribute="account.label")
    name = fields.String(attribute="account.name", allow_none=True)
    role_id = fields.Integer(attribute="role")
    source = fields.String(metadata={"description": "Where the role comes from, in words."})
    last_active_at = Timestamp(allow_none=True)
    by_group_alone = fields.Boolean(
        attribute="is_by_group_alone",
        metadata={"description": "The role ends only with the group, and can’t be removed here."},
    )


class CurrentReview(Schema):
    version = fields.String()
    entries = fields.List(fields.Nested(CandidateRow), attribute="candidates")


class EntryRow(Schema):
    id = fields.Integer(attribute="account_id")
    username = fields.String()
    name = fields.String(allow_none=True)
    role_id = fields.Integer(attribute="role")
    source = fields.String()
    last_active_at = Timestamp(allow_none=True)
    decision = fields.Function(
        lambda entry: KEEP if entry.kept else REMOVE,
        metadata={"type": "string", "enum": [KEEP, REMOVE]},
    )


class ReviewSummary(Schema):
    id = fields.Integer()
    signed_off_at = Timestamp()
    signed_off_by = fields.String()
    signed_off_by_id = fields.Integer(allow_none=True)
    comment = fields.String(allow_none=True)
    kept = fields.Integer()
    removed = fields.Integer()


class ReviewSheet(ReviewSummary):
    entries = fields.List(fields.Nested(EntryRow))


class ReviewList(Schema):
    reviews = fields.List(fields.Nested(ReviewSummary), attribute="items")
    total = fields.Integer()
