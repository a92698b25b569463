from flask import url_for
from marshmallow import fields, validate

from app.core.search import Hit
from app.portal.search.query import LONGEST
from app.portal.search.service import DISPLAY_LIMIT
from app.portal.search.sources import KINDS, MAX_ROWS
from app.web.schemas import QueryNumber, Schema, SingleLine

MOST_SHOWN = 50
_is_kind = validate.OneOf(KINDS, error=f"Must be one of: {', '.join(KINDS)}.")


def href(hit: Hit) -> str:
    """The path of its page."""
    return url_for(hit.endpoint, **hit.values)


class SuggestQuery(Schema):
    q = SingleLine(
        low=0,
        high=LONGEST,
        load_default="",
        metadata={
            "description": "What to find: words that are all in the name or the description, the "
            "end of a token, a tag as type:value, or on:environment. With > at the start only "
            "pages and actions."
        },
    )
    in_ = fields.String(validate=_is_kind, data_key="in", metadata={"description": "Only these."})


class SearchQuery(SuggestQuery):
    limit = QueryNumber(
        load_default=DISPLAY_LIMIT,
        low=1,
        high=MOST_SHOWN,
        metadata={"description": "How many at most of each kind."},
    )
    offset = QueryNumber(
        load_default=0,
        high=MAX_ROWS,
        metadata={"description": "How many to leave out from the start of each kind."},
    )


class NamedHit(Schema):
    name = fields.String()
    about = fields.String(
        metadata={"description": "What it belongs to and its state, in words. May be empty."}
    )
    archived = fields.Boolean(attribute="is_archived")


class HitRow(NamedHit):
    path = fields.Function(
        href, metadata={"type": "string", "description": "The path of its page."}
    )


class NamedGroup(Schema):
    kind = fields.String(attribute="kind.name", validate=_is_kind)
    total = fields.Integer(metadata={"description": f"How many match; counted up to {MAX_ROWS:,}."})
    has_more = fields.Boolean(metadata={"description": "Whether more match than were counted."})
    hits = fields.List(fields.Nested(NamedHit))


class GroupRow(NamedGroup):
    hits = fields.List(fields.Nested(HitRow), metadata={"description": "The best match first."})


class NamedResults(Schema):
    """What is found, without the paths of pages."""

    version = fields.Constant(1)
    total = fields.Integer()
    groups = fields.List(fields.Nested(NamedGroup))
    suggestion = fields.String(
        allow_none=True,
        metadata={"description": "If nothing matches: something that is spelled almost like it."},
    )


class SearchResults(NamedResults):
    groups = fields.List(
        fields.Nested(GroupRow), metadata={"description": "Kinds without a match are left out."}
    )
