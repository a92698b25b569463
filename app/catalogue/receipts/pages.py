from datetime import timedelta
from typing import Any

from flask import Flask, flash, render_template
from flask.typing import ResponseReturnValue
from werkzeug import Response

from app.catalogue.environments import service as environments
from app.catalogue.features import service as features
from app.catalogue.features.pages import about
from app.catalogue.features.queries import FeatureView
from app.catalogue.receipts import arrival, queries, schemas, service, watching, words
from app.catalogue.receipts.models import WATCHED_INSTANCES
from app.catalogue.receipts.service import Receipts
from app.core.clock import utcnow
from app.core.events import words as event_words
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.permissions import Access, Permission
from app.core.words import counted
from app.web.current import current_actor
from app.web.listing import Query, read_query
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

SHOWN = timedelta(minutes=15)
"""How long the page of a feature shows that a change has arrived."""

bp = PageBlueprint(
    "receipt_pages",
    __name__,
    url_prefix="/projects/<key:project_id>/features/<key:name>/environments/<key:environment>",
)

arrival_bp = PageBlueprint("arrival_pages", __name__, url_prefix="/arrival")


def init_app(app: Flask) -> None:
    """Let the page of a feature show whether its last change has arrived."""
    app.jinja_env.globals["last_receipts"] = last_receipts
    app.jinja_env.globals["receipts_at"] = receipts_at
    app.jinja_env.globals["receipt_words"] = words


def last_receipts(view: FeatureView) -> Receipts | None:
    """Return the receipts of the last change of a feature; None if nothing need be said."""
    change = queries.change_of(view.feature.project_id, [view.feature.name])
    now = utcnow()
    if change is None or change.at < now - arrival.LATE_FOR or not view.environments:
        return None
    environment = change.environment or view.environments[-1].name
    if change.at < now - SHOWN and not service.is_lacked(change, environment):
        return None
    found = service.of(change, environment)
    is_worth_showing = change.at >= now - SHOWN or not found.has_arrived
    return found if is_worth_showing and found.total else None


def receipts_at(event: Event, view: FeatureView | None) -> dict[str, Any] | None:
    """Return where the receipts of an event are; None if it changes nothing in an environment.

    ``view``: the feature whose history it is in. Elsewhere, the feature may be gone. What changed
    in all environments is shown in the last one.
    """
    about, change = event.data or event.pre_data or {}, event.id
    environment = about.get("environment")
    if event.type in {EventType.INSTANCES_ENDED, EventType.INSTANCES_RETURNED}:
        change = about["event"]
    elif not view or not view.environments or event.type not in queries.CHANGES:
        return None
    else:
        names = [one.name for one in view.environments]
        environment = environment or names[-1]
        if environment not in names:
            return None
    feature = {"project_id": event.project, "name": event.feature_name}
    return {**feature, "environment": environment, "event": change}


@bp.get("/receipts", needs=Access.SIGNED_IN)
def show(project_id: str, name: str, environment: str) -> ResponseReturnValue:
    """Show which instances have a change."""
    view = features.get(current_actor, project_id, name)
    receipts, query = _asked(view, environment)
    event = queries.event_of(receipts.change)
    return render_template(
        "catalogue/receipts/show.html",
        **about(project_id, view),
        receipts=receipts,
        query=query,
        is_watching=watching.is_watching(current_actor, receipts),
        event=event,
        sentence=event_words.sentence(event),
    )


@bp.post("/receipts/notify", needs=Access.SIGNED_IN, keeps=(WATCHED_INSTANCES,))
def notify(project_id: str, name: str, environment: str) -> Response:
    """Give the reader a notice when an instance that is silent since a change asks again."""
    receipts, _ = _asked(features.get(current_actor, project_id, name), environment)
    watching.watch(current_actor, receipts)
    return _done("You get a notice when an instance that is silent asks again.", receipts)


@bp.post("/receipts/mark-as-ended", needs=Permission.UPDATE_FEATURE_ENVIRONMENT)
def mark_as_ended(project_id: str, name: str, environment: str) -> Response:
    """Mark instances as ended that were silent since a change when the page was made."""
    receipts, query = _asked(features.get(current_actor, project_id, name), environment)
    as_of = query.values.get("as_of", receipts.change.at)
    ended = service.mark_as_ended(current_actor, receipts, as_of=as_of)
    return _done(f"{counted(ended, 'instance')} marked as ended.", receipts)


def _asked(view: FeatureView, environment: str) -> tuple[Receipts, Query]:
    """The receipts of the event in the address, or of the latest change."""
    query = read_query(schemas.EndedQuery)
    return service.read(view, environment, query.values.get("event")), query


def _done(words: str, receipts: Receipts) -> Response:
    flash(words, "ok")
    return redirect_to(".show", **receipts.place)


@arrival_bp.get("", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """Show which applications have the newest state of their environments."""
    found = arrival.of_all()
    by_place = {(one.application, one.environment): one for one in found}
    running = [one.environment for one in found]
    return render_template(
        "catalogue/receipts/arrival.html",
        by_place=by_place,
        applications=sorted({one.application for one in found}, key=str.casefold),
        environments=[name for name in environments.all_names() if name in running],
        current=words.current(found),
    )
