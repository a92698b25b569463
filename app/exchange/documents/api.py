from typing import Any

from flask import Response, request

from app.core.permissions import Permission
from app.exchange.documents import files, schemas_api, schemas_files, service
from app.exchange.documents.documents import to_file
from app.exchange.documents.service import Applied, ShownPlan
from app.web.current import current_actor
from app.web.routes import ApiBlueprint

bp = ApiBlueprint(
    "configuration",
    __name__,
    url_prefix="/api/admin/configuration",
    description="The configuration as a document: read it, plan what it changes, apply it.",
)

YAML = "application/yaml"
EXAMPLE = {"version": 1, "features": [{"name": "checkout.new-flow", "project": "default"}]}


@bp.get("", needs=Permission.ADMIN, refuses=(400, 404))
@bp.arguments(schemas_api.ExportQuery, location="query")
@bp.response(200, schemas_api.ConfigurationDocument)
def show(query: dict[str, str]) -> dict[str, Any] | Response:
    """Read the configuration

    Everything, or one project with what it refers to; sorted and without secrets. With
    Accept: application/yaml, the answer is YAML.
    """
    document = service.export(current_actor, query.get("project"))
    if request.accept_mimetypes.best_match(["application/json", YAML]) == YAML:
        return Response(files.as_yaml(document), content_type=f"{YAML}; charset=utf-8")
    return to_file(document)


@bp.post("/plan", needs=Permission.ADMIN, writes=False)
@bp.arguments(schemas_api.ConfigurationDocument, example=EXAMPLE)
@bp.response(200, schemas_api.ShownConfigurationPlan)
def plan(data: dict[str, Any]) -> ShownPlan:
    """Plan what a document changes

    Changes nothing. Send the digest of the plan with the document to apply exactly this.
    """
    wanted = schemas_files.wanted(data)
    return service.show(service.plan(wanted), wanted)


@bp.post("/apply", needs=Permission.ADMIN)
@bp.arguments(schemas_api.PlanQuery, location="query")
@bp.arguments(schemas_api.ConfigurationDocument, example=EXAMPLE)
@bp.response(200, schemas_api.AppliedConfiguration)
def apply(query: dict[str, str], data: dict[str, Any]) -> Applied:
    """Apply a document

    All or nothing. What the document does not name stays as it is, and nothing is deleted. Where
    changes need approvals, they are proposed in change requests of the caller. If anything can’t be
    applied, the answer is 400 with each fault.
    """
    wanted = schemas_files.wanted(data)
    return service.apply(
        current_actor, wanted, cause="Applied from a document", shown=query.get("plan")
    )
