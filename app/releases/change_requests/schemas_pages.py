from marshmallow import fields, validate

from app.releases.change_requests.models import MAX_TEXT, MAX_TITLE
from app.releases.change_requests.schemas import SearchQuery
from app.web.schemas import Multiline, Schema, SingleLine, Timestamp, WholeNumber

TABS = ("waiting", "own", "scheduled", "done")


class InboxQuery(SearchQuery):
    show = fields.String(load_default=TABS[0], validate=validate.OneOf(TABS))


class Decision(Schema):
    """What the buttons of a change request send. ``version``: the one that was shown."""

    version = WholeNumber(low=1, required=True)
    comment = Multiline(low=0, high=MAX_TEXT)
    title = SingleLine(low=0, high=MAX_TITLE)
    description = Multiline(low=0, high=MAX_TEXT)
    scheduled_at = Timestamp(
        allow_none=True, error_messages={"invalid": "Enter a date and a time."}
    )
