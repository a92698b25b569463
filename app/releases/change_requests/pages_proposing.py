"""Pages that propose to switch a feature or to choose its parent."""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from flask import Flask, flash, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.features import pages_settings as settings_pages
from app.catalogue.features.models import Feature
from app.catalogue.projects import service as projects
from app.core.db import unit_of_work
from app.core.errors import Invalid
from app.core.permissions import Access, Permission
from app.releases.change_requests import editing, presenter, proposals, proposed, words
from app.releases.change_requests.editing import Proposal
from app.releases.change_requests.models import NEW_DRAFT, OPEN_REQUESTS, Action, ChangeRequest
from app.releases.change_requests.proposed import DraftChoice, PendingChanges
from app.releases.switching.pages_strategies import back
from app.web.conflicts import Values
from app.web.current import current_actor
from app.web.forms import ReasonForm, flash_errors, submit
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint(
    "proposal_pages",
    __name__,
    url_prefix="/projects/<key:project_id>/features/<key:name>/environments/<key:environment>",
)

ADDED = "Added to your draft. Send it for review when it’s complete."
_place_in_request = re.compile(r"^/\d+/payload")
_is_choice = re.compile(r"0|[1-9]\d{0,8}").fullmatch


def init_app(app: Flask) -> None:
    """Let templates of other areas show the pending changes of features."""
    app.jinja_env.globals["changes_waiting"] = changes_waiting
    app.jinja_env.globals["may_propose"] = partial(projects.may_propose, current_actor)
    app.register_error_handler(ChooseDraft, _ask)


def changes_waiting(features: Iterable[Feature]) -> dict[int, dict[str, list[PendingChanges]]]:
    """Pending changes that the reader can see, by the id of the feature and the environment."""
    return proposed.of_features(current_actor, [feature.id for feature in features])


@bp.post("/propose/on", needs=Access.SIGNED_IN, keeps=(OPEN_REQUESTS,))
def switch_on(project_id: str, name: str, environment: str) -> Response:
    """Propose to switch a feature on."""
    return _switch(project_id, name, environment, on=True)


@bp.post("/propose/off", needs=Access.SIGNED_IN, keeps=(OPEN_REQUESTS,))
def switch_off(project_id: str, name: str, environment: str) -> Response:
    """Propose to switch a feature off."""
    return _switch(project_id, name, environment, on=False)


@bp.post("/propose/parent", needs=Permission.UPDATE_FEATURE_DEPENDENCY)
def choose_parent(project_id: str, name: str, environment: str) -> ResponseReturnValue:
    """Propose another parent, or none, for a feature that is on here."""

    def save(parent: str | None) -> Response:
        return to_draft(propose(project_id, environment, [proposals.parent(name, parent)]))

    return settings_pages.change_parent(project_id, name, save)


class ChooseDraft(Exception):
    """The reader has drafts for the environment, and the form doesn’t say where changes go."""

    def __init__(self, environment: str, headline: str, choices: list[DraftChoice]) -> None:
        super().__init__(environment)
        self.environment, self.headline, self.choices = environment, headline, choices


def _ask(question: ChooseDraft) -> str:
    """The page that asks where changes go. It sends the same form again, with the answer."""
    with unit_of_work(writes=False):
        return render_template(
            "releases/change_requests/choose.html",
            question=question,
            overview=projects.overview(current_actor, (request.view_args or {})["project_id"]),
            carried=[item for item in request.form.items(multi=True) if item[0] != "csrf_token"],
        )


@bp.post("/propose/settings", needs=Permission.UPDATE_FEATURE)
def change_settings(project_id: str, name: str, environment: str) -> ResponseReturnValue:
    """Save the settings of a feature that is on here, and propose what SDKs notice."""

    def save(feature: Feature, values: Values) -> Response:
        reported = values["impression_data"]
        is_bypass = current_actor.is_admin and bool(current_actor.reason)
        if is_bypass or reported is feature.impression_data:
            return settings_pages.save_settings(feature, values)
        rest = {key: value for key, value in values.items() if key != "impression_data"}
        settings_pages.save_settings(feature, rest)
        changes = proposals.impressions(name, reported=reported)
        return to_draft(propose(project_id, environment, changes))

    return settings_pages.change_settings(project_id, name, save)


def propose(project_id: str, environment: str, changes: Sequence[Proposal]) -> ChangeRequest:
    """Add changes to the draft that the reader chooses. Errors have the paths of the form’s fields.

    Raises:
        ChooseDraft: when they have drafts and haven’t chosen yet.

    """
    into = request.form.get(f"into-{environment}", "")
    choices = [] if _is_choice(into) else _drafts(project_id, environment, changes)
    if not _is_choice(into):
        into = str(choices[0].id if choices and choices[0].is_about else NEW_DRAFT)
    try:
        draft = editing.propose(current_actor, project_id, environment, changes, into=int(into))
    except Invalid as error:
        raise Invalid.because(
            [
                {**detail, "path": _place_in_request.sub("", detail["path"])}
                for detail in error.details or []
            ]
        ) from None
    if choices:  # only now, so that what can’t be proposed is refused without a question
        raise ChooseDraft(environment, words.title(presenter.proposed(changes)), choices)
    return draft


def _drafts(project_id: str, environment: str, changes: Sequence[Proposal]) -> list[DraftChoice]:
    """The reader’s drafts to which the changes can be added."""
    if any(change.action.is_on_project for change in changes):
        return []
    names = {change.feature for change in changes if change.feature}
    return proposed.drafts(current_actor, project_id, environment, names)


def to_draft(draft: ChangeRequest) -> Response:
    """Redirect to the draft that something was added to."""
    flash(ADDED, "ok")
    return redirect_to("change_request_pages.show", project_id=draft.project_id, id=draft.id)


def one(name: str, action: Action, payload: Any) -> list[Proposal]:
    return [Proposal(name, action, payload)]


def _switch(project_id: str, name: str, environment: str, *, on: bool) -> Response:
    projects.require_proposer(current_actor, Permission.UPDATE_FEATURE_ENVIRONMENT, project_id)
    form, switch = ReasonForm(), proposals.switching([name], on=on)
    draft = submit(form, lambda: propose(project_id, environment, switch))
    if draft is None:
        return flash_errors(form, back(project_id, name, environment))
    return to_draft(draft)
