from typing import NamedTuple
from urllib.parse import quote

from flask import flash, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.portal.saved_filters import service
from app.portal.saved_filters.forms import NameForm, NewSavedFilterForm
from app.portal.saved_filters.models import SAVED_FILTERS, SavedFilter
from app.portal.saved_filters.schemas_lists import filters_in, lists, title_of
from app.web.current import current_actor
from app.web.forms import ButtonForm, flash_errors, show_form, submit, submitted
from app.web.redirects import redirect_to, redirect_to_path
from app.web.routes import PageBlueprint

bp = PageBlueprint("saved_filter_pages", __name__)


class OfList(NamedTuple):
    """The reader’s filters for the list that is shown.

    ``now``: the filters in use, in the form in which they would be saved.
    """

    saved: list[SavedFilter]
    now: str
    address: str


@bp.app_template_global("saved_filters")
def saved_filters() -> OfList | None:
    """Return the reader's filters for this page; None if it is no list with filters."""
    if request.endpoint not in lists():
        return None
    now = filters_in(request.query_string.decode(errors="replace"))
    saved = service.all_of(current_actor, request.path)
    return OfList(saved, now, f"{quote(request.path)}?{now}")


@bp.get("/account/filters", needs=Access.SIGNED_IN)
def index() -> str:
    """The reader's saved filters."""
    saved = [(one, title_of(one.path) or one.path) for one in service.all_of(current_actor)]
    return render_template("portal/saved_filters/index.html", saved=saved)


@bp.form("/new-saved-filter", needs=Access.SIGNED_IN, keeps=(SAVED_FILTERS,))
def new() -> ResponseReturnValue:
    """Give the filters of a list a name."""
    form = NewSavedFilterForm()

    def create() -> SavedFilter:
        path, query = form.values["address"]
        return service.create(current_actor, name=form.values["name"], path=path, query=query)

    if saved := submit(form, create):
        flash(f"Filters saved as {saved.name}.", "ok")
        return redirect_to_path(saved.address)
    return show_form("portal/saved_filters/new.html", form, list=form.list_title)


@bp.get("/saved-filters/<key:key>", needs=Access.SIGNED_IN)
def follow(key: str) -> Response:
    """Lead to the list with the filters that someone saved."""
    return redirect_to_path(service.address_of(key))


@bp.form("/account/filters/<id:id>", needs=Access.SIGNED_IN, keeps=NOTHING)
def edit(id: int) -> ResponseReturnValue:
    """Rename saved filters."""
    saved = service.get(current_actor, id, for_change=request.method == "POST")
    form = NameForm(data={"name": saved.name})
    if submitted(form, lambda: service.rename(saved, **form.values)):
        flash(f"Filters renamed to {saved.name}.", "ok")
        return redirect_to(".index")
    return show_form("portal/saved_filters/edit.html", form, saved=saved)


@bp.post("/account/filters/<id:id>/delete", needs=Access.SIGNED_IN, keeps=NOTHING)
def remove(id: int) -> Response:
    """Delete saved filters."""
    form, back, saved = ButtonForm(), redirect_to(".index"), service.get(current_actor, id)
    if not submitted(form, lambda: service.remove(saved)):
        return flash_errors(form, back)
    flash(f"Saved filters {saved.name} deleted.", "ok")
    return back
