from itertools import groupby
from operator import attrgetter

from flask import flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from marshmallow import ValidationError
from werkzeug.wrappers import Response

from app.catalogue.tagging import renaming, renaming_types
from app.catalogue.tagging.forms import NewNameForm, TypeNameForm
from app.catalogue.tagging.renaming import Replacement
from app.catalogue.tags import service as tags
from app.catalogue.tags.models import TagName
from app.catalogue.tags.schemas import TagRef
from app.core.errors import Invalid
from app.core.permissions import Access, Permission
from app.core.words import counted
from app.web import signing
from app.web.current import current_actor
from app.web.forms import ButtonForm, ReasonForm, flash_errors, show_form, submit, submitted
from app.web.redirects import DONE, flash_with_undo, redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("one_tag_pages", __name__, url_prefix="/tags")


@bp.get("/<id:tag_id>", needs=Access.SIGNED_IN)
def show(tag_id: int) -> str:
    """Show a tag, with a form to rename it for those who can."""
    return _page(tag_id)


@bp.post("/<id:tag_id>", needs=Permission.UPDATE_TAG_TYPE)
def choose_name(tag_id: int) -> ResponseReturnValue:
    """Redirect to the review of the new name."""
    form = NewNameForm(renaming.get(tag_id), tags.types())
    if form.validate_on_submit():
        name = {"type": form.values["type"], "value": form.values["value"]}
        return redirect_to(".review", tag_id=tag_id, **name)
    return _page(tag_id, form), 400


@bp.get("/<id:tag_id>/replace", needs=Permission.UPDATE_TAG_TYPE)
def review(tag_id: int) -> str:
    """Show what renaming the tag, or merging it into another, would change."""
    return _review(tag_id, _preview(tag_id))


@bp.post("/<id:tag_id>/replace", needs=Permission.UPDATE_TAG_TYPE)
def replace(tag_id: int) -> ResponseReturnValue:
    """Rename or merge the tag exactly as reviewed; show the review again if it has changed."""
    plan = _preview(tag_id)
    if not signing.matches("review", _subject(tag_id), request.form.get("plan", ""), plan.facts):
        return _review(tag_id, plan, has_changed=True), 409
    form = ReasonForm()
    if not form.validate_on_submit():
        return _review(tag_id, plan, form), 400
    change = renaming.merge if plan.is_merge else renaming.rename
    return redirect_to(".changed", batch=change(current_actor, plan.tag, plan.to).batch)


@bp.get("/changes/<key:batch>", needs=Permission.UPDATE_TAG_TYPE)
def changed(batch: str) -> str:
    """Show what a rename or a merge did, and offer to undo it."""
    return render_template("catalogue/tags/changed.html", done=renaming.done(batch))


@bp.post("/changes/<key:batch>/undo", needs=Permission.UPDATE_TAG_TYPE)
def undo(batch: str) -> Response:
    """Undo a rename or a merge."""
    done = renaming.undo(current_actor, batch)
    flash(f"Undone. {counted(done.features, 'feature')} changed back to {done.to}.", "ok")
    return redirect_to("tag_pages.index")


@bp.post("/<id:tag_id>/delete", needs=Permission.DELETE_TAG_TYPE)
def delete(tag_id: int) -> Response:
    """Delete a tag that no feature has."""
    tag = renaming.get(tag_id)
    renaming.delete(current_actor, tag)
    flash(f"Tag {tag} deleted.", "ok")
    return redirect_to("tag_pages.index")


def _preview(tag_id: int) -> Replacement:
    given = {name: request.args.get(name, "") for name in ("type", "value")}
    try:
        to = TagName(**TagRef().load(given))
    except ValidationError as error:
        raise Invalid("This address does not name a tag. Open the tag and enter a name.") from error
    return renaming.preview(current_actor, renaming.get(tag_id), to)


def _subject(tag_id: int) -> str:
    return f"tag {tag_id}"


@bp.form("/types/<key:name>/rename", needs=Permission.UPDATE_TAG_TYPE)
def rename_type(name: str) -> ResponseReturnValue:
    """Show what renaming a tag type would change, and do it."""
    tags.get_type(name, for_change=False)
    form, impact = TypeNameForm(), renaming_types.impact(current_actor, name)
    if renamed := submit(form, lambda: renaming_types.rename(current_actor, name, **form.values)):
        done = Markup("Tag type {} renamed to {}.").format(name, renamed.name)
        action = url_for(".rename_type_back", name=renamed.name, to=name)
        flash_with_undo(done, action=action, what=f"renaming {name}")
        return redirect_to("tag_pages.show_type", name=renamed.name, _anchor=DONE)
    return show_form("catalogue/tags/rename_type.html", form, name=name, impact=impact)


@bp.post("/types/<key:name>/rename/<key:to>", needs=Permission.UPDATE_TAG_TYPE)
def rename_type_back(name: str, to: str) -> Response:
    """Undo a rename of a tag type."""
    form, back = ButtonForm(), redirect_to("tag_pages.show_type", name=name)
    if not submitted(form, lambda: renaming_types.rename(current_actor, name, to)):
        return flash_errors(form, back)
    flash(f"Tag type {name} is named {to} again.", "ok")
    return redirect_to("tag_pages.show_type", name=to)


def _page(tag_id: int, form: NewNameForm | None = None) -> str:
    tag = renaming.get(tag_id)
    return render_template(
        "catalogue/tags/show.html",
        tag_id=tag_id,
        tag=tag,
        form=form or NewNameForm(tag, tags.types()),
        hues=tags.hues(),
        use=renaming.usage_count(current_actor, tag_id),
    )


def _review(
    tag_id: int, plan: Replacement, form: ReasonForm | None = None, *, has_changed: bool = False
) -> str:
    in_order = sorted(plan.uses, key=attrgetter("project", "feature"))
    return render_template(
        "catalogue/tags/replace.html",
        tag_id=tag_id,
        plan=plan,
        form=form or ReasonForm(empty=True),
        has_changed=has_changed,
        hues=tags.hues(),
        projects={id: list(uses) for id, uses in groupby(in_order, attrgetter("project"))},
        both=sum(use.has_other for use in plan.uses),
        signed=signing.sign("review", _subject(tag_id), plan.facts),
    )
