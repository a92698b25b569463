from app.core.blueprints import ApiBlueprint
from app.core.paging import Page, PageQuery
from app.core.permissions import Access
from app.environments import schemas, service
from app.environments.models import Environment

bp = ApiBlueprint(
    "environments",
    __name__,
    url_prefix="/api/admin/environments",
    description="Where features run: development, production and so on.",
)


@bp.get("", needs=Access.SIGNED_IN)
@bp.arguments(PageQuery, location="query")
@bp.response(200, schemas.EnvironmentList)
def index(page: dict[str, int]) -> Page[Environment]:
    """List environments"""
    return service.search(**page)
