"""Pages that propose what lowers the approvals of a project, or archives it."""

from flask import flash
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.projects import pages as project_pages
from app.catalogue.projects import service as projects
from app.catalogue.projects.forms import ProjectForm
from app.catalogue.projects.models import Project
from app.core.errors import Conflict
from app.core.permissions import Permission
from app.core.words import spoken
from app.releases.change_requests import proposals
from app.releases.change_requests.pages_proposing import propose, to_draft
from app.web.current import current_actor
from app.web.forms import ButtonForm, flash_errors, submit
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint(
    "proposal_project_pages", __name__, url_prefix="/projects/<key:project_id>/settings/propose"
)


@bp.post("", needs=Permission.UPDATE_PROJECT)
def settings(project_id: str) -> ResponseReturnValue:
    """Save the settings of a project, and propose those that need approvals."""

    def save(project: Project, form: ProjectForm) -> Response:
        held = project_pages.lowered(project, form)
        page = project_pages.save(project, form, held)
        drafts = [
            propose(project_id, name, proposals.approvals(number)) for name, number in held.items()
        ]
        if len(drafts) == 1:
            return to_draft(drafts[0])
        if drafts:
            flash(f"You have new drafts for {spoken(held)}. Send each for review.", "ok")
            return redirect_to("change_request_pages.inbox", show="own")
        return page

    return project_pages.change_settings(project_id, save)


@bp.post("/archive", needs=Permission.DELETE_PROJECT)
def archive(project_id: str) -> Response:
    """Propose to archive a project, where it needs the most approvals."""
    form, changes = ButtonForm(), proposals.archiving_project()

    def command() -> Response:
        guarded = projects.get(current_actor, project_id).guarded
        if not guarded:
            raise Conflict(f"Project {project_id} needs no approvals. Archive it directly.")
        return to_draft(propose(project_id, guarded[0].environment, changes))

    page = redirect_to("project_pages.settings", project_id=project_id)
    return submit(form, command) or flash_errors(form, page)
