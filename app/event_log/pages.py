import re
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import groupby
from typing import Any

from flask import json, render_template
from flask.typing import ResponseReturnValue

from app.core import exports
from app.core.actor import current_actor
from app.core.pages import PageBlueprint, Query, read_query
from app.core.permissions import Permission
from app.event_log import schemas, service
from app.event_log.sentences import differences, sentence
from app.event_log.service import Act
from app.events.models import EventType

bp = PageBlueprint("event_pages", __name__, url_prefix="/events")

LABELS = {
    "text": "Text",
    "type": "Type",
    "project": "Project",
    "feature": "Feature",
    "actor": "Account",
    "from": "From",
    "to": "Before",
    "batch": "Batch",
}


@bp.get("", needs=Permission.READ_LOGS)
def index() -> ResponseReturnValue:
    """Who changed what, newest first; or all that match as a file."""
    query = read_query(schemas.EventQuery, _as_time)
    filters = {k: v for k, v in query.values.items() if k not in {"limit", "before"}}
    if exports.wanted():
        return _file(filters)
    acts = service.acts(current_actor, **query.values)
    limit = query.values["limit"]
    return render_template(
        "event_log/index.html",
        query=query,
        days=[(day, list(group)) for day, group in groupby(acts, key=_day)],
        older=acts[-1].event.id if len(acts) == limit else None,
        activity=service.recent(current_actor) if not query.given else None,
        filters=[(k, label, query.given[k]) for k, label in LABELS.items() if k in query.given],
        types=list(EventType),
        sentence=sentence,
        differences=differences,
        as_json=_as_json,
        dates=_dates(query),
    )


def _file(filters: dict[str, Any]) -> ResponseReturnValue:
    schema = schemas.EventRow()

    def rows() -> Iterator[dict[str, Any]]:
        for event in service.stream(current_actor, **filters):
            yield {**schema.dump(event), "sentence": f"{event.created_by} {sentence(event)}"}

    columns = [field.data_key or key for key, field in schema.dump_fields.items()]
    return exports.file("events", [*columns, "sentence"], rows())


def _as_time(name: str, value: str) -> str:
    """A day, as date fields send it, as the moment where it begins, or ends for ``to``."""
    if name not in {"from", "to"} or not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return value
    try:
        day = date.fromisoformat(value)
        return f"{day + timedelta(days=name == 'to')}T00:00:00Z"
    except (ValueError, OverflowError):
        return value


def _dates(query: Query) -> dict[str, str]:
    """What the date fields show."""
    found = {name: query.values.get(key) for name, key in (("from", "from_"), ("to", "to"))}
    shift = {"from": timedelta(), "to": timedelta(days=1)}
    return {name: f"{at - shift[name]:%Y-%m-%d}" if at else "" for name, at in found.items()}


def _day(act: Act) -> date:
    return act.event.created_at.date()


def _as_json(act: Act) -> str:
    return json.dumps(schemas.EventRow().dump(act.event), indent=2)
