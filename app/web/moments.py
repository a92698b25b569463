"""A date and a time that someone types in a form, in their own time zone."""

import re
from datetime import datetime

from marshmallow import ValidationError
from wtforms import DateTimeLocalField, StringField

from app.core.clock import in_text, in_zone
from app.web.current import current_zone
from app.web.templating import local, zone_name

_is_minute = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?").fullmatch


class MinuteField(StringField):
    """A date and a time in the reader's zone, as the browser’s own control sends it."""

    widget = DateTimeLocalField.widget


def typed(at: datetime | None) -> str:
    """A moment as the field shows it."""
    return f"{local(at):%Y-%m-%dT%H:%M}" if at else ""


def moment(text: str, key: str) -> str:
    """The moment when clocks in the reader's time zone show this, as clients send it.

    What is no date and time stays as it is, so that the schema refuses it. ``key``: of the problem.

    Raises:
        ValidationError: when their clocks skip it.

    """
    if not _is_minute(text):  # browsers leave out zero seconds, and the time zone
        return text
    try:
        wall = datetime.fromisoformat(text)
    except ValueError:
        return text
    try:
        return in_text(in_zone(wall, current_zone()))
    except (ValueError, OverflowError):
        message = f"{wall:%H:%M} doesn’t exist on that day in {zone_name()}. Choose another time."
        raise ValidationError({key: [message]}) from None
