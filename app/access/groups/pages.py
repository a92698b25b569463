from functools import partial

from flask import flash, render_template
from flask.typing import ResponseReturnValue

from app.access.groups import schemas, service
from app.access.groups.forms import (
    ROLE,
    ROLE_CHOICES,
    GroupForm,
    NewGroupForm,
    display_values,
    form_data,
    gives_admin,
)
from app.access.groups.models import Group
from app.catalogue.projects import service as projects
from app.core.permissions import Permission
from app.web import exports
from app.web.browsers import require_password
from app.web.conflicts import StaleEdit, Values
from app.web.current import current_actor, current_settings
from app.web.forms import ReasonForm, show_form, submit, submitted
from app.web.listing import MAX_LIMIT, read_query
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("group_pages", __name__)

LABELS = {"name": "Name", "root_role": "Role everywhere", "projects": "Roles in projects"}
MEMBERS_SHOWN = 100


@bp.get("/groups", needs=Permission.ADMIN)
def index() -> ResponseReturnValue:
    """List the groups and what they give, or export those that match."""
    query = read_query(schemas.GroupQuery)
    if exports.wanted():
        return exports.table("groups", schemas.ListedGroup(), service.search, query.values)
    return render_template(
        "access/groups/index.html",
        page=service.search(**query.values),
        query=query,
        filters=query.in_use({"text": "Text"}),
        settings=current_settings(),
    )


@bp.form("/new-group", needs=Permission.ADMIN)
def new() -> ResponseReturnValue:
    """Create a group."""
    form = NewGroupForm()
    if gives_admin(form, None):
        require_password(f"make Admins of those in {form.name.data}")
    if group := submit(form, partial(_create, form)):
        flash(f"Group {group.name} created.", "ok")
        return redirect_to(".index")
    return show_form("access/groups/new.html", form, projects=_projects())


@bp.get("/groups/<id:group_id>", needs=Permission.ADMIN)
def show(group_id: int) -> ResponseReturnValue:
    """A group: what it gives, and who is in it."""
    group = service.get(group_id)
    return _page(group, GroupForm(form_data(group)))


@bp.post("/groups/<id:group_id>", needs=Permission.ADMIN)
def update(group_id: int) -> ResponseReturnValue:
    """Save, unless someone else changed the group first: then show what they changed."""
    group = service.get_for_change(group_id)
    present = form_data(group)
    form = GroupForm(present)
    if gives_admin(form, group):
        require_password(f"make Admins of those in {group.name}")
    if stale := _stale_edit(group_id).stale(present):
        return _page(group, form, stale)
    changed = submit(form, lambda: service.update(current_actor, group, **form.values))
    if changed is None:
        return _page(service.get(group_id), form)
    flash(f"Group {group.name} saved." if changed else "Nothing changed.", "ok")
    return redirect_to(".show", group_id=group_id)


@bp.form("/groups/<id:group_id>/delete", needs=Permission.ADMIN)
def remove(group_id: int) -> ResponseReturnValue:
    """Delete a group, after a page that says who loses what."""
    group, form = service.get_for_change(group_id), ReasonForm()
    if submitted(form, lambda: service.remove(current_actor, group)):
        flash(f"Group {group.name} deleted.", "ok")
        return redirect_to(".index")
    members = service.members(group, limit=MEMBERS_SHOWN, offset=0)
    return show_form("access/groups/delete.html", form, group=group, members=members)


def _create(form: NewGroupForm) -> Group:
    return service.create(current_actor, **form.values)


def _stale_edit(group_id: int) -> StaleEdit:
    return StaleEdit(f"group {group_id}", LABELS, display_values)


def _page(group: Group, form: GroupForm, stale: Values | None = None) -> ResponseReturnValue:
    return _stale_edit(group.id).show(
        "access/groups/show.html",
        form,
        form_data(group),
        stale,
        group=group,
        members=service.members(group, limit=MEMBERS_SHOWN, offset=0),
        role_choices=ROLE_CHOICES,
        prefix=ROLE,
        projects=_projects(),
    )


def _projects() -> list[tuple[str, str]]:
    return projects.names(current_actor, MAX_LIMIT)
