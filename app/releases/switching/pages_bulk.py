"""Pages that switch many features: review, done and undo.

The query string says what to switch: ``to`` (on or off), ``environment`` and ``selection``.
"""

from flask import flash, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.features import changes, selections
from app.catalogue.features.changes import ChangesByFeature
from app.catalogue.features.forms import cut
from app.catalogue.projects import service as projects
from app.catalogue.projects.queries import needing_approval
from app.catalogue.strategies import service as strategies
from app.core.permissions import Permission
from app.core.words import counted
from app.releases.switching import service
from app.web import signing
from app.web.current import current_actor
from app.web.forms import ReasonForm, show_review, submit
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("bulk_switching_pages", __name__, url_prefix="/projects/<key:project_id>/switch")

SWITCH = Permission.UPDATE_FEATURE_ENVIRONMENT
WAYS = {"on": True, "off": False}


@bp.get("", needs=SWITCH)
def review(project_id: str) -> ResponseReturnValue:
    """Show what would be switched. Redirect to proposing where that needs approvals."""
    if needing_approval(project_id, [request.args.get("environment", "")]):
        return _propose_instead(project_id, "to", "environment", "selection")
    return _review_page(project_id, ReasonForm())


@bp.post("", needs=SWITCH)
def apply(project_id: str) -> ResponseReturnValue:
    """Switch the features, if that is still what was shown."""
    form, (environment, names, on) = ReasonForm(), _asked(project_id)
    done = _apply(project_id, form, environment, names, on=on)
    return done or _review_page(project_id, form, _shown(project_id))


@bp.get("/done", needs=SWITCH)
def done(project_id: str) -> str:
    """Show what was switched, with a link to undo it."""
    batch_id = request.args.get("batch", "")
    environment, names, back_on = service.reversal(current_actor, project_id, batch_id)
    sign = f"on in {environment}"
    facts: ChangesByFeature = [
        [name, [], [sign]] if back_on else [name, [sign], []] for name in names
    ]
    return render_template(
        "releases/switching/bulk_done.html",
        overview=projects.overview(current_actor, project_id),
        batch=batch_id,
        title=f"{counted(len(names), 'feature')} switched {_word(on=not back_on)} in {environment}",
        groups=changes.grouped(facts),
    )


@bp.get("/undo", needs=SWITCH)
def review_undo(project_id: str) -> ResponseReturnValue:
    """Show what undoing would switch."""
    environment, _, _ = service.reversal(current_actor, project_id, request.args.get("batch", ""))
    if needing_approval(project_id, [environment]):
        return _propose_instead(project_id, "batch")
    return _undo_page(project_id, ReasonForm())


@bp.post("/undo", needs=SWITCH)
def undo(project_id: str) -> ResponseReturnValue:
    """Switch back what a batch switched."""
    form, batch_id = ReasonForm(), request.args.get("batch", "")
    environment, names, on = service.reversal(current_actor, project_id, batch_id)
    done = _apply(project_id, form, environment, names, on=on)
    return done or _undo_page(project_id, form, _shown(project_id))


def _propose_instead(project_id: str, *names: str) -> Response:
    asked = {name: request.args.get(name) for name in names}
    return redirect_to("proposal_bulk_pages.review", project_id=project_id, **asked)


def _apply(
    project_id: str, form: ReasonForm, environment: str, names: list[str], *, on: bool
) -> Response | None:
    """Switch the features, and return the redirect; None if that was refused."""
    shown = _shown(project_id)
    applied = submit(
        form,
        lambda: service.switch(current_actor, project_id, environment, names, on=on, shown=shown),
    )
    if applied is None:
        return None
    batch_id, changed = applied
    if not changed:
        flash(f"Nothing to change. All features were already {_word(on=on)} there.", "ok")
        return redirect_to("feature_pages.index", project_id=project_id)
    return redirect_to(".done", project_id=project_id, batch=batch_id)


def _review_page(
    project_id: str, form: ReasonForm, shown: ChangesByFeature | None = None
) -> ResponseReturnValue:
    if request.args.get("to") not in WAYS or not request.args.get("environment"):
        flash("Choose an environment first.", "warn")
        return redirect_to("feature_pages.index", project_id=project_id)
    environment, names, on = _asked(project_id)
    title = f"Switch {counted(len(names), 'feature')} {_word(on=on)} in {environment}"
    return _preview_page(project_id, form, (environment, names, on), title, shown)


def _undo_page(
    project_id: str, form: ReasonForm, shown: ChangesByFeature | None = None
) -> ResponseReturnValue:
    batch_id = request.args.get("batch", "")
    environment, names, on = service.reversal(current_actor, project_id, batch_id)
    title = f"Undo: switch {counted(len(names), 'feature')} {_word(on=on)} in {environment}"
    return _preview_page(project_id, form, (environment, names, on), title, shown)


def _preview_page(
    project_id: str,
    form: ReasonForm,
    asked: tuple[str, list[str], bool],
    title: str,
    shown: ChangesByFeature | None,
) -> ResponseReturnValue:
    """``shown``: the plan shown before, if it has changed and submitting it was refused."""
    environment, names, on = asked
    preview = service.preview(current_actor, project_id, environment, names, on=on)
    facts, unchanged = preview.facts, preview.unchanged
    marked = changes.differing(shown, facts) if shown is not None else set()
    return show_review(
        "releases/switching/bulk_review.html",
        form,
        facts,
        shown,
        overview=projects.overview(current_actor, project_id),
        title=title,
        act=f"Switch {_word(on=on)} " + counted(len(facts), "feature") if facts else None,
        verdict=changes.verdict(len(facts), len(facts) + len(unchanged)),
        groups=changes.grouped(facts, unchanged, marked),
        archived=preview.archived,
        approvals=strategies.project_environment(project_id, environment).required_approvals,
        environment=environment,
        shown_names=cut(names),
        way=_word(on=on),
        plan=sign(project_id, facts),
    )


def sign(project_id: str, facts: ChangesByFeature) -> str:
    """The signed plan of a review, for the field ``plan`` of the form that confirms it."""
    return signing.sign("review", _subject(project_id), facts)


def _asked(project_id: str) -> tuple[str, list[str], bool]:
    """The environment, the selected features, and whether to switch them on."""
    id = request.args.get("selection", "")
    selection = selections.get(current_actor, project_id, id)
    environment = request.args.get("environment", "")
    return environment, selection.active, WAYS.get(request.args.get("to", ""), False)


def _shown(project_id: str) -> ChangesByFeature:
    shown: ChangesByFeature = signing.read(
        "review", _subject(project_id), request.form.get("plan", "")
    )
    return shown


def _subject(project_id: str) -> str:
    return f"switching in {project_id}"


def _word(*, on: bool) -> str:
    return "on" if on else "off"
