from typing import Any

from marshmallow import fields

from app.catalogue.features.models import FeatureType
from app.web.schemas import MAX_QUERY_NUMBER, Schema, WholeNumber


class FeatureTypeRow(Schema):
    id = fields.Enum(FeatureType, by_value=True)
    name = fields.String()
    description = fields.String()
    lifetime_days = fields.Integer(
        allow_none=True,
        metadata={"description": "Older features are proposed as stale. Null: none is for that."},
    )


class FeatureTypeList(Schema):
    version = fields.Constant(1)
    types = fields.List(fields.Nested(FeatureTypeRow))


def _days(**kwargs: Any) -> WholeNumber:
    return WholeNumber(low=0, high=MAX_QUERY_NUMBER, allow_none=True, **kwargs)


class Lifetime(Schema):
    lifetime_days = _days(required=True, metadata={"description": "0 or null: no limit."})


class Lifetimes(Schema):
    """Of all types, by the names of FeatureType."""

    release = _days()
    experiment = _days()
    operational = _days()
    kill_switch = _days()
    permission = _days()
