from flask import flash, request, url_for
from flask.typing import ResponseReturnValue

from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.portal.display import schemas, service
from app.portal.display.forms import DisplayForm
from app.web.current import current_actor
from app.web.forms import show_form, submitted
from app.web.redirects import own_path, redirect_to_path, this_address
from app.web.routes import PageBlueprint

bp = PageBlueprint("display_pages", __name__)


@bp.app_template_global("hidden_parts")
def hidden_parts(page: str) -> set[str]:
    return service.hidden(current_actor, page)


@bp.app_template_global("display_address")
def display_address(page: str) -> str:
    """Return the address to choose the parts of a page, which leads back to the current one."""
    return url_for("display_pages.choose", page=page, back=this_address())


@bp.form("/display/<key:page>", needs=Access.SIGNED_IN, keeps=NOTHING)
def choose(page: str) -> ResponseReturnValue:
    """Choose which parts of a page are shown to the reader."""
    choice, back = schemas.choice(page), own_path(request.args.get("back"))
    form = DisplayForm(choice, service.hidden(current_actor, page))
    if submitted(
        form, lambda: service.hide(current_actor, page, form.values["hidden"], choice.parts)
    ):
        flash("Saved what you see here.", "ok")
        return redirect_to_path(back)
    return show_form("portal/display/choose.html", form, choice=choice, page=page, back=back)
