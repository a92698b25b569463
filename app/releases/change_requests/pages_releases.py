"""Pages that propose to start a release, and to start a step of one early."""

from uuid import UUID

from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.features import service as features
from app.catalogue.projects import service as projects
from app.core.permissions import Access, Permission
from app.releases.change_requests import proposals
from app.releases.change_requests.models import OPEN_REQUESTS
from app.releases.change_requests.pages_proposing import propose, to_draft
from app.releases.plans import pages_start
from app.releases.plans import service as releases
from app.releases.plans.forms import StartForm
from app.releases.plans.pages import back
from app.web.current import current_actor
from app.web.forms import ReasonForm, flash_errors, submit
from app.web.routes import PageBlueprint

SWITCH = Permission.UPDATE_FEATURE_ENVIRONMENT

bp = PageBlueprint(
    "proposal_release_pages",
    __name__,
    url_prefix="/projects/<key:project_id>/features/<key:name>/environments/<key:environment>"
    "/propose",
)


@bp.form("/release", needs=Access.SIGNED_IN, keeps=(OPEN_REQUESTS,))
def new(project_id: str, name: str, environment: str) -> ResponseReturnValue:
    """Propose to start a release."""
    projects.require_proposer(current_actor, SWITCH, project_id)

    def save(form: StartForm) -> Response:
        wish = {key: value for key, value in form.values.items() if key != "start"}
        return to_draft(propose(project_id, environment, proposals.releasing(name, wish)))

    view = features.get(current_actor, project_id, name)
    return pages_start.page((project_id, name, environment), save, view)


@bp.post("/releases/<uuid:release>/next", needs=Access.SIGNED_IN, keeps=(OPEN_REQUESTS,))
def start(project_id: str, name: str, environment: str, release: UUID) -> Response:
    """Propose to start the next step of a release before its waiting time is over."""
    projects.require_proposer(current_actor, SWITCH, project_id)
    found, form = releases.get(current_actor, project_id, name, environment, release), ReasonForm()
    draft = submit(form, lambda: propose(project_id, environment, proposals.next_step(found)))
    return flash_errors(form, back(project_id, name)) if draft is None else to_draft(draft)
