from flask import flash, render_template
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.core import exports
from app.core.actor import current_actor
from app.core.conflicts import Values, Watch
from app.core.forms import attempt, carry_out, show_form
from app.core.pages import PageBlueprint, read_query, see
from app.core.permissions import Access, Permission
from app.tags import schemas, service
from app.tags.forms import NewTagTypeForm, TagTypeForm, in_words, settings_of
from app.tags.models import SIMPLE

bp = PageBlueprint("tag_pages", __name__, url_prefix="/tags")

WORDS = {"description": "Description", "hue": "Colour"}


@bp.get("", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """All tags by type, with their use; or all that match as a file."""
    query = read_query(schemas.TagQuery)
    if exports.wanted():
        return exports.table("tags", schemas.TagRow(), service.search, query.values)
    return render_template(
        "tags/index.html",
        query=query,
        page=service.search(**query.values),
        types={type.name: type for type in service.types()},
        counts=service.type_uses(),
    )


@bp.route("/types/new", methods=["GET", "POST"], needs=Permission.CREATE_TAG_TYPE)
def new_type() -> ResponseReturnValue:
    """Create a tag type."""
    form = NewTagTypeForm(data={"hue": "1"})
    if made := attempt(form, lambda: service.create_type(current_actor, **form.values)):
        flash(f"Tag type {made.name} created.", "ok")
        return see(".index")
    return show_form("tags/new_type.html", form)


@bp.get("/types/<key:name>", needs=Access.SIGNED_IN)
def show_type(name: str) -> ResponseReturnValue:
    """A tag type, with a form for those who may change it."""
    data = settings_of(service.get_type(name, for_change=False))
    return _type_page(name, TagTypeForm(data=data), data)


@bp.post("/types/<key:name>", needs=Permission.UPDATE_TAG_TYPE)
def update_type(name: str) -> ResponseReturnValue:
    """Save, unless somebody else was quicker: then say what he changed."""
    tag_type = service.get_type(name)
    present = settings_of(tag_type)
    form = TagTypeForm(data=present)
    if overtaken := _watch(name).overtaken(present):
        return _type_page(name, form, present, overtaken)
    if carry_out(form, lambda: service.update_type(current_actor, tag_type, **form.values)):
        flash(f"Tag type {name} saved.", "ok")
        return see(".index")
    return _type_page(name, form, present)


@bp.get("/types/<key:name>/delete", needs=Permission.DELETE_TAG_TYPE)
def review_removal(name: str) -> str:
    """What deleting a tag type would do, or why it can't be done."""
    return render_template(
        "tags/delete_type.html",
        type=service.get_type(name, for_change=False),
        remains=service.remains(name),
        is_simple=name == SIMPLE,
    )


@bp.post("/types/<key:name>/delete", needs=Permission.DELETE_TAG_TYPE)
def remove_type(name: str) -> Response:
    """Delete a tag type that no feature carries a tag of."""
    service.remove_type(current_actor, service.get_type(name))
    flash(f"Tag type {name} deleted.", "ok")
    return see(".index")


def _watch(name: str) -> Watch:
    return Watch(f"tag type {name}", WORDS, in_words)


def _type_page(
    name: str, form: TagTypeForm, present: Values, overtaken: Values | None = None
) -> ResponseReturnValue:
    return _watch(name).show(
        "tags/edit_type.html",
        form,
        present,
        overtaken,
        type=service.get_type(name, for_change=False),
        remains=service.remains(name),
    )
