from dataclasses import dataclass
from typing import Any

from flask import url_for

from app.core.permissions import Permission
from app.exchange.unleash import client, formats, imports, requests, schemas_imports, undoing
from app.exchange.unleash.client import Unleash
from app.exchange.unleash.imports import Shown
from app.exchange.unleash.models import Import, ImportState
from app.web.current import current_actor, current_settings
from app.web.routes import ApiBlueprint

bp = ApiBlueprint(
    "imports",
    __name__,
    url_prefix="/api/admin/imports",
    description="Bring in what an Unleash has: first a plan, then exactly that or nothing.",
)

FILE = "An exported file"
EXAMPLE = {"url": client.EXAMPLE, "token": "user:…"}


@dataclass(frozen=True, slots=True)
class Detail:
    """An import with its plan, or what became of that."""

    found: Import
    plan: Shown | None = None
    change_requests: list[int] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.found, name)


@bp.get("", needs=Permission.ADMIN)
@bp.response(200, schemas_imports.ImportList)
def index() -> dict[str, Any]:
    """List imports

    Newest first.
    """
    return {"imports": imports.list_all()}


@bp.post("", needs=Permission.ADMIN, refuses=(409,))
@bp.arguments(schemas_imports.NewImport, example=EXAMPLE)
@bp.response(202, schemas_imports.ImportRow)
def create(data: dict[str, Any]) -> tuple[Import, dict[str, str]]:
    """Read an Unleash

    A running one is read in the background: read the import until its state is no longer
    `reading`. Its host must be in FLAGSTAFF_IMPORT_HOSTS. Nothing is changed here or there.
    """
    found = begin(data)
    return found, {"Location": url_for("imports.show", id=found.id)}


@bp.get("/<id:id>", needs=Permission.ADMIN)
@bp.response(200, schemas_imports.ImportDetail)
def show(id: int) -> Detail:
    """Read an import with its plan

    Before it is applied, the plan says what would be done now; afterwards, what was done.
    """
    return detail(imports.get(id))


@bp.patch("/<id:id>", needs=Permission.ADMIN, refuses=(409,))
@bp.arguments(schemas_imports.ImportDecisions, example={"different": "take"})
@bp.response(200, schemas_imports.ImportDetail)
def decide(data: dict[str, Any], id: int) -> Detail:
    """Decide what becomes of things

    Or which features come: by project, by what their names begin with, or by name. Answers with the
    plan that follows.
    """
    found = imports.get(id, for_change=True)
    imports.decide(found, **data)
    imports.keep(found, imports.shown(found))
    return detail(found)


@bp.post("/<id:id>/apply", needs=Permission.ADMIN, refuses=(409,))
@bp.arguments(schemas_imports.ImportApplication, example={"digest": "9f86d081…"})
@bp.response(202, schemas_imports.ImportRow)
def apply(data: dict[str, Any], id: int) -> Import:
    """Carry out the plan

    Exactly the plan with this digest, or nothing. It is done in the background: read the import
    until its state is no longer `applying`. If it is `planned` again, `failure` says why.
    """
    found = imports.begin_applying(id)
    requests.apply(id, data["digest"])
    return found


@bp.post("/<id:id>/undo", needs=Permission.ADMIN, refuses=(409,))
@bp.response(200, schemas_imports.ImportRow)
def undo(id: int) -> Import:
    """Undo an import

    Within 7 days, as long as nothing was built on it.
    """
    return undoing.undo(current_actor, id)


def begin(data: dict[str, Any]) -> Import:
    """Begin to read what a request names."""
    if "content" in data:
        found = imports.begin(current_actor, FILE)
        translation = formats.translation(data["content"], FILE)
        wanted = schemas_imports.wanted(translation)
        imports.store(found, translation.source, wanted, translation.notes)
        return found
    server = Unleash(data["url"], data["token"], current_settings().import_hosts)
    found = imports.begin(current_actor, server.url)
    requests.read(found.id, server)
    return found


def detail(found: Import) -> Detail:
    if found.phase is ImportState.PLANNED:
        return Detail(found, imports.shown(found), [])
    if found.report is None:
        return Detail(found, None, [])
    return Detail(found, *imports.report(found))
