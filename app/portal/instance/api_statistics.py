import csv
from io import StringIO
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from flask import Response, current_app
from marshmallow import fields

from app.core.permissions import Permission
from app.portal.instance import statistics
from app.web.current import current_settings
from app.web.routes import ApiBlueprint
from app.web.schemas import Schema, Timestamp

bp = ApiBlueprint(
    "instance statistics",
    __name__,
    url_prefix="/api/admin/instance-admin",
    description="How much this instance holds.",
)


class Statistics(Schema):
    instance_id = fields.String()
    version_oss = fields.String(data_key="versionOSS")
    timestamp = Timestamp()
    users = fields.Integer()
    active_users = fields.Dict(keys=fields.String(), values=fields.Integer())
    production_changes = fields.Dict(keys=fields.String(), values=fields.Integer())
    feature_toggles = fields.Integer()
    projects = fields.Integer()
    context_fields = fields.Integer()
    roles = fields.Integer()
    groups = fields.Integer()
    environments = fields.Integer()
    segments = fields.Integer()
    strategies = fields.Integer()
    max_environment_strategies = fields.Integer()
    client_apps = fields.List(fields.Dict())
    api_tokens = fields.Dict(keys=fields.String(), values=fields.Integer())
    saml_enabled = fields.Constant(constant=False, data_key="SAMLenabled")
    oidc_enabled = fields.Boolean(data_key="OIDCenabled")


@bp.get("/statistics", needs=Permission.ADMIN)
@bp.response(200, Statistics)
def show() -> dict[str, Any]:
    """Read how much this instance holds"""
    return _numbers()


@bp.get("/statistics/csv", needs=Permission.ADMIN)
@bp.response(200)
def download() -> Response:
    """Read how much this instance holds, as CSV"""
    file, numbers = StringIO(), statistics.flat(Statistics().dump(_numbers()))
    writer = csv.DictWriter(file, list(numbers))
    writer.writeheader()
    writer.writerow(numbers)
    return Response(file.getvalue(), content_type="text/csv; charset=utf-8")


def _numbers() -> dict[str, Any]:
    settings = current_settings()
    return statistics.read() | {
        "instance_id": str(uuid5(NAMESPACE_URL, settings.address())),
        "version_oss": current_app.config["API_VERSION"],
        "oidc_enabled": settings.oidc_issuer is not None,
    }
