from collections.abc import Callable
from typing import Any

from flask import flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.archive import deletion, service, words
from app.catalogue.archive.drawing import draw
from app.catalogue.archive.service import ArchivePlan
from app.catalogue.features import selections
from app.catalogue.features import service as features
from app.catalogue.features.forms import archive_body
from app.catalogue.features.requests import are_too_many, list_filters
from app.catalogue.features.selections import ResolvedSelection
from app.catalogue.projects import service as projects
from app.catalogue.strategies import queries as strategies
from app.core.permissions import Permission
from app.core.words import counted
from app.web import signing
from app.web.current import current_actor, current_settings
from app.web.forms import ReasonForm, show_review, submit, submitted
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("archive_pages", __name__, url_prefix="/projects/<key:project_id>")

DISPLAY_LIMIT = 500
"""Rows of a group that a page shows."""


@bp.get("/archive", needs=Permission.DELETE_FEATURE)
def preview(project_id: str) -> ResponseReturnValue:
    """Show what archiving would do. The address holds the selection, so it can be shared."""
    return _preview_page(project_id, ReasonForm())


@bp.post("/archive", needs=Permission.DELETE_FEATURE)
def archive(project_id: str) -> ResponseReturnValue:
    """Archive, unless the plan has changed since the page showed it."""

    def save(names: list[str], detach: list[str], shown: dict[str, Any]) -> Response:
        batch_id = service.archive(current_actor, project_id, names, detach=detach, shown=shown)
        return redirect_to(".archived", project_id=project_id, batch=batch_id)

    return confirm(project_id, save)


def confirm(
    project_id: str, save: Callable[[list[str], list[str], dict[str, Any]], Response]
) -> ResponseReturnValue:
    """Handle the form that confirms a plan.

    ``save`` gets the names, the parents that other features stop depending on, and the facts that
    the page showed. It returns the redirect.
    """
    selection, form = _selection(project_id), ReasonForm()
    detach = request.args.getlist("detach")
    if detach:
        current_actor.require(Permission.UPDATE_FEATURE_DEPENDENCY, project_id)
    shown = signing.read("review", _subject(project_id), request.form.get("plan", ""))
    done = submit(form, lambda: save(selection.names, detach, shown))
    return done or _preview_page(project_id, form, shown)


@bp.get("/archived", needs=Permission.DELETE_FEATURE)
def archived(project_id: str) -> str:
    """Show what was archived, and offer to revive it."""
    batch_id = request.args.get("batch", "")
    return render_template(
        "catalogue/archive/done.html",
        overview=projects.overview(current_actor, project_id),
        batch=batch_id,
        names=service.archived_in(current_actor, project_id, batch_id),
    )


@bp.post("/revive", needs=Permission.DELETE_FEATURE)
def revive(project_id: str) -> Response:
    """Revive rows of the list of archived features, or everything that a batch archived."""
    if batch_id := request.form.get("batch"):
        names = service.archived_in(current_actor, project_id, batch_id)
    else:
        names = request.form.getlist("feature")
        if "all" in request.form:
            after = current_settings().stale_after
            names += features.names(current_actor, project_id, stale_after=after, **list_filters())
    if are_too_many(names):
        return redirect_to("feature_pages.index", project_id=project_id, archived="true")
    revived = service.revive(current_actor, project_id, names)
    if not revived.names:
        flash("Select at least one archived feature first.", "warn")
        return redirect_to("feature_pages.index", project_id=project_id, archived="true")
    message = f"{counted(len(revived.names), 'feature')} revived."
    if revived.parents:
        again = counted(len(revived.parents), "feature depends", "features depend")
        message += f" {again} on the same parent again."
    flash(message, "ok")
    return redirect_to("feature_pages.index", project_id=project_id)


@bp.get("/archive/delete", needs=Permission.DELETE_FEATURE)
def review_deletion(project_id: str) -> ResponseReturnValue:
    """Show what deleting archived features for good would lose."""
    return _deletion_page(project_id, ReasonForm())


@bp.post("/archive/delete", needs=Permission.DELETE_FEATURE)
def delete(project_id: str) -> ResponseReturnValue:
    """Delete archived features for good, unless others are archived than the page showed."""
    selection, form = _selection(project_id), ReasonForm()
    shown = signing.read("review", _deletion_of(project_id), request.form.get("plan", ""))
    names = selection.archived
    if submitted(form, lambda: deletion.delete(current_actor, project_id, names, shown=shown)):
        flash(f"{counted(len(names), 'feature')} deleted for good.", "ok")
        return redirect_to("feature_pages.index", project_id=project_id, archived="true")
    return _deletion_page(project_id, form, shown)


def _deletion_page(
    project_id: str, form: ReasonForm, shown: list[str] | None = None
) -> ResponseReturnValue:
    """``shown``: the names on the page that was confirmed, after a refusal; else None."""
    selection = _selection(project_id)
    plan = deletion.preview(current_actor, project_id, selection.names)
    return show_review(
        "catalogue/archive/delete.html",
        form,
        plan.names,
        shown,
        overview=projects.overview(current_actor, project_id),
        selection=selection,
        suggestions=features.similar_names(project_id, selection.unknown),
        plan=plan,
        changed_since=set(plan.names).symmetric_difference(shown or plan.names),
        signed=signing.sign("review", _deletion_of(project_id), plan.names),
        most=DISPLAY_LIMIT,
    )


def _deletion_of(project_id: str) -> str:
    return f"deletion in {project_id}"


def _preview_page(
    project_id: str, form: ReasonForm, shown: dict[str, Any] | None = None
) -> ResponseReturnValue:
    """``shown``: the facts of the page that was confirmed, after a refusal; else None."""
    selection, detach = _selection(project_id), request.args.getlist("detach")
    plan = service.preview(current_actor, project_id, selection.names, detach=detach)
    guarded = guarded_in(project_id, plan)
    return show_review(
        "catalogue/archive/preview.html",
        form,
        plan.facts,
        shown,
        overview=projects.overview(current_actor, project_id),
        selection=selection,
        suggestions=features.similar_names(project_id, selection.unknown),
        plan=plan,
        title=words.title(plan),
        verdict=words.verdict(plan, left_out=len(selection.left_out)),
        detach_url=_detach_url,
        keep_url=_keep_url,
        carried=[("detach", name) for name in detach],
        drawing=draw(plan),
        changed_since=_changed_since(shown, plan),
        signed=signing.sign("review", _subject(project_id), plan.facts),
        api_body=archive_body(selection.names, detach),
        guarded=guarded,
        at_once=plan.apart_from(*guarded.values()) if len(guarded) == 1 else [],
        here_again={"project_id": project_id, "selection": selection.id, "detach": detach or None},
        most=DISPLAY_LIMIT,
    )


def guarded_in(project_id: str, plan: ArchivePlan) -> dict[str, list[str]]:
    """Features of the plan that are on, by environment that needs approvals."""
    names = {id: name for name, id in plan.ids.items()}
    on = strategies.guarded_where_on(project_id, names)
    return {environment: sorted(names[id] for id in ids) for environment, ids in on.items()}


def _detach_url(parent: str) -> str:
    """Address of the plan in which children outside the selection stop depending on the parent."""
    return _plan_url([*request.args.getlist("detach"), parent])


def _keep_url(parent: str) -> str:
    """Address of the plan in which children outside the selection keep depending on the parent."""
    return _plan_url([name for name in request.args.getlist("detach") if name != parent])


def _plan_url(detach: list[str]) -> str:
    values = dict(request.view_args or {}, selection=request.args.get("selection"))
    return url_for(".preview", **values, detach=detach or None)


def _selection(project_id: str) -> ResolvedSelection:
    return selections.get(current_actor, project_id, request.args.get("selection", ""))


def _changed_since(shown: dict[str, Any] | None, plan: ArchivePlan) -> set[str]:
    """Features whose outcome differs from what the page showed before."""
    if shown is None:
        return set()
    before, now = _outcomes(shown), _outcomes(plan.facts)
    return {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}


def _outcomes(facts: dict[str, Any]) -> dict[str, str]:
    """Outcome by feature, from the facts of a plan."""
    outcomes = dict.fromkeys(facts["archive"], "archive") | dict.fromkeys(facts["archived"], "none")
    outcomes |= {name: f"blocked by {children}" for name, children in facts["blocked"].items()}
    for child, parent in facts["lost"] + facts["detached"]:
        outcomes[child] = f"{outcomes.get(child)}, loses {parent}"
    return outcomes


def _subject(project_id: str) -> str:
    return f"archive in {project_id}"
