from collections.abc import Collection

from flask import flash, make_response, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.environments import service as environments
from app.catalogue.features import selections
from app.catalogue.projects import service as projects
from app.catalogue.strategies import queries as strategies
from app.core.errors import NotFound
from app.core.permissions import Access, Permission
from app.exchange.documents.documents import Kind
from app.exchange.documents.plans import Choice, Status
from app.exchange.unleash import (
    api_imports,
    client,
    forms,
    imports,
    requests,
    schemas,
    schemas_imports,
    service,
    undoing,
)
from app.exchange.unleash.models import Import, ImportState
from app.web import exports
from app.web.browsers import require_password
from app.web.current import current_actor, current_settings
from app.web.forms import ReasonForm, show_form, submit, submitted
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("import_pages", __name__, url_prefix="/imports")

ONE = "/<id:import_id>"
REFRESH_SECONDS = 3
DISPLAY_LIMIT = 50
"""Things of each group that a plan shows at first."""


@bp.get("", needs=Permission.ADMIN)
def index() -> ResponseReturnValue:
    """List imports."""
    return render_template("exchange/unleash/index.html", imports=imports.list_all())


@bp.form("/new", needs=Permission.ADMIN)
def new() -> ResponseReturnValue:
    """Choose where to read from."""
    form = forms.NewImportForm()
    if found := submit(form, lambda: api_imports.begin(form.values)):
        return redirect_to(".show", import_id=found.id)
    settings = current_settings()
    return show_form(
        "exchange/unleash/new.html",
        form,
        hosts=settings.import_hosts,
        most=_in_words(settings.max_request_bytes),
        example=api_imports.EXAMPLE,
        sources=forms.SOURCES,
    )


@bp.get(ONE, needs=Permission.ADMIN)
def show(import_id: int) -> ResponseReturnValue:
    """Show how far an import is: being read, planned, being applied, or done."""
    found = imports.get(import_id)
    if found.phase in {ImportState.READING, ImportState.APPLYING}:
        return _running_page(found)
    if found.phase is ImportState.PLANNED:
        return _plan_page(found)
    if found.report is None:
        return render_template("exchange/unleash/failed.html", found=found)
    plan, change_requests = imports.report(found)
    return render_template(
        "exchange/unleash/result.html",
        found=found,
        plan=plan,
        change_requests=change_requests,
        choice=imports.choice(plan, found.chosen),
        kinds=Kind,
        address=current_settings().address("/api"),
        there=found.origin if found.origin.startswith("http") else client.EXAMPLE,
    )


@bp.post(f"{ONE}/decide", needs=Permission.ADMIN)
def decide(import_id: int) -> Response:
    """Save what the form decides, or one choice for all that differ; then show the plan again."""
    found = imports.get(import_id, for_change=True)
    asked = {
        key.removeprefix("choice:"): value
        for key, value in request.form.items()
        if key.startswith("choice:")
    }
    schema = schemas_imports.ImportDecisions()
    by_all = request.form.get("different")
    plan, taken = imports.shown(found), request.form.getlist("kind")
    before = found.decisions.get("leftOut", ())
    left_out = [k for k in Kind if (k not in taken if k in plan.counts else k in before)]
    values = schema.load(
        {"byKey": asked, "leftOut": [kind.value for kind in left_out]}
        | ({"different": by_all} if by_all else {})
    )
    if by_all:
        differing = plan.entries(Status.DIFFERENT)
        values["by_key"] |= {entry["key"]: by_all for entry in differing}
    imports.decide(found, **values)
    imports.keep(found, imports.shown(found))
    return redirect_to(".show", import_id=import_id)


@bp.form(f"{ONE}/choose", needs=Permission.ADMIN)
def choose(import_id: int) -> ResponseReturnValue:
    """Choose which features come; then show the plan for them."""
    found = imports.get(import_id, for_change=request.method == "POST")
    chosen = found.chosen or {}
    names = "\n".join(chosen.get("names", ()))
    form = forms.ChoiceForm(data=chosen | {"names": names})
    if submitted(form, lambda: imports.decide(found, chosen=form.values)):  # type: ignore[arg-type] # as the schema loads them
        imports.keep(found, imports.shown(found))
        return redirect_to(".show", import_id=import_id)
    return show_form(
        "exchange/unleash/choose.html", form, found=found, projects=imports.projects(found)
    )


@bp.post(f"{ONE}/apply", needs=Permission.ADMIN)
def apply(import_id: int) -> ResponseReturnValue:
    """Carry out the plan that was shown, in the background."""
    form = forms.ApplyForm()
    require_password("import what the plan says")
    if submit(form, lambda: imports.begin_applying(import_id)):
        requests.apply(import_id, form.values["digest"])
    for _, message in form.problems:
        flash(message, "warn")
    return redirect_to(".show", import_id=import_id)


@bp.form(f"{ONE}/undo", needs=Permission.ADMIN)
def undo(import_id: int) -> ResponseReturnValue:
    """Undo an import, after a page that says what that means."""
    found, form = imports.get(import_id), ReasonForm()
    require_password(f"undo import {import_id}")
    if submitted(form, lambda: undoing.undo(current_actor, import_id)):
        flash(f"Import {import_id} is undone.", "ok")
        return redirect_to(".show", import_id=import_id)
    plan, _ = imports.report(found)
    return show_form("exchange/unleash/undo.html", form, found=found, plan=plan)


@bp.get(f"{ONE}/plan.json", needs=Permission.ADMIN)
def download(import_id: int) -> Response:
    """The plan, or the report of what was done, as a file."""
    found = imports.get(import_id)
    content = schemas_imports.ImportDetail().dump(api_imports.detail(found))
    return exports.document(f"import-{import_id}.json", content, rows=1)


def _in_words(size: int) -> str:
    """``2 MB``; rounded down, as it is a limit."""
    megabytes = size // 2**20
    return f"{megabytes:,} MB" if megabytes else f"{size // 2**10:,} kB"


def _running_page(found: Import) -> Response:
    what, done = requests.progress(found)
    page = render_template("exchange/unleash/running.html", found=found, what=what, done=done)
    response = make_response(page)
    response.headers["Refresh"] = str(REFRESH_SECONDS)
    return response


def _plan_page(found: Import) -> ResponseReturnValue:
    plan = imports.shown(found)
    asked = request.args.get("show")
    return render_template(
        "exchange/unleash/plan.html",
        found=found,
        form=forms.ApplyForm(data={"digest": plan.digest}),
        plan=plan,
        source=imports.source_name(found),
        summary=imports.summary(plan, imports.source_name(found)),
        choice=imports.choice(plan, found.chosen),
        groups={status: plan.entries(status) for status in (Status.DIFFERENT, Status.IMPOSSIBLE)},
        renamed=[e for e in plan.entries(Status.NEW) if e["choice"] == Choice.RENAME],
        shown=None if asked == "all" else DISPLAY_LIMIT,
        kinds=Kind,
        left_out=set(found.decisions.get("leftOut", ())),
    )


export_bp = PageBlueprint("transfer_pages", __name__)


@export_bp.get("/features/export", needs=Access.SIGNED_IN)
def export_selected() -> ResponseReturnValue:
    """Choose an environment to export selected features of any project in, or download them."""
    id = request.args.get("selection", "")
    names = selections.get(current_actor, None, id).active
    if not names:  # without names, an export has all features
        flash("All of the selected features are archived. Revive them first.", "warn")
        return redirect_to("all_feature_pages.index")
    return _export(None, names) or render_template(
        "exchange/unleash/export_selected.html",
        environments=environments.list_all(),
        selection=id,
        names=names,
        refused=service.refused(current_actor, None, names),
    )


@export_bp.get("/projects/<key:project_id>/export", needs=Access.SIGNED_IN)
def export(project_id: str) -> ResponseReturnValue:
    """Choose an environment to export the features of the project in, or download them.

    With ``selection``, only those that were selected.
    """
    selection = request.args.get("selection", "")
    names = selections.names_of(current_actor, project_id, selection) if selection else ()
    if names is None:
        raise NotFound("This selection is no longer known. Select the features again.")
    return _export(project_id, names) or render_template(
        "exchange/unleash/export.html",
        overview=projects.overview(current_actor, project_id),
        environments=strategies.environments_of([project_id]).get(project_id, []),
        selection=selection,
        names=names,
        refused=service.refused(current_actor, project_id, names),
    )


def _export(project_id: str | None, names: Collection[str]) -> Response | None:
    """The file, if the address names its environment."""
    environment = request.args.get("environment")
    if not environment:
        return None
    found = service.export(current_actor, environment, names=names, project=project_id)
    content = schemas.ExportDocument().dump(found)
    return exports.document(
        service.file_name(environment, project_id), content, rows=len(found.found)
    )
