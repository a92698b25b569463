from functools import partial
from typing import Any

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
from app.web.conflicts import EditPage
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
    form = NewGroupForm(_projects())
    if gives_admin(form, None):
        require_password(f"make Admins of those in {form.name.data}")
    if group := submit(form, partial(_create, form)):
        flash(f"Group {group.name} created.", "ok")
        return redirect_to(".index")
    return show_form("access/groups/new.html", form)


@bp.get("/groups/<id:group_id>", needs=Permission.ADMIN)
def show(group_id: int) -> ResponseReturnValue:
    """A group: what it gives, and who is in it."""
    return _edit(service.get(group_id)).show()


@bp.post("/groups/<id:group_id>", needs=Permission.ADMIN)
def update(group_id: int) -> ResponseReturnValue:
    """Save, unless someone else changed the group first: then show what they changed."""
    group = service.get_for_change(group_id)
    edit = _edit(group)
    if gives_admin(edit.form, group):
        require_password(f"make Admins of those in {group.name}")
    return edit.save(
        lambda: service.update(current_actor, group, **edit.form.values),
        lambda: f"Group {group.name} saved.",
        redirect_to(".show", group_id=group_id),
    )


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


def _edit(group: Group) -> EditPage[GroupForm]:
    id, data = group.id, form_data(group)

    def context() -> dict[str, Any]:
        return {
            "group": group,
            "members": service.members(group, limit=MEMBERS_SHOWN, offset=0),
            "role_choices": ROLE_CHOICES,
            "prefix": ROLE,
        }

    return EditPage(
        f"group {id}",
        "access/groups/show.html",
        GroupForm(_projects(), data),
        data,
        context,
        LABELS,
        display_values,
    )


def _projects() -> list[tuple[str, str]]:
    return projects.names(current_actor, MAX_LIMIT)
