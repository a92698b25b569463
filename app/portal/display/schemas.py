from marshmallow import fields

from app.core.errors import NotFound
from app.core.words import spoken
from app.web.rooms import Choice, current_rooms, reminders
from app.web.schemas import KeySet, Schema


class HiddenParts(Schema):
    hidden = KeySet(
        required=True, metadata={"description": "The parts that the caller does not see."}
    )


class PageRow(Schema):
    page = fields.String()
    parts = fields.List(fields.String(), metadata={"description": "Those that can be hidden."})
    hidden = fields.List(
        fields.String(), metadata={"description": "Those that the caller does not see."}
    )


class PageList(Schema):
    version = fields.Constant(1)
    pages = fields.List(fields.Nested(PageRow))


HOME = {
    "releases": "Releases under way",
    "projects": "Your projects",
    "favourites": "Favourite features",
    "visited": "Recently visited",
    "latest": "Latest changes",
}
"""The parts of the home page besides reminders."""


def choices() -> dict[str, Choice]:
    """Return the parts that can be hidden, by page."""
    of_home = {one.key: one.title for one in reminders()}
    lists = {page: one for room in current_rooms() for page, one in room.choices.items()}
    return {"home": Choice("What Home shows", of_home | HOME)} | lists


def choice(page: str) -> Choice:
    known = choices()
    if page not in known:
        raise NotFound(f"{page!r} is no page with parts to hide. There are: {spoken(known)}.")
    return known[page]
