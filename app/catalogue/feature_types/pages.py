from flask.typing import ResponseReturnValue

from app.catalogue.feature_types import service
from app.catalogue.feature_types.forms import LifetimesForm
from app.catalogue.features.models import FeatureType
from app.core.permissions import Access, Permission
from app.web.conflicts import EditPage
from app.web.current import current_actor
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("feature_type_pages", __name__)


@bp.get("/feature-types", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """Show the types of features with their lifetimes, to Admins as a form."""
    return _edit().show()


@bp.post("/feature-types", needs=Permission.ADMIN)
def update() -> ResponseReturnValue:
    """Save the lifetimes, unless someone else changed them first: then show what they changed."""
    edit = _edit()
    return edit.save(
        lambda: service.set_lifetimes(
            current_actor,
            {FeatureType[name.upper()]: days for name, days in edit.form.values.items()},
        ),
        lambda: "Lifetimes saved.",
        redirect_to(".index"),
    )


def _edit() -> EditPage[LifetimesForm]:
    types = service.list_all()
    days = {type.id.name.lower(): str(type.lifetime_days or "") for type in types}
    return EditPage(
        "lifetimes of feature types",
        "catalogue/feature_types/index.html",
        LifetimesForm(data=days),
        days,
        lambda: {"types": types},
    )
