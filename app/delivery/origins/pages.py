from flask.typing import ResponseReturnValue

from app.core.permissions import Permission
from app.delivery.origins import service
from app.delivery.origins.forms import OriginsForm
from app.web.conflicts import EditPage
from app.web.current import current_actor
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("browser_origin_pages", __name__)


@bp.get("/browser-origins", needs=Permission.UPDATE_CORS)
def show() -> ResponseReturnValue:
    """Show the sites whose pages may read features, as a form."""
    return _edit().show()


@bp.post("/browser-origins", needs=Permission.UPDATE_CORS)
def update() -> ResponseReturnValue:
    """Save, unless someone else changed the list first: then show what they changed."""
    edit = _edit()
    return edit.save(
        lambda: service.set_origins(current_actor, edit.form.values["frontend_api_origins"]),
        lambda: "Saved. Browsers can take a day to notice.",
        redirect_to(".show"),
    )


def _edit() -> EditPage[OriginsForm]:
    data = {"frontend_api_origins": "\n".join(service.origins())}
    return EditPage("browser origins", "delivery/origins/edit.html", OriginsForm(data=data), data)
