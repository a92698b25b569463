from difflib import get_close_matches
from typing import Any

from flask import flash, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.archive import service
from app.archive.drawing import draw
from app.archive.service import Plan
from app.core import plans
from app.core.actor import current_actor
from app.core.forms import ReasonForm, attempt
from app.core.pages import PageBlueprint, see
from app.core.permissions import Permission
from app.core.templating import counted
from app.features import selections
from app.features import service as features
from app.features.pages import filters_of_list
from app.features.selections import Chosen
from app.projects import service as projects

bp = PageBlueprint("archive_pages", __name__, url_prefix="/projects/<key:project_id>")

SHOWN = 500
GUESSED = 10
GUESSED_AMONG = 2_000


@bp.get("/archive", needs=Permission.DELETE_FEATURE)
def preview(project_id: str) -> ResponseReturnValue:
    """What archiving a selection would do; the address is the plan, and can be shared."""
    return _preview_page(project_id, ReasonForm())


@bp.post("/archive", needs=Permission.DELETE_FEATURE)
def archive(project_id: str) -> ResponseReturnValue:
    """Archive, if the plan is still what was shown."""
    chosen, form = _chosen(project_id), ReasonForm()
    shown = plans.opened(current_actor, _subject(project_id), request.form.get("plan", ""))
    names = [name for name in chosen.names if not chosen.found[name].is_archived]
    batch_id = attempt(form, lambda: service.archive(current_actor, project_id, names, shown=shown))
    if batch_id is None:
        return _preview_page(project_id, form, shown)
    return see(".archived", project_id=project_id, batch=batch_id)


@bp.get("/archived", needs=Permission.DELETE_FEATURE)
def archived(project_id: str) -> str:
    """What was archived, and the way back."""
    batch_id = request.args.get("batch", "")
    return render_template(
        "archive/done.html",
        overview=projects.overview(current_actor, project_id),
        batch=batch_id,
        names=service.archived_in(current_actor, project_id, batch_id),
    )


@bp.post("/untie", needs=Permission.UPDATE_FEATURE_DEPENDENCY)
def untie(project_id: str) -> Response:
    """Remove the dependencies that stand in the way of a plan, and show the plan anew."""
    children = request.form.getlist("child")
    for child in children:
        features.remove_dependencies(current_actor, project_id, child)
    flash(f"{counted(len(children), 'dependency', 'dependencies')} removed.", "ok")
    return see(".preview", project_id=project_id, selection=request.form["selection"])


@bp.post("/revive", needs=Permission.DELETE_FEATURE)
def revive(project_id: str) -> Response:
    """Bring back chosen rows of the list of archived features, or all that one act archived."""
    if batch_id := request.form.get("batch"):
        names = service.archived_in(current_actor, project_id, batch_id)
    else:
        names = request.form.getlist("feature")
        if "all" in request.form:
            names += features.names(current_actor, project_id, **filters_of_list())
    revived = service.revive(current_actor, project_id, names)
    if not revived.names:
        flash("Choose at least one archived feature first; nothing was changed.", "warn")
        return see("feature_pages.index", project_id=project_id, archived="true")
    words = f"{counted(len(revived.names), 'feature')} revived."
    if revived.parents:
        again = counted(len(revived.parents), "depends", "depend")
        words += f" {again} on the same parent again."
    flash(words, "ok")
    return see("feature_pages.index", project_id=project_id)


def _preview_page(
    project_id: str, form: ReasonForm, known: dict[str, Any] | None = None
) -> ResponseReturnValue:
    """``known``: the plan as it was shown before, when it does not hold any more."""
    chosen = _chosen(project_id)
    plan = service.plan(current_actor, project_id, chosen.names)
    page = render_template(
        "archive/preview.html",
        form=form,
        overview=projects.overview(current_actor, project_id),
        chosen=chosen,
        plan=plan,
        total=len(chosen.found) + len(chosen.unknown) + len(chosen.elsewhere),
        drawing=draw(plan),
        meant=_meant(project_id, chosen),
        changed_since=_changed_since(known, plan),
        sealed=plans.seal(current_actor, _subject(project_id), plan.facts),
        most=SHOWN,
    )
    outdated = known is not None and known != plan.facts
    return page, 409 if outdated else 400 if form.problems else 200


def _chosen(project_id: str) -> Chosen:
    return selections.get(current_actor, project_id, request.args.get("selection", ""))


def _meant(project_id: str, chosen: Chosen) -> dict[str, str]:
    """For unknown names that are almost one of the project's: that one."""
    if not chosen.unknown:
        return {}
    known = features.names(current_actor, project_id)[:GUESSED_AMONG]
    close = {name: get_close_matches(name, known, n=1) for name in chosen.unknown[:GUESSED]}
    return {name: found[0] for name, found in close.items() if found}


def _changed_since(known: dict[str, Any] | None, plan: Plan) -> set[str]:
    """The features for which something else was shown before."""
    if known is None:
        return set()
    before, now = _fates(known), _fates(plan.facts)
    return {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}


def _fates(facts: dict[str, Any]) -> dict[str, str]:
    """Feature by feature, what the facts of a plan say of it."""
    fates = dict.fromkeys(facts["archive"], "archive")
    fates |= {name: f"blocked by {children}" for name, children in facts["blocked"].items()}
    for child, parent in facts["loosened"]:
        fates[child] = f"{fates.get(child)}, loses {parent}"
    return fates


def _subject(project_id: str) -> str:
    return f"archive in {project_id}"
