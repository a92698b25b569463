import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from itertools import groupby
from typing import Any, NamedTuple

from flask import json, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup, escape
from werkzeug.wrappers import Response

from app.accounts import service as accounts
from app.accounts.models import Account, AccountKind
from app.catalogue.features import service as features
from app.catalogue.features.pages import about
from app.catalogue.projects import service as projects
from app.catalogue.segments import service as segments
from app.catalogue.segments.queries import with_ids
from app.core.events import service as events
from app.core.events import verification, words
from app.core.events.event_types import EventType, Subject, types_about
from app.core.events.models import Event
from app.core.events.verification import Evidence
from app.core.events.words import Mention, Part
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.portal.event_log import schemas, service, undoing
from app.portal.event_log.changes import Change, changes, segment_ids
from app.portal.event_log.service import Act
from app.web import exports
from app.web.current import current_actor
from app.web.forms import ReasonForm, flash_errors, submit
from app.web.listing import Query, as_time, days_in_words, days_of, read_query
from app.web.redirects import DONE, flash_with_undo, form_address, redirect_to_path
from app.web.routes import PageBlueprint
from app.web.templating import breakable, local

bp = PageBlueprint("event_pages", __name__)

LABELS = {
    "text": "Text",
    "type": "What",
    "by": "By",
    "project": "Project",
    "feature": "Feature",
    "actor": "By account",
    "about": "About account",
    "segment": "Segment",
    "token": "Token",
    "from": "From",
    "to": "Before",
    "batch": "Batch",
}
MOST_ALIKE = 4
"""Rows of the same kind that are shown one by one; more of them are folded."""

OF_PROJECTS = [
    Subject.SWITCHING,
    Subject.RELEASES,
    Subject.CHANGE_REQUESTS,
    Subject.FEATURES,
    Subject.PROJECTS,
    Subject.TARGETING,
]
OF_FEATURES = [Subject.SWITCHING, Subject.RELEASES, Subject.FEATURES]
OF_SEGMENTS = [Subject.TARGETING]
"""What events of a project, and of a feature, can be about."""
ROW = schemas.EventRow()


class EventLine(NamedTuple):
    """An act as pages show it."""

    act: Act
    sentence: Markup


class Details(NamedTuple):
    """What a row of the log unfolds. ``undo``: whether the reader could undo the act."""

    changes: list[Change]
    raw: str
    undo: bool


@bp.get("/events", needs=Permission.READ_LOGS)
def index() -> ResponseReturnValue:
    """Who changed what, newest first; or all that match as a file."""
    query = _read_query()
    if exports.wanted():
        return _file("events", query)
    return render_template(
        "portal/event_log/index.html",
        **_log(query, Subject),
        activity=service.recent(current_actor) if not query.given else None,
        projects=service.known_projects(current_actor),
    )


@bp.get("/projects/<key:project_id>/history", needs=Access.SIGNED_IN)
def history(project_id: str) -> ResponseReturnValue:
    """The events of one project."""
    current_actor.require_events(project_id)
    overview = projects.overview(current_actor, project_id)
    query = _read_query(project=project_id)
    if exports.wanted():
        return _file(f"events-of-{project_id}", query)
    return render_template(
        "portal/event_log/history.html", **_log(query, OF_PROJECTS, "project"), overview=overview
    )


@bp.get("/projects/<key:project_id>/features/<key:name>/history", needs=Access.SIGNED_IN)
def feature_history(project_id: str, name: str) -> ResponseReturnValue:
    """The events of one feature."""
    current_actor.require_events(project_id)
    view = features.get(current_actor, project_id, name)
    query = _read_query(project=project_id, feature=name)
    if exports.wanted():
        return _file(f"events-of-{name}", query)
    return render_template(
        "portal/event_log/feature.html",
        **_log(query, OF_FEATURES, "project", "feature"),
        **about(project_id, view),
    )


@bp.get("/segments/<id:id>/history", needs=Access.SIGNED_IN)
def segment_history(id: int) -> ResponseReturnValue:
    """The events of one segment."""
    segment = segments.get(current_actor, id)
    current_actor.require_events(segment.project_id)
    fixed = {"segment": id} | ({"project": segment.project_id} if segment.project_id else {})
    query = _read_query(**fixed)
    if exports.wanted():
        return _file(f"events-of-segment-{id}", query)
    return render_template(
        "portal/event_log/segment.html", **_log(query, OF_SEGMENTS, *fixed), segment=segment
    )


@bp.get("/users/<id:account_id>/history", needs=Permission.ADMIN)
def user_history(account_id: int) -> ResponseReturnValue:
    """What a person did, or what was done to their account."""
    return _account_history(accounts.get(account_id))


@bp.get("/service-accounts/<id:account_id>/history", needs=Permission.ADMIN)
def service_account_history(account_id: int) -> ResponseReturnValue:
    """What a service account did, or what was done to it."""
    return _account_history(accounts.get(account_id, kind=AccountKind.SERVICE))


def _account_history(account: Account) -> ResponseReturnValue:
    is_about = request.args.get("show") == "about"
    query = _read_query(**{"about" if is_about else "account": account.id})
    if exports.wanted():
        return _file(f"events-of-account-{account.id}", query)
    shown = _log(query, Subject, "about")
    return render_template(
        "portal/event_log/account.html", **shown, account=account, is_about=is_about
    )


@bp.get("/events/check", needs=Permission.ADMIN)
def check() -> str:
    """Verify the whole log, and say what was changed, removed or added."""
    return render_template("portal/event_log/check.html", verdict=verification.verify(Evidence()))


@bp.post("/events/undo", needs=Access.SIGNED_IN, keeps=NOTHING)
def undo_batch() -> Response:
    """Undo all events of ``batch``, in the query string, and return to where that was pressed."""
    return _undo(batch_id=request.args.get("batch", ""))


@bp.post("/events/<id:event_id>/undo", needs=Access.SIGNED_IN, keeps=NOTHING)
def undo(event_id: int) -> Response:
    """Undo an event and the others of its batch, and return to where that was pressed."""
    return _undo(event_id=event_id)


def _undo(*, event_id: int | None = None, batch_id: str = "") -> Response:
    form, path = ReasonForm(), form_address()
    batch = events.new_batch()

    def command() -> list[Event]:
        actor = current_actor.for_act(batch)
        return undoing.undo(actor, event_id=event_id, batch_id=batch_id)

    undone = submit(form, command)
    if undone is None:
        return flash_errors(form, redirect_to_path(f"{path}#{DONE}"))
    flash_with_undo(_undone(undone), batch=batch, what="undoing it")
    name = undone[-1].feature_name
    is_list = name and not path.endswith(f"/features/{name}")
    return redirect_to_path(f"{path}#{f'row-{name}' if is_list else DONE}")


def _undone(undone: list[Event]) -> str:
    """``Undone. You had switched feature cart on in production.``"""
    naming = service.naming(service.accounts_in(undone), current_actor)
    last = undone[-1]
    had = words.sentence(last, sum(event.type is last.type for event in undone), naming)
    but = undoing.INVERSES[last.type].but
    return f"Undone. {words.actor(last, naming)} had {had}. {but}".rstrip()


def _read_query(**fixed: str | int) -> Query:
    """Read the filters of the address. ``fixed``: filters that it can't change."""
    query = read_query(schemas.EventQuery, as_time)
    given = {name: str(value) for name, value in fixed.items()}
    return Query(query.values | fixed, query.given | given, query.faults)


def _log(query: Query, subjects: Iterable[Subject], *fixed: str) -> dict[str, Any]:
    """Return values for the templates. ``fixed``: filters that the reader can't remove."""
    acts = service.acts(current_actor, **query.values)
    accounts = service.accounts_in([act.event for act in acts])
    rows = zip(_rows(acts, accounts), _details(acts, accounts), strict=True)
    filters = query.in_use(LABELS, days_in_words(query))
    return {
        "query": query,
        "days": [(day, _runs(group)) for day, group in groupby(rows, key=_day)],
        "most_alike": MOST_ALIKE,
        "older": acts[-1].event.id if len(acts) == query.values["limit"] else None,
        "filters": [each for each in filters if each[0] not in fixed],
        "types": {
            subject: [(type.value, _label(type)) for type in types_about(subject)]
            for subject in subjects
        },
        "people": sorted({act.event.created_by for act in acts}),
        "dates": days_of(query),
    }


def _label(type: EventType) -> str:
    words = type.value.replace("-", " ").capitalize()
    return re.sub("sdk|scim", lambda short: short[0].upper(), words, flags=re.IGNORECASE)


def rows_of(acts: list[Act]) -> list[EventLine]:
    """Return the acts as sentences, with links to what they name."""
    return _rows(acts, service.accounts_in([act.event for act in acts]))


def _rows(acts: list[Act], accounts: Mapping[int, Account]) -> list[EventLine]:
    naming = service.naming(accounts, current_actor)
    page_of = _pages(accounts)
    rows = []
    for act in acts:
        who = words.actor(act.event, naming)
        parts = words.parts(act.event, act.count, naming)
        sentence = Markup("<b>{}</b> {}").format(
            _linked(who, page_of), Markup("").join(_linked(part, page_of) for part in parts)
        )
        rows.append(EventLine(act, sentence))
    return rows


def _details(acts: list[Act], accounts: Mapping[int, Account]) -> list[Details]:
    naming = service.naming(accounts, current_actor)
    used = set[int]().union(*(segment_ids(act.event) for act in acts))
    names = {id: segment.name for id, segment in with_ids(used).items()} if used else {}
    return [
        Details(
            changes(act.event, naming, names),
            json.dumps(ROW.dump(act.event), indent=2),
            undoing.can_undo(current_actor, act),
        )
        for act in acts
    ]


def _linked(part: Part, page_of: Callable[[Mention], str | None]) -> Markup:
    if not isinstance(part, Mention):
        return escape(part)
    page = page_of(part)
    text = breakable(part.text)
    return text if page is None else Markup('<a href="{}">{}</a>').format(page, text)


def _pages(accounts: Mapping[int, Account]) -> Callable[[Mention], str | None]:
    """Return a function that finds the page of a mention; None if the reader has none."""

    def account(id: int) -> str | None:
        found = accounts.get(id)
        if found is None or found.deleted_at is not None or not current_actor.is_admin:
            return None
        area = "user_pages" if found.is_person else "service_account_pages"
        return url_for(f"{area}.show", account_id=id)

    def feature(place: tuple[str, str]) -> str:
        project_id, name = place
        return url_for("feature_pages.show", project_id=project_id, name=name)

    def change_request(place: tuple[str, int]) -> str:
        project_id, id = place
        return url_for("change_request_pages.show", project_id=project_id, id=id)

    def project(id: str | None) -> str | None:
        return None if id is None else url_for("feature_pages.index", project_id=id)

    finders: dict[str, Callable[[Any], str | None]] = {
        "account": account,
        "change request": change_request,
        "environment": lambda name: url_for("environment_pages.show", name=name),
        "feature": feature,
        "project": project,
        "context field": lambda _: url_for("context_pages.index"),
        "release template": lambda _: url_for("release_template_pages.index"),
        "segment": lambda _: url_for("segment_pages.index"),
        "strategy type": lambda _: url_for("strategy_type_pages.index"),
        "tag type": lambda _: url_for("tag_pages.index"),
        "version": lambda version: url_for(
            "help_pages.show", topic="changes", _anchor=f"v{version}"
        ),
    }
    return lambda mention: finders[mention.kind](mention.id)


def _file(name: str, query: Query) -> ResponseReturnValue:
    filters = {k: v for k, v in query.values.items() if k not in {"limit", "before"}}

    def rows() -> Iterator[dict[str, Any]]:
        for found, naming in service.stream(current_actor, **filters):
            for event in found:
                sentence = f"{words.actor(event, naming)} {words.sentence(event, naming=naming)}"
                yield {**ROW.dump(event), "sentence": sentence}

    columns = [field.data_key or key for key, field in ROW.dump_fields.items()]
    return exports.file(name, [*columns, "sentence"], rows())


def _runs(rows: Iterable[tuple[EventLine, Details]]) -> list[list[tuple[EventLine, Details]]]:
    """The rows in their order, those together that a script records one by one."""
    return [list(group) for _, group in groupby(rows, key=_likeness)]


def _likeness(row: tuple[EventLine, Details]) -> tuple[object, ...]:
    event = row[0].act.event
    if event.batch_id:
        return (event.id,)
    return event.type, event.created_by, event.token_id, event.project


def _day(row: tuple[EventLine, Details]) -> date:
    return local(row[0].act.event.created_at).date()
