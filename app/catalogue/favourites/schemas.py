from marshmallow import fields

from app.web.schemas import Schema


class FavouriteRow(Schema):
    project = fields.String(attribute="project_id")
    feature = fields.String(
        allow_none=True, metadata={"description": "`null`: the project itself is the favourite."}
    )
    archived = fields.Boolean(attribute="is_archived")


class FavouriteList(Schema):
    version = fields.Constant(1)
    favorites = fields.List(
        fields.Nested(FavouriteRow),
        metadata={"description": "Projects before features, then by name."},
    )
