from flask import flash
from flask.typing import ResponseReturnValue

from app.core.permissions import Permission
from app.delivery.origins import service
from app.delivery.origins.forms import OriginsForm
from app.web.conflicts import StaleEdit, Values
from app.web.current import current_actor
from app.web.forms import submit
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("browser_origin_pages", __name__)

LABELS = {"frontend_api_origins": "Sites"}


@bp.get("/browser-origins", needs=Permission.UPDATE_CORS)
def show() -> ResponseReturnValue:
    """Show the sites whose pages may read features, as a form."""
    data = _settings()
    return _page(OriginsForm(data=data), data)


@bp.post("/browser-origins", needs=Permission.UPDATE_CORS)
def update() -> ResponseReturnValue:
    """Save, unless someone else changed the list first: then show what they changed."""
    current = _settings()
    form = OriginsForm(data=current)
    if before := _stale_edit().stale(current):
        return _page(form, current, before)
    changed = submit(
        form, lambda: service.set_origins(current_actor, form.values["frontend_api_origins"])
    )
    if changed is None:
        return _page(form, current)
    said = "Saved. Browsers can take a day to notice." if changed else "Nothing changed."
    flash(said, "ok")
    return redirect_to(".show")


def _settings() -> Values:
    return {"frontend_api_origins": "\n".join(service.origins())}


def _stale_edit() -> StaleEdit:
    return StaleEdit("browser origins", LABELS)


def _page(form: OriginsForm, current: Values, before: Values | None = None) -> ResponseReturnValue:
    return _stale_edit().show("delivery/origins/edit.html", form, current, before)
