from http import HTTPStatus

from flask import render_template, request
from flask.typing import ResponseReturnValue

from app.accounts import service as accounts
from app.catalogue.projects import members, service
from app.catalogue.projects.forms import REMOVE, ROLES, MembersForm, NewMemberForm
from app.core.events import service as events
from app.core.permissions import Access, Permission, Role
from app.web.conflicts import StaleEdit, flash_saved
from app.web.current import current_actor
from app.web.forms import submit
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("member_pages", __name__)


@bp.get("/projects/<key:project_id>/members", needs=Access.SIGNED_IN)
def index(project_id: str) -> ResponseReturnValue:
    """List the members of a project, with forms for those who can change them."""
    return _page(project_id)


@bp.post("/projects/<key:project_id>/members", needs=Permission.PROJECT_USER_ACCESS_WRITE)
def change(project_id: str) -> ResponseReturnValue:
    """Change the roles that were edited, and leave all others as they are now.

    If someone else changed one of the same roles first, show what they changed.
    """
    project = service.get_for_change(current_actor, project_id)
    current = members.roles(current_actor, project_id)
    seen = {int(id): Role(role) for id, role in _stale(project_id).seen().items()}
    form = MembersForm(current, seen)
    if not form.validate_on_submit():
        return _page(project_id, form)
    if any(current.get(id) != seen[id] for id in form.changes):
        return _page(project_id, form, seen=seen)
    batch = events.new_batch()
    changed = submit(
        form, lambda: members.change(current_actor.for_act(batch), project, form.changes)
    )
    if changed is None:
        return _page(project_id, form)
    flash_saved("Members saved.", changed=changed, batch=batch)
    return redirect_to(".index", project_id=project_id)


@bp.post("/projects/<key:project_id>/members/add", needs=Permission.PROJECT_USER_ACCESS_WRITE)
def add(project_id: str) -> ResponseReturnValue:
    """Add one member. If they are a member already, ask before their role changes."""
    project = service.get_for_change(current_actor, project_id)
    form = NewMemberForm()
    if not form.validate_on_submit():
        return _page(project_id, adding=form)
    account, role = form.member, form.values["role_id"]
    held = members.roles(current_actor, project_id).get(account.id)
    if held == role:
        form.show(
            [("account", f"{account.called} is already {role.with_article} of this project.")]
        )
        return _page(project_id, adding=form)
    if held is not None and "change_role" not in request.form:
        return _page(project_id, adding=form, held=held)
    batch = events.new_batch()
    added = submit(
        form, lambda: members.set_role(current_actor.for_act(batch), project, account.id, role)
    )
    if added is None:
        return _page(project_id, adding=form)
    done = f"{account.called} is now {role.with_article} of {project.name}."
    flash_saved(done, changed=added, batch=batch)
    return redirect_to(".index", project_id=project_id)


def _stale(project_id: str) -> StaleEdit:
    return StaleEdit(f"members of {project_id}", {})


def _page(
    project_id: str,
    form: MembersForm | None = None,
    adding: NewMemberForm | None = None,
    *,
    seen: dict[int, Role] | None = None,
    held: Role | None = None,
) -> ResponseReturnValue:
    """``seen``: the roles that a stale form was opened with.

    ``held``: the role of the account to add, if it is a member already.
    """
    overview = service.overview(current_actor, project_id)
    rows = members.of(current_actor, project_id)
    current = {account.id: member.role for account, member in rows}
    form = form or MembersForm(current, empty=adding is not None)
    adding = adding or NewMemberForm(empty=True)
    may = current_actor.may(Permission.PROJECT_USER_ACCESS_WRITE, project_id)
    page = render_template(
        "catalogue/projects/members.html",
        form=adding if adding.problems else form,
        members=form,
        adding=adding,
        overview=overview,
        rows=rows,
        role_choices=[*ROLES, (REMOVE, "Remove from the project")],
        may=may and overview.project.archived_at is None,
        candidates=accounts.candidates(current) if may else [],
        changed_roles=_changed_roles(current, seen) if seen is not None else {},
        is_stale=seen is not None,
        held=held,
        signed=_stale(project_id).sign({str(id): role for id, role in current.items()}),
    )
    if seen is not None or held is not None:
        return page, HTTPStatus.CONFLICT
    return page, 400 if form.problems or adding.problems else 200


def _changed_roles(current: dict[int, Role], seen: dict[int, Role]) -> dict[int, str]:
    """What someone else changed since the roles were ``seen``, in words, by account."""

    def before(id: int) -> str:
        return seen[id].with_article if id in seen else "not a member"

    return {
        id: f"now {role.with_article}, was {before(id)}"
        for id, role in current.items()
        if seen.get(id) is not role
    }
