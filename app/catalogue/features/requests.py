"""What lists of features send: which are selected, and what to do with them.

With ``project_id`` None it is about the features of all projects that the reader can see.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Any

from flask import flash, g, request
from werkzeug.wrappers import Response

from app.catalogue.features import schemas, selections
from app.core.permissions import Permission
from app.web.current import current_actor
from app.web.listing import read_query
from app.web.redirects import redirect_to
from app.web.schemas import MAX_ITEMS

DESTINATIONS = {
    "tags": "tagging_pages.choose",
    "settings": "bulk_pages.choose",
    "stale": "bulk_pages.review",
    "archive": "archive_pages.preview",
    "delete": "archive_pages.review_deletion",
    "export": "transfer_pages.export",
    "on": "bulk_switching_pages.review",
    "off": "bulk_switching_pages.review",
}
SWITCHES = {"on", "off"}
"""The destinations that need an environment too."""


def select(project_id: str | None, matching: Callable[[], Iterable[str]]) -> Response:
    """Store a selection and go to the page that acts on it.

    It consists of the selected rows of the list (for its other pages: the names of the selection
    ``base``), of all features that match the filters, or of an earlier selection with names added
    and removed. ``matching``: returns the names of all that match.
    """
    sent = request.form
    if earlier := sent.get("selection"):
        plus, minus = sent.getlist("plus"), sent.getlist("minus")
        id = selections.change(current_actor, project_id, earlier, plus=plus, minus=minus)
        detach = sent.getlist("detach") or None  # a choice of the archive preview
        return _act(project_id, selection=id, detach=detach)
    names = set(sent.getlist("feature"))
    if base := sent.get("base"):
        elsewhere = selections.names_of(current_actor, project_id, base) or []
        names |= set(elsewhere).difference(sent.getlist("shown"))
    if sent.get("to") == "list":
        return _return_to_list(project_id, names)
    if "all" in sent:
        names.update(matching())
    if not names:
        flash("Select at least one feature first.", "warn")
    elif not are_too_many(names):
        return open_selection(project_id, names)
    return _show_list(project_id)


def open_selection(project_id: str | None, names: Iterable[str]) -> Response:
    """Store a selection and go to the page that acts on it.

    Features that all turn out to be of one project get the pages of that project.
    """
    id = selections.save(current_actor, project_id, names)
    if project_id is None:
        selection = selections.get(current_actor, None, id)
        of = {one.project_id for one in selection.found.values()}
        if len(of) == 1 and not selection.left_out:
            [project_id] = of
            current_actor.require(Permission.UPDATE_FEATURE, project_id)
            id = selections.save(current_actor, project_id, selection.names)
    to = request.form.get("to")
    asked = {"to": to, "environment": request.form.get("environment")} if to in SWITCHES else {}
    if to == "stale":
        asked["stale"] = "true"
    return _act(project_id, selection=id, **asked)


def are_too_many(names: Collection[str]) -> bool:
    """Whether one request can't change so many features. If so, flash a message."""
    if len(names) <= MAX_ITEMS:
        return False
    flash(f"Select at most {MAX_ITEMS:,} features at once. Filter the list first.", "warn")
    return True


def list_filters(query: type[schemas.FeatureQuery] = schemas.FeatureQuery) -> dict[str, Any]:
    """The filters of the list, from the address that its form is sent to."""
    values = read_query(query).values
    return {k: v for k, v in values.items() if k not in {"limit", "offset", "sort"}}


def selected(project_id: str | None) -> set[str]:
    """The names selected in the list, on any page of it."""
    if kept := g.get("kept_form"):  # from a form whose session had ended
        return set(kept.getlist("feature"))
    id = request.args.get("selection", "")
    return set(selections.names_of(current_actor, project_id, id) or ()) if id else set()


def _act(project_id: str | None, **asked: Any) -> Response:
    to = request.form.get("to", "")
    if project_id is not None:
        endpoint = DESTINATIONS.get(to, DESTINATIONS["tags"])
        return redirect_to(endpoint, project_id=project_id, **asked)
    if to == "export":
        return redirect_to("transfer_pages.export_selected", **asked)
    asked["to"] = to if to in DESTINATIONS else "tags"
    return redirect_to("selected_pages.review", **asked)


def _return_to_list(project_id: str | None, names: Collection[str]) -> Response:
    """Redirect to another page or order of the list, and keep these names selected."""
    asked = {name: value for name, value in request.args.items() if name != "selection"}
    asked |= {"all": "1"} if "all" in request.form else {}
    id = selections.save(current_actor, project_id, names) if names else None
    return _show_list(project_id, **asked, selection=id)


def _show_list(project_id: str | None, **asked: Any) -> Response:
    if project_id is None:
        return redirect_to("all_feature_pages.index", **asked)
    return redirect_to("feature_pages.index", **asked | {"project_id": project_id})
