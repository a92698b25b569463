from flask import request
from werkzeug.wrappers import Response

from app.catalogue.favourites import service
from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.web.current import current_actor
from app.web.forms import ButtonForm, flash_errors, submitted
from app.web.redirects import form_address, redirect_to_path
from app.web.routes import PageBlueprint

bp = PageBlueprint("favourite_pages", __name__, url_prefix="/projects/<key:project_id>")


@bp.app_template_global("is_favourite")
def is_favourite(project_id: str, feature_id: int = 0) -> bool:
    """For the star beside the heading. ``feature_id``: 0 for the project."""
    return service.is_one(current_actor, project_id, feature_id)


@bp.post("/favourite", needs=Access.SIGNED_IN, keeps=NOTHING)
def mark_project(project_id: str) -> Response:
    """Make a project a favourite, or with ``remove`` no longer one, and return to the page."""
    return _mark(project_id)


@bp.post("/features/<key:name>/favourite", needs=Access.SIGNED_IN, keeps=NOTHING)
def mark_feature(project_id: str, name: str) -> Response:
    """Make a feature a favourite, or with ``remove`` no longer one, and return to the page."""
    return _mark(project_id, name)


def _mark(project_id: str, feature: str | None = None) -> Response:
    form, back = ButtonForm(), redirect_to_path(form_address())
    change = service.remove if "remove" in request.form else service.add
    if not submitted(form, lambda: change(current_actor, project_id, feature)):
        return flash_errors(form, back)
    return back
