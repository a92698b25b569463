from functools import partial

from flask import flash, render_template
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.tags import duplicates, schemas, service
from app.catalogue.tags.duplicates import NameDifference
from app.catalogue.tags.forms import NewTagTypeForm, TagTypeForm, display_values
from app.catalogue.tags.models import SIMPLE, TagType
from app.core.permissions import Access, Permission
from app.web import exports
from app.web.conflicts import EditPage
from app.web.current import current_actor
from app.web.forms import show_form, submit
from app.web.listing import read_query
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("tag_pages", __name__, url_prefix="/tags")

FILTERS = {"text": "Value", "type": "Type", "unused": "Use"}
USES = {"false": "Used", "true": "Unused"}
PAIRS_SHOWN = 10
DIFFER = {
    NameDifference.CASE: "Only capitals differ",
    NameDifference.PUNCTUATION: "Only punctuation differs",
    NameDifference.PLURAL: "Singular and plural",
    NameDifference.LETTER: "One letter differs",
}


@bp.get("", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """List all tags by type, or export those that match."""
    query = read_query(schemas.TagQuery)
    search = partial(service.search, current_actor)
    if exports.wanted():
        return exports.table("tags", schemas.TagRow(), search, query.values)
    types = service.types()
    return render_template(
        "catalogue/tags/index.html",
        query=query,
        page=search(**query.values),
        filters=query.in_use(FILTERS, {"unused": USES}),
        uses=USES.items(),
        types={type.name: type for type in types},
        type_choices=[(type.name, type.name) for type in types],
        counts=service.type_uses(),
        pairs=duplicates.pairs(current_actor)
        if current_actor.may(Permission.UPDATE_TAG_TYPE)
        else [],
        differ=DIFFER,
        pairs_shown=PAIRS_SHOWN,
    )


@bp.form("/new-type", needs=Permission.CREATE_TAG_TYPE)
def new_type() -> ResponseReturnValue:
    """Create a tag type."""
    form = NewTagTypeForm(data={"hue": "1"})
    if created := submit(form, lambda: service.create_type(current_actor, **form.values)):
        flash(f"Tag type {created.name} created.", "ok")
        return redirect_to(".index")
    return show_form("catalogue/tags/new_type.html", form)


@bp.get("/types/<key:name>", needs=Access.SIGNED_IN)
def show_type(name: str) -> ResponseReturnValue:
    """Show a tag type, as a form to those who can change it."""
    return _edit(service.get_type(name, for_change=False)).show()


@bp.post("/types/<key:name>", needs=Permission.UPDATE_TAG_TYPE)
def update_type(name: str) -> ResponseReturnValue:
    """Save, unless someone else changed the tag type first: then show what they changed."""
    tag_type = service.get_type(name)
    edit = _edit(tag_type)
    return edit.save(
        lambda: service.update_type(current_actor, tag_type, **edit.form.values),
        lambda: f"Tag type {name} saved.",
        redirect_to(".index"),
    )


@bp.get("/types/<key:name>/delete", needs=Permission.DELETE_TAG_TYPE)
def review_removal(name: str) -> str:
    """Show what deleting a tag type would do, or why it can't be deleted."""
    return render_template(
        "catalogue/tags/delete_type.html",
        type=service.get_type(name, for_change=False),
        impact=service.deletion_impact(current_actor, name),
        is_default=name == SIMPLE,
    )


@bp.post("/types/<key:name>/delete", needs=Permission.DELETE_TAG_TYPE)
def remove_type(name: str) -> Response:
    """Delete a tag type that no feature uses."""
    service.remove_type(current_actor, service.get_type(name))
    flash(f"Tag type {name} deleted.", "ok")
    return redirect_to(".index")


def _edit(tag_type: TagType) -> EditPage[TagTypeForm]:
    name, data = tag_type.name, TagTypeForm.inputs_of(tag_type)
    return EditPage(
        f"tag type {name}",
        "catalogue/tags/edit_type.html",
        TagTypeForm(data=data),
        data,
        lambda: {
            "type": service.get_type(name, for_change=False),
            "impact": service.deletion_impact(current_actor, name),
            "is_default": name == SIMPLE,
        },
        describe=display_values,
    )
