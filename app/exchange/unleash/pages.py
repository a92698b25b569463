from flask import render_template, request
from flask.typing import ResponseReturnValue

from app.catalogue.features import selections
from app.catalogue.projects import service as projects
from app.catalogue.strategies import queries as strategies
from app.core.errors import NotFound
from app.core.permissions import Access
from app.exchange.unleash import schemas, service
from app.web import exports
from app.web.current import current_actor
from app.web.routes import PageBlueprint

bp = PageBlueprint("transfer_pages", __name__, url_prefix="/projects/<key:project_id>")


@bp.get("/export", needs=Access.SIGNED_IN)
def export(project_id: str) -> ResponseReturnValue:
    """Choose an environment to export the features of the project in, or download them.

    With ``selection``, only those that were selected.
    """
    selection = request.args.get("selection", "")
    names = selections.names_of(current_actor, project_id, selection) if selection else ()
    if names is None:
        raise NotFound("This selection is no longer known. Select the features again.")
    if environment := request.args.get("environment"):
        found = service.export(current_actor, environment, names=names, project=project_id)
        content = schemas.ExportDocument().dump(found)
        name = service.file_name(environment, project_id)
        return exports.document(name, content, rows=len(found.found))
    return render_template(
        "exchange/unleash/export.html",
        overview=projects.overview(current_actor, project_id),
        environments=strategies.environments_of([project_id]).get(project_id, []),
        selection=selection,
        names=names,
    )
