import csv
from io import StringIO
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from flask import Response, current_app
from marshmallow import fields

from app.core.clock import in_text
from app.core.permissions import Permission
from app.portal.instance import statistics
from app.web.current import current_settings
from app.web.routes import ApiBlueprint
from app.web.schemas import Schema

bp = ApiBlueprint(
    "instance statistics",
    __name__,
    url_prefix="/api/admin/instance-admin",
    description="How much this instance holds.",
)

Numbers = Schema.from_dict(
    {
        "instanceId": fields.String(),
        "versionOSS": fields.String(),
        "timestamp": fields.String(metadata={"format": "date-time"}),
        **dict.fromkeys(
            (
                *("users", "featureToggles", "projects", "contextFields", "roles", "groups"),
                *("environments", "segments", "strategies", "maxEnvironmentStrategies"),
            ),
            fields.Integer(),
        ),
        **dict.fromkeys(
            ("activeUsers", "productionChanges", "apiTokens"),
            fields.Dict(keys=fields.String(), values=fields.Integer()),
        ),
        "clientApps": fields.List(fields.Dict()),
        **dict.fromkeys(("SAMLenabled", "OIDCenabled"), fields.Boolean()),
    },
    name="InstanceStatistics",
)


@bp.get("/statistics", needs=Permission.ADMIN)
@bp.response(200, Numbers)
def show() -> dict[str, Any]:
    """Read how much this instance holds"""
    return _numbers()


@bp.get("/statistics/csv", needs=Permission.ADMIN)
@bp.response(200)
def download() -> Response:
    """Read how much this instance holds, as CSV"""
    file, numbers = StringIO(), statistics.flat(_numbers())
    writer = csv.DictWriter(file, list(numbers))
    writer.writeheader()
    writer.writerow(numbers)
    return Response(file.getvalue(), content_type="text/csv; charset=utf-8")


def _numbers() -> dict[str, Any]:
    settings, numbers = current_settings(), statistics.read()
    return numbers | {
        "timestamp": in_text(numbers["timestamp"]),
        "instanceId": str(uuid5(NAMESPACE_URL, settings.address())),
        "versionOSS": current_app.config["API_VERSION"],
        "OIDCenabled": settings.oidc_issuer is not None,
        "SAMLenabled": False,
    }
