from collections.abc import Callable, Iterable, Iterator, Mapping
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
from app.catalogue.projects.service import ApprovalRule, Overview
from app.core.events import service as events
from app.core.permissions import Access, Permission
from app.core.words import counted
from app.web import exports, signing
from app.web.conflicts import FieldConflict, StaleEdit, Values, flash_saved
from app.web.current import current_actor
from app.web.forms import ReasonForm, flash_errors, show_form, submit
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
    ProjectMode.OPEN: "Everyone sees it, and can propose changes where they need approvals. "
    "Members and Admins make changes.",
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
    other = {**query.values, "archived": not query.values["archived"], "limit": 0, "offset": 0}
    return render_template(
        "catalogue/projects/index.html",
        page=page,
        query=query,
        owners=service.owners(page),
        on=service.numbers_on(page),
        elsewhere=service.search(current_actor, **other).total,
        filters=query.in_use(FILTERS, {"mode": MODES, "membership": MEMBERSHIPS}),
        modes=MODES.items(),
        memberships=MEMBERSHIPS.items(),
        environments=[(name, name) for name in known_environments.all_names()],
    )


@bp.form("/new-project", needs=Permission.CREATE_PROJECT)
def new() -> ResponseReturnValue:
    """Create a project."""
    form = NewProjectForm(known_environments.with_project_counts(current_actor))
    if project := submit(form, lambda: service.create(current_actor, **form.values)):
        words = f"Project {project.name} created. You are its Owner."
        flash(" ".join([words, *form.clamped]), "ok")
        return redirect_to("feature_pages.index", project_id=project.id)
    return show_form("catalogue/projects/new.html", form, **_choices(form))


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
    return _settings_page(
        ProjectForm(known_environments.with_project_counts(current_actor), overview.project),
        overview,
    )


@bp.post("/projects/<key:project_id>/settings", needs=Permission.UPDATE_PROJECT)
def update(project_id: str) -> ResponseReturnValue:
    """Save, after a review if people lose access or other approvals are needed."""
    return change_settings(project_id, lambda project, form: save(project, form, {}))


def change_settings(
    project_id: str, save: Callable[[Project, ProjectForm], Response]
) -> ResponseReturnValue:
    """Handle the form of the settings. ``save`` returns the redirect.

    If someone else changed the settings first, show both versions to choose from.
    """
    project = service.get_for_change(current_actor, project_id)
    form = ProjectForm(known_environments.with_project_counts(current_actor), project)
    stale_edit, current = _stale_settings(project_id), form_data(project)
    seen = stale_edit.seen()
    for part in stale_edit.taken_from_them():
        form.reset(part, current)
    if "back" in request.form or not form.validate_on_submit():
        return _settings_page(form, service.overview(current_actor, project_id), seen)
    if conflicts := stale_edit.field_conflicts(seen, current, form.settings):
        return _conflict_page(form, project_id, current, conflicts)
    losses = list(_losses(project, form.settings))
    if losses and (page := _review(project, form, losses)):
        return page
    done = submit(form, lambda: save(project, form))
    return done or _settings_page(form, service.overview(current_actor, project_id), seen)


@bp.post("/projects/<key:project_id>/settings/archive", needs=Permission.DELETE_PROJECT)
def archive(project_id: str) -> Response:
    """Archive a project without active features."""
    form, page = ReasonForm(), redirect_to(".settings", project_id=project_id)
    if not form.validate_on_submit():
        return flash_errors(form, page)
    service.archive(current_actor, service.get_for_change(current_actor, project_id))
    flash(f"Project {project_id} archived. Its id stays taken. You can revive it.", "ok")
    return page


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


def save(project: Project, form: ProjectForm, held: Mapping[str, int | None]) -> Response:
    """Save all settings but those ``held``, of ``service.lowered``. Return the redirect."""
    fields = {name: value for name, value in form.values.items() if "environments" not in name}
    settings = _without(held, form_data(project), form.settings)
    rules = [
        ApprovalRule(name=name, required_approvals=number)
        for name, number in settings["approvals"].items()
    ]
    actor, had = current_actor.for_act(events.new_batch()), set(project.environments)
    changed = service.update(actor, project, **fields)
    changed |= service.set_environments(
        actor,
        project,
        environments=settings["environments"],
        change_request_environments=rules,
    )
    if changed or not held:
        done = " ".join([f"Project {form.values['name']} saved.", *form.clamped])
        # Features were switched off in environments that are gone, which can't be undone.
        batch = actor.batch_id if had <= set(project.environments) else None
        flash_saved(done, changed=changed, batch=batch)
    return redirect_to("project_pages.settings", project_id=project.id)


def _without(held: Iterable[str], current: Values, wanted: Values) -> Values:
    """The settings as wanted, with the environments that are held as they are."""
    environments = {*wanted["environments"], *(set(held) & set(current["environments"]))}
    approvals = wanted["approvals"] | {name: current["approvals"][name] for name in held}
    return wanted | {"environments": sorted(environments), "approvals": approvals}


def lowered(project: Project, form: ProjectForm) -> dict[str, int | None]:
    """What the valid form asks for that needs approvals: see ``service.lowered``.

    Without environments that the project doesn’t use: what is about them can’t be proposed.
    """
    used = {*project.environments, *form.settings["environments"]}
    found = service.lowered(form_data(project), form.settings)
    return {name: number for name, number in found.items() if name in used}


def _review(project: Project, form: ProjectForm, losses: list[str]) -> str | None:
    """Page that reviews what people lose; None if the form confirms exactly this review."""
    stale_edit, current = _stale_settings(project.id), form_data(project)
    facts = {"present": current, "wanted": form.settings, "losses": losses}
    is_bypass = current_actor.is_admin and bool(form.reason.data)
    held = {} if is_bypass else lowered(project, form)
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
        held=held,
        saves_more=_without(held, current, form.settings) != current,
        approvals=current["approvals"],
        form=form,
        changes=stale_edit.differences(current, form.settings),
        plan=signing.sign("review", stale_edit.subject, facts),
        seen=stale_edit.sign(current),
        carried=form.carried,
    )


def _settings_page(
    form: ProjectForm, overview: Overview, seen: Values | None = None
) -> ResponseReturnValue:
    project = overview.project
    return show_form(
        "catalogue/projects/edit.html",
        form,
        overview=overview,
        approvers=service.approvers(project),
        seen=_stale_settings(project.id).sign(seen or form_data(project)),
        **_choices(form, project.id),
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


def _choices(form: NewProjectForm | ProjectForm, project_id: str | None = None) -> dict[str, Any]:
    """Template values for the form: environments, and how many accounts each mode would reach."""
    return {
        "environments": list(form.known),
        "use": {environment.name: number for environment, number in form.known.items()},
        "reach": service.reach_by_mode(current_actor, project_id),
        "mode_words": MODE_WORDS,
    }


def _losses(project: Project, wanted: Values) -> Iterator[str]:
    """Sentences on accounts that lose sight of the project, and on other approvals."""
    mode = ProjectMode(wanted["mode"])
    if mode is ProjectMode.PRIVATE and project.mode is not ProjectMode.PRIVATE:
        reach = service.reach_by_mode(current_actor, project.id)[mode]
        yield (
            f"{counted(reach.cannot_see, 'account')} will no longer see the project. "
            f"{reach.see} will: its members and all Admins."
        )
    current = form_data(project)
    needed = current["approvals"]
    for name, now in service.lowered(current, wanted).items():
        if now is None:
            yield f"The project will no longer use {name}: applications get “off” there."
        elif now == 0:
            yield f"Changes in {name} will no longer need approval."
        else:
            need = f"{counted(now, 'approval')} instead of {needed[name]}"
            yield f"Changes in {name} will need {need}."
    raised = {name: n for name, n in wanted["approvals"].items() if n > needed.get(name, 0)}
    people = service.approvers(project).number if raised else 0
    for name, number in raised.items():
        if number >= people:
            yield (
                f"Changes in {name} will need {counted(number, 'approval')}, and "
                f"{counted(people, 'person', 'people')} can approve. No one approves their own, so "
                "only an Admin will be able to change anything there, or to lower this again."
            )
