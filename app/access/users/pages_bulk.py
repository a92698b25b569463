"""Pages that change several users at once: choose, review, done. The ids are in the address."""

from typing import Any

from flask import flash, request
from flask.typing import ResponseReturnValue

from app.access.users import bulk
from app.access.users.bulk import Effect
from app.access.users.forms import BulkForm
from app.catalogue.projects import service as projects
from app.core.permissions import Permission, Role
from app.core.words import counted
from app.web import signing
from app.web.browsers import require_password
from app.web.current import current_actor
from app.web.forms import show_form, show_review, submit
from app.web.listing import ids_in
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("user_bulk_pages", __name__, url_prefix="/users/bulk")

SUBJECT = "users"
SUGGESTED = 500


@bp.get("", needs=Permission.ADMIN)
def choose() -> ResponseReturnValue:
    """Choose what to change for the selected users."""
    return _choose_page(BulkForm(data={"project_role": str(Role.MEMBER.value)}))


@bp.route("", needs=Permission.ADMIN, writes=False, methods=["POST"])
def review() -> ResponseReturnValue:
    """What would change for each person."""
    form = BulkForm()
    effects = submit(form, lambda: bulk.preview(current_actor, _ids(), form.changes))
    return _review_page(form, effects) if effects else _choose_page(form)


@bp.post("/apply", needs=Permission.ADMIN)
def apply() -> ResponseReturnValue:
    """Make the changes, if they are still what was shown."""
    form, shown = BulkForm(), signing.read("review", SUBJECT, request.form.get("plan", ""))
    if form.makes_admins:
        require_password(f"make {counted(len(_ids()), 'user')} Admins")
    effects = submit(form, lambda: bulk.apply(current_actor, _ids(), form.changes, shown=shown))
    if effects is not None:
        changed = f"{counted(len(effects), 'user')} changed."
        flash(changed if effects else "Nothing changed.", "ok")
        return redirect_to("user_pages.index")
    if not form.values:
        return _choose_page(form)
    return _review_page(form, bulk.preview(current_actor, _ids(), form.changes), shown)


def _choose_page(form: BulkForm) -> ResponseReturnValue:
    selected = bulk.for_ids(_ids())
    if not selected:
        flash("Select at least one person. Nothing has changed.", "warn")
        return redirect_to("user_pages.index")
    return show_form(
        "access/users/bulk_choose.html",
        form,
        selected=selected,
        projects=projects.search(current_actor, archived=False, limit=SUGGESTED, offset=0).items,
    )


def _review_page(
    form: BulkForm, effects: list[Effect], shown: list[Any] | None = None
) -> ResponseReturnValue:
    """``shown``: what the page showed before, if that changed and was refused."""
    facts = [effect.facts for effect in effects]
    return show_review(
        "access/users/bulk_review.html",
        form,
        facts,
        shown,
        effects=effects,
        changes=form.changes,
        ids=_ids(),
        plan=signing.sign("review", SUBJECT, facts),
    )


def _ids() -> list[int]:
    return ids_in(request.args)
