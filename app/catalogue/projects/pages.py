from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from typing import Any

from flask import flash, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.environments import service as known_environments
from app.catalogue.projects import schemas, service
from app.catalogue.projects.forms import (
    NewProjectForm,
    ProjectForm,
    form_data,
)
from app.catalogue.projects.models import Membership, Project, ProjectMode
from app.core.permissions import Access, Permission
from app.core.words import counted
from app.web import exports, signing
from app.web.conflicts import FieldConflict, StaleEdit, Values
from app.web.current import current_actor
from app.web.forms import show_form, submit
from app.web.listing import read_query
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("project_pages", __name__)

LABELS = {
    "name": "Name",
    "description": "Description",
    "mode": "Mode",
    "default_stickiness": "Default stickiness",
    "environments": "Environments",
    "approvals": "Approvals",
}
FILTERS = {
    "text": "Text",
    "mode": "Mode",
    "membership": "Membership",
    "environment": "Environment",
}
MODES = {mode.value: mode.value.capitalize() for mode in ProjectMode}
MEMBERSHIPS = {
    Membership.MINE.value: "My projects",
    Membership.OWNERLESS.value: "Without an Owner",
}
MODE_WORDS = {
    ProjectMode.OPEN: "Everyone who can sign in sees it. Members change it.",
    ProjectMode.PROTECTED: "Everyone sees it. Only members and Admins can propose or make changes.",
    ProjectMode.PRIVATE: "Only members and Admins know that it exists.",
}


@bp.get("/projects", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """List the projects that the reader can see, or export those that match."""
    query = read_query(schemas.ProjectQuery)
    if exports.wanted():
        search = partial(service.search, current_actor)
        return exports.table("projects", schemas.ProjectRow(), search, query.values)
    page = service.search(current_actor, **query.values)
    other = {**query.values, "archived": not query.values["archived"], "limit": 1, "offset": 0}
    return render_template(
        "catalogue/projects/index.html",
        page=page,
        query=query,
        owners=service.owners(page),
        elsewhere=service.search(current_actor, **other).total,
        filters=query.in_use(FILTERS, {"mode": MODES, "membership": MEMBERSHIPS}),
        modes=MODES.items(),
        memberships=MEMBERSHIPS.items(),
        environments=[(name, name) for name in known_environments.all_names()],
    )


@bp.form("/new-project", needs=Permission.CREATE_PROJECT)
def new() -> ResponseReturnValue:
    """Create a project."""
    form = NewProjectForm(known_environments.list_all())
    if project := submit(form, lambda: service.create(current_actor, **form.values)):
        words = f"Project {project.name} created. You are its Owner."
        flash(" ".join([words, *form.clamped]), "ok")
        return redirect_to("feature_pages.index", project_id=project.id)
    return show_form("catalogue/projects/new.html", form, **_choices())


@bp.get("/projects/<key:project_id>/settings", needs=Access.SIGNED_IN)
def settings(project_id: str) -> ResponseReturnValue:
    """Show the settings, as a form to those who can change them."""
    overview = service.overview(current_actor, project_id)
    if overview.project.archived_at or not current_actor.may(Permission.UPDATE_PROJECT, project_id):
        return render_template(
            "catalogue/projects/settings.html",
            overview=overview,
            approvers=service.approvers(overview.project),
        )
    return _settings_page(ProjectForm(known_environments.list_all(), overview.project), project_id)


@bp.post("/projects/<key:project_id>/settings", needs=Permission.UPDATE_PROJECT)
def update(project_id: str) -> ResponseReturnValue:
    """Save, after a review if people lose access or fewer approvals are needed.

    If someone else changed the settings first, show both versions to choose from.
    """
    project = service.get_for_change(current_actor, project_id)
    form = ProjectForm(known_environments.list_all(), project)
    stale_edit, current = _stale_settings(project_id), form_data(project)
    seen = stale_edit.seen()
    for part in stale_edit.taken_from_them():
        form.reset(part, current)
    if "back" in request.form or not form.validate_on_submit():
        return _settings_page(form, project_id, seen)
    if conflicts := stale_edit.field_conflicts(seen, current, form.settings):
        return _conflict_page(form, project_id, current, conflicts)
    losses = list(_losses(project, form.settings))
    if losses and (page := _review(project, form, losses)):
        return page
    changed = submit(form, lambda: _save(project, form))
    if changed is None:
        return _settings_page(form, project_id, seen)
    words = f"Project {form.values['name']} saved." if changed else "Nothing changed."
    flash(" ".join([words, *form.clamped]), "ok")
    return redirect_to(".settings", project_id=project_id)


@bp.post("/projects/<key:project_id>/settings/archive", needs=Permission.DELETE_PROJECT)
def archive(project_id: str) -> Response:
    """Archive a project without active features."""
    service.archive(current_actor, service.get_for_change(current_actor, project_id))
    flash(f"Project {project_id} archived. Its id stays taken. You can revive it.", "ok")
    return redirect_to(".settings", project_id=project_id)


@bp.post("/projects/<key:project_id>/settings/revive", needs=Permission.DELETE_PROJECT)
def revive(project_id: str) -> Response:
    """Revive an archived project."""
    project = service.revive(current_actor, project_id)
    flash(f"Project {project.name} revived.", "ok")
    return redirect_to(".settings", project_id=project_id)


# Addresses of earlier versions redirect.
for old, endpoint in (("put-away", "archive"), ("bring-back", "revive")):
    bp.add_url_rule(f"/projects/<key:project_id>/{old}", endpoint, methods=["POST"], alias=True)


def _stale_settings(project_id: str) -> StaleEdit:
    return StaleEdit(f"settings of {project_id}", LABELS)


def _save(project: Project, form: ProjectForm) -> bool:
    """Save all settings. Return whether anything changed."""
    values = dict(form.values)
    environments = {
        name: values.pop(name) for name in ("environments", "change_request_environments")
    }
    changed = service.update(current_actor, project, **values)
    return service.set_environments(current_actor, project, **environments) or changed


def _review(project: Project, form: ProjectForm, losses: list[str]) -> str | None:
    """Page that reviews what people lose; None if the form confirms exactly this review."""
    stale_edit, current = _stale_settings(project.id), form_data(project)
    facts = {"present": current, "wanted": form.settings, "losses": losses}
    shown = losses
    if plan := request.form.get("plan"):
        if signing.matches("review", stale_edit.subject, plan, facts):
            return None
        shown = signing.read("review", stale_edit.subject, plan)["losses"]
    return render_template(
        "catalogue/projects/review.html",
        overview=service.overview(current_actor, project.id),
        losses=losses,
        has_changed=losses != shown,
        changes=stale_edit.differences(current, form.settings),
        plan=signing.sign("review", stale_edit.subject, facts),
        seen=stale_edit.sign(current),
        carried=form.carried,
    )


def _settings_page(
    form: ProjectForm, project_id: str, seen: Values | None = None
) -> ResponseReturnValue:
    overview = service.overview(current_actor, project_id)
    return show_form(
        "catalogue/projects/edit.html",
        form,
        overview=overview,
        approvers=service.approvers(overview.project),
        seen=_stale_settings(project_id).sign(seen or form_data(overview.project)),
        **_choices(project_id),
    )


def _conflict_page(
    form: ProjectForm, project_id: str, current: Values, conflicts: list[FieldConflict]
) -> ResponseReturnValue:
    """Show the fields that someone else changed, to choose from."""
    stale_edit = _stale_settings(project_id)
    page = render_template(
        "catalogue/projects/conflict.html",
        overview=service.overview(current_actor, project_id),
        rows=conflicts,
        seen=stale_edit.sign(current),
        carried=form.carried,
    )
    return page, HTTPStatus.CONFLICT


def _choices(project_id: str | None = None) -> dict[str, Any]:
    """Template values for the form: environments, and how many accounts each mode would reach."""
    return {
        "environments": known_environments.list_all(),
        "use": known_environments.project_counts(current_actor),
        "reach": service.reach_by_mode(current_actor, project_id),
        "mode_words": MODE_WORDS,
    }


def _losses(project: Project, wanted: Values) -> Iterator[str]:
    """Sentences on accounts that lose sight of the project, and on fewer approvals."""
    mode = ProjectMode(wanted["mode"])
    if mode is ProjectMode.PRIVATE and project.mode is not ProjectMode.PRIVATE:
        reach = service.reach_by_mode(current_actor, project.id)[mode]
        yield (
            f"{counted(reach.cannot_see, 'account')} will no longer see the project. "
            f"{reach.see} will: its members and all Admins."
        )
    for rule in project.approvals:
        now = wanted["approvals"].get(rule.environment, 0)
        if now == 0:
            yield f"Changes in {rule.environment} will no longer need approval."
        elif now < rule.required_approvals:
            need = f"{counted(now, 'approval')} instead of {rule.required_approvals}"
            yield f"Changes in {rule.environment} will need {need}."
