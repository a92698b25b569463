"""Which sites may read features in browsers, as Unleash's own clients ask for it."""

from typing import Any

from flask import Response, current_app

from app.core.maintenance import service as maintenance
from app.core.permissions import Access, Permission
from app.delivery.origins import schemas, service
from app.web.current import current_actor, current_settings
from app.web.routes import ApiBlueprint, no_body

NAME = "Flagstaff"

bp = ApiBlueprint(
    "browser origins",
    __name__,
    url_prefix="/api/admin/ui-config",
    description="Which sites may read features in browsers.",
)


@bp.get("", needs=Access.SIGNED_IN)
@bp.response(200, schemas.UiConfig)
def show() -> dict[str, Any]:
    """Read the version, the address, and the sites that may read features"""
    settings = current_settings()
    return {
        "name": NAME,
        "version": current_app.config["API_VERSION"],
        "unleash_url": settings.address(""),
        "base_uri_path": settings.url_prefix,
        "frontend_api_origins": service.origins(),
        "maintenance_mode": maintenance.current() is not None,
        "version_info": {"current": {"oss": current_app.config["API_VERSION"]}},
    }


@bp.post("/cors", needs=Permission.UPDATE_CORS)
@bp.arguments(schemas.CorsSettings, example={"frontendApiOrigins": ["https://shop.example.com"]})
@bp.response(204)
def update(data: dict[str, Any]) -> Response:
    """Choose the sites whose pages may read features

    The list replaces the one before. Pages of other sites can't read what `/api/frontend` and
    `/ofrep` answer; applications that are no browsers are not affected.
    """
    service.set_origins(current_actor, data["frontend_api_origins"])
    return no_body(204)
