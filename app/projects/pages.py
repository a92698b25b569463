from collections.abc import Iterator
from functools import partial
from typing import Any

from flask import flash, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.accounts import service as accounts
from app.core import exports, plans
from app.core.actor import current_actor
from app.core.conflicts import Values, Watch
from app.core.forms import attempt, carry_out, show_form
from app.core.pages import PageBlueprint, read_query, see
from app.core.permissions import PROJECT_ROLES, Access, Permission, Role
from app.core.templating import counted
from app.environments import service as known_environments
from app.projects import schemas, service
from app.projects.forms import MembersForm, NewProjectForm, ProjectForm, settings_of
from app.projects.models import Project, ProjectMode

bp = PageBlueprint("project_pages", __name__)

WORDS = {
    "name": "Name",
    "description": "Description",
    "mode": "Mode",
    "default_stickiness": "Default stickiness",
    "environments": "Environments",
    "approvals": "Approvals",
}


@bp.get("/", needs=Access.SIGNED_IN)
def home() -> Response:
    """Projects are where the work begins."""
    return see(".index")


@bp.get("/projects", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """The projects that one may know of; or all that match as a file."""
    query = read_query(schemas.ProjectQuery)
    if exports.wanted():
        search = partial(service.search, current_actor)
        return exports.table("projects", schemas.ProjectRow(), search, query.values)
    page = service.search(current_actor, **query.values)
    other = not query.values["archived"]
    elsewhere = service.search(current_actor, archived=other, limit=1, offset=0).total
    return render_template(
        "projects/index.html",
        page=page,
        query=query,
        owners=service.owners(page),
        elsewhere=elsewhere,
    )


@bp.route("/projects/new", methods=["GET", "POST"], needs=Permission.CREATE_PROJECT)
def new() -> ResponseReturnValue:
    """Create a project."""
    form = NewProjectForm(known_environments.every())
    if project := attempt(form, lambda: service.create(current_actor, **form.values)):
        words = f"Project {project.name} created; you are its Owner."
        flash(" ".join([words, *form.clamped]), "ok")
        return see("feature_pages.index", project_id=project.id)
    return show_form("projects/new.html", form, **_choices())


@bp.get("/projects/<key:project_id>/settings", needs=Access.SIGNED_IN)
def settings(project_id: str) -> ResponseReturnValue:
    """Everybody who sees the project may look; who may change it gets the form."""
    overview = service.overview(current_actor, project_id)
    if overview.project.archived_at or not current_actor.may(Permission.UPDATE_PROJECT, project_id):
        return render_template("projects/settings.html", overview=overview)
    return _settings_page(ProjectForm(known_environments.every(), overview.project), project_id)


@bp.post("/projects/<key:project_id>/settings", needs=Permission.UPDATE_PROJECT)
def update(project_id: str) -> ResponseReturnValue:
    """Save, after a review where somebody would lose sight or approvals would fall.

    Whoever was overtaken by somebody else chooses part by part, and loses nothing.
    """
    project = service.get_for_change(current_actor, project_id)
    form = ProjectForm(known_environments.every(), project)
    watch, present = _watch(project_id), settings_of(project)
    seen = watch.seen()
    for part in watch.taken_from_them():
        form.take(part, present)
    if "back" in request.form or not form.validate_on_submit():
        return _settings_page(form, project_id, seen)
    if present not in (seen, form.settings):
        return _conflict_page(form, project_id, seen, present)
    if losses := list(_losses(project, form.settings)):
        facts = {"present": present, "wanted": form.settings, "losses": losses}
        plan = request.form.get("plan")
        if plan is None or not plans.still_holds(current_actor, watch.subject, plan, facts):
            known = plans.opened(current_actor, watch.subject, plan)["losses"] if plan else losses
            return render_template(
                "projects/review.html",
                overview=service.overview(current_actor, project_id),
                losses=losses,
                known=known,
                changes=watch.differences(present, form.settings),
                plan=plans.seal(current_actor, watch.subject, facts),
                seen=watch.seal(present),
                carried=form.carried,
            )
    if carry_out(form, lambda: _save(project, form)):
        flash(" ".join([f"Project {form.values['name']} saved.", *form.clamped]), "ok")
        return see(".settings", project_id=project_id)
    return _settings_page(form, project_id, seen)


@bp.post("/projects/<key:project_id>/put-away", needs=Permission.DELETE_PROJECT)
def archive(project_id: str) -> Response:
    """Archive an empty project; it can be revived."""
    service.archive(current_actor, service.get_for_change(current_actor, project_id))
    flash(f"Project {project_id} is archived. Its id stays taken, and you can revive it.", "ok")
    return see(".settings", project_id=project_id)


@bp.post("/projects/<key:project_id>/bring-back", needs=Permission.DELETE_PROJECT)
def revive(project_id: str) -> Response:
    """Revive an archived project."""
    project = service.revive(current_actor, project_id)
    flash(f"Project {project.name} is back.", "ok")
    return see(".settings", project_id=project_id)


@bp.get("/projects/<key:project_id>/members", needs=Access.SIGNED_IN)
def members(project_id: str) -> ResponseReturnValue:
    """Who holds a role in the project."""
    return _members_page(project_id, None)


@bp.post("/projects/<key:project_id>/members", needs=Permission.PROJECT_USER_ACCESS_WRITE)
def set_members(project_id: str) -> ResponseReturnValue:
    """Change roles, remove members and add one, all at once."""
    project = service.get_for_change(current_actor, project_id)
    present = service.roles(current_actor, project_id)
    form = MembersForm(present)
    if name := (form.add.data or "").strip():
        account = accounts.named(name)
        form.added = account.id if account else None
        if account is None:
            form.validate()
            form.show([("add", f"Nobody here is called {name!r}; check the spelling.")])
            return _members_page(project_id, form)
    seen = _members_watch(project_id).overtaken(_facts_of(present))
    if seen is not None:
        return _members_page(project_id, form, seen)
    if carry_out(form, lambda: service.set_members(current_actor, project, form.values["members"])):
        flash("Members saved.", "ok")
        return see(".members", project_id=project_id)
    return _members_page(project_id, form)


def _watch(project_id: str) -> Watch:
    return Watch(f"settings of {project_id}", WORDS)


def _members_watch(project_id: str) -> Watch:
    return Watch(f"members of {project_id}", {})


def _facts_of(members: dict[int, Role]) -> Values:
    return {str(id): role.value for id, role in members.items()}


def _save(project: Project, form: ProjectForm) -> None:
    values = dict(form.values)
    environments = {
        name: values.pop(name) for name in ("environments", "change_request_environments")
    }
    service.update(current_actor, project, **values)
    service.set_environments(current_actor, project, **environments)


def _settings_page(
    form: ProjectForm, project_id: str, seen: Values | None = None
) -> ResponseReturnValue:
    overview = service.overview(current_actor, project_id)
    facts = seen or settings_of(overview.project)
    return show_form(
        "projects/edit.html",
        form,
        overview=overview,
        seen=_watch(project_id).seal(facts),
        **_choices(project_id),
    )


def _conflict_page(
    form: ProjectForm, project_id: str, seen: Values, present: Values
) -> ResponseReturnValue:
    """Original, theirs and mine side by side; where only one side changed it, that is chosen."""
    page = render_template(
        "projects/conflict.html",
        overview=service.overview(current_actor, project_id),
        rows=_watch(project_id).sides(seen, present, form.settings),
        seen=_watch(project_id).seal(present),
        carried=form.carried,
    )
    return page, 409


def _members_page(
    project_id: str, form: MembersForm | None, seen: Values | None = None
) -> ResponseReturnValue:
    """``seen``: the members as they were when a form was opened that came too late."""
    overview = service.overview(current_actor, project_id)
    rows = service.members(current_actor, project_id)
    present = {account.id: member.role for account, member in rows}
    form = form or MembersForm(present)
    may = current_actor.may(Permission.PROJECT_USER_ACCESS_WRITE, project_id)
    page = render_template(
        "projects/members.html",
        form=form,
        overview=overview,
        rows=rows,
        seen=seen,
        roles=PROJECT_ROLES,
        may=may and overview.project.archived_at is None,
        candidates=accounts.candidates(present) if may else [],
        sealed=_members_watch(project_id).seal(_facts_of(present)),
    )
    return page, 409 if seen is not None else 400 if form.problems else 200


def _choices(project_id: str | None = None) -> dict[str, Any]:
    """What the form of a project offers, with its figures of today."""
    return {
        "environments": known_environments.every(),
        "use": known_environments.project_counts(),
        "reaches": service.reaches(current_actor, project_id),
    }


def _losses(project: Project, wanted: Values) -> Iterator[str]:
    """Who would not see the project any more, and where fewer would have to approve."""
    mode = ProjectMode(wanted["mode"])
    if mode is ProjectMode.PRIVATE and project.mode is not ProjectMode.PRIVATE:
        reach = service.reaches(current_actor, project.id)
        lost = reach[project.mode].see - reach[mode].see
        left = reach[mode].see
        yield (
            f"{counted(lost, 'account')} will not see the project any more; {left} will: "
            "its members, and Admins."
        )
    for rule in project.approvals:
        now = wanted["approvals"].get(rule.environment, 0)
        if now < rule.required_approvals:
            need = f"{now} instead of {rule.required_approvals}" if now else "none any more"
            yield f"Approvals that changes in {rule.environment} need: {need}."
