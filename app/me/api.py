from app.core.actor import current_actor
from app.core.blueprints import ApiBlueprint
from app.core.permissions import Access
from app.me import schemas, service

bp = ApiBlueprint(
    "me", __name__, url_prefix="/api/admin/user", description="The calling account itself."
)


@bp.get("", needs=Access.SIGNED_IN)
@bp.response(200, schemas.Overview)
def show() -> service.Overview:
    """Get the calling user's details"""
    return service.overview(current_actor)
