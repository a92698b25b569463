from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from flask import Flask, flash, render_template, request
from flask.typing import ResponseReturnValue

from app.catalogue.environments import service as environments
from app.catalogue.projects import service as projects
from app.catalogue.strategies import words as strategy_words
from app.core.permissions import Access
from app.releases.change_requests import allowed, decisions, pending, presenter, schemas, service
from app.releases.change_requests.decisions import EditedSince
from app.releases.change_requests.forms import DecisionForm
from app.releases.change_requests.models import CLOSED, OPEN_REQUESTS, STEPS, State
from app.releases.change_requests.views import View
from app.releases.change_requests.words import contents, title
from app.web.current import current_actor
from app.web.forms import show_form, submit
from app.web.listing import MAX_LIMIT, Query, read_query
from app.web.redirects import DONE, redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("change_request_pages", __name__)

FILTERS = {"text": "Text", "project": "Project", "environment": "Environment", "state": "State"}
LIST = "/projects/<key:project_id>/change-requests"
READY_SHOWN = 20
OPEN = [state for state in State if state not in CLOSED]


def init_app(app: Flask) -> None:
    """Let templates count the open change requests of a project."""
    app.jinja_env.globals["open_change_requests"] = pending.open_in


@bp.get("/change-requests", needs=Access.SIGNED_IN)
def inbox() -> str:
    """List the change requests that concern the reader, over all projects."""
    query = read_query(schemas.InboxQuery)
    tab = query.values.pop("show")
    asked = query.values | _TABS[tab]()
    page, ready = service.search(current_actor, **asked), None
    if tab == "waiting":
        asked |= {"waits_for": "applying", "limit": READY_SHOWN, "offset": 0}
        ready = service.search(current_actor, **asked)
    return render_template(
        "releases/change_requests/inbox.html",
        tab=tab,
        page=page,
        ready=ready,
        numbers=pending.numbers(current_actor),
        api_path=_api_path(query, tab),
        projects=projects.names(current_actor, MAX_LIMIT),
        **_list(query, [*page.items, *(ready.items if ready else ())]),
    )


@bp.get(LIST, needs=Access.SIGNED_IN)
def index(project_id: str) -> str:
    """List the change requests of a project, newest first."""
    overview = projects.overview(current_actor, project_id)
    query = read_query(schemas.ChangeRequestQuery)
    page = service.in_project(current_actor, project_id, **query.values)
    return render_template(
        "releases/change_requests/index.html",
        overview=overview,
        page=page,
        bypasses=service.bypasses(current_actor, project_id),
        states=[(state.value, state.value) for state in State],
        **_list(query, page.items),
    )


@bp.form(f"{LIST}/<id:id>", needs=Access.SIGNED_IN, keeps=(OPEN_REQUESTS, STEPS))
def show(project_id: str, id: int) -> ResponseReturnValue:
    """Show a change request, and take what people decide about it."""
    view = service.get(current_actor, project_id, id)
    form, to = DecisionForm(view), request.form.get("to", "")
    if to in decisions.ASKS and "sure" not in request.form:
        return render_template("releases/change_requests/sure.html", view=view, form=form, to=to)
    try:
        done = submit(
            form, lambda: decisions.decide(current_actor, project_id, id, to, form.values)
        )
    except EditedSince:
        return _page(project_id, id, form, was_edited=True)[0], HTTPStatus.CONFLICT
    if done is None:
        return _page(project_id, id, form)
    flash(done.says, "ok")
    if done.leads_to is None:
        return redirect_to(".inbox", show="own", _anchor=DONE)
    return redirect_to(".show", project_id=project_id, id=done.leads_to, _anchor=DONE)


def _page(
    project_id: str, id: int, form: DecisionForm, *, was_edited: bool = False
) -> tuple[str, int]:
    view = service.get(current_actor, project_id, id)
    return show_form(
        "releases/change_requests/show.html",
        form,
        view=view,
        project=projects.get(current_actor, project_id),
        author=presenter.authors([view])[id],
        state=presenter.state(view),
        diffs=presenter.change_diffs(view),
        outcomes=presenter.outcome_diffs(view),
        describe=strategy_words.describe,
        overlapping=service.overlapping(current_actor, view.request)
        if view.request.is_open
        else (),
        history=presenter.history(current_actor, view),
        allowed=allowed.of(current_actor, view),
        undoing=presenter.undoing(view),
        receipts=presenter.receipts(view),
        default_title=title,
        people=partial(presenter.people, current_actor),
        was_edited=was_edited,
        next_state=_NEXT_STATES.get(view.state),
    )


def _list(query: Query, views: list[View]) -> dict[str, Any]:
    """Template variables for a list of change requests."""
    return {
        "authors": presenter.authors(views),
        "query": query,
        "filters": query.in_use(FILTERS),
        "environments": [(name, name) for name in environments.all_names()],
        "contents": contents,
        "state_of": presenter.state,
    }


def _api_path(query: Query, tab: str) -> str:
    """The API request for the list of a tab. The API has none for “done”."""
    asked = {"waiting": {"waitsFor": "approval"}, "scheduled": {"state": State.SCHEDULED.value}}
    given = {name: value for name, value in query.given.items() if name != "show"}
    own = {"createdBy": str(current_actor.account_id)} if tab == "own" else asked.get(tab, {})
    return Query(query.values, given | own, query.faults).as_path(
        "/api/admin/search/change-requests"
    )


_TABS: dict[str, Callable[[], dict[str, Any]]] = {
    "waiting": lambda: {"waits_for": "approval"},
    "own": lambda: {"created_by": current_actor.account_id, "states": OPEN},
    "scheduled": lambda: {"states": [State.SCHEDULED]},
    "done": lambda: {"states": list(CLOSED)},
}
_NEXT_STATES = {
    State.DRAFT: State.IN_REVIEW,
    State.IN_REVIEW: State.APPROVED,
    State.APPROVED: State.APPLIED,
    State.SCHEDULED: State.APPLIED,
}
"""The state in the API request that the page shows as an example."""
