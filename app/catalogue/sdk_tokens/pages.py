"""Pages that list, rotate and revoke SDK tokens: all for Admins, a project's for its Owners."""

from datetime import timedelta
from functools import partial

from flask import flash, render_template
from flask.typing import ResponseReturnValue
from werkzeug.utils import redirect

from app.accounts.tokens.forms import RotationForm
from app.accounts.tokens.models import Issued
from app.catalogue.environments import service as environments
from app.catalogue.sdk_tokens import schemas, service
from app.catalogue.sdk_tokens.models import SdkToken, SdkTokenState, SdkTokenType
from app.catalogue.sdk_tokens.pages_connect import secret_page
from app.catalogue.sdk_tokens.pages_scope import Scope
from app.core.permissions import Permission
from app.web import exports
from app.web.browsers import require_password
from app.web.current import current_actor
from app.web.forms import ReasonForm, show_form, submit, submitted
from app.web.listing import read_query
from app.web.routes import PageBlueprint

bp = PageBlueprint("sdk_token_pages", __name__)

FILTERS = {"text": "Text", "environment": "Environment", "type": "Kind", "state": "State"}
TYPES = {SdkTokenType.CLIENT.value: "Server", SdkTokenType.FRONTEND.value: "Browser"}
STATES = {
    SdkTokenState.EXPIRING.value: f"Expires within {service.SOON.days} days",
    SdkTokenState.UNUSED.value: f"Unused for {service.LONG.days} days",
}
IN_PROJECT = "/projects/<key:project_id>/sdk-tokens"


@bp.get("/sdk-tokens", needs=Permission.READ_CLIENT_API_TOKEN)
def index() -> ResponseReturnValue:
    """List SDK tokens, or export those that match."""
    return _list(Scope())


@bp.get(IN_PROJECT, needs=Permission.READ_PROJECT_API_TOKEN)
def index_in_project(project_id: str) -> ResponseReturnValue:
    """List the SDK tokens for this project alone."""
    return _list(Scope.of(project_id))


@bp.form("/sdk-tokens/<id:token_id>/rotate", needs=Permission.UPDATE_CLIENT_API_TOKEN)
def rotate(token_id: int) -> ResponseReturnValue:
    """Replace a token. Only this response shows the new one. The old one still works a while."""
    return _rotate(Scope(), token_id)


@bp.form(f"{IN_PROJECT}/<id:token_id>/rotate", needs=Permission.CREATE_PROJECT_API_TOKEN)
def rotate_in_project(project_id: str, token_id: int) -> ResponseReturnValue:
    """Replace a token of the project."""
    return _rotate(Scope.of(project_id), token_id)


@bp.form("/sdk-tokens/<id:token_id>/revoke", needs=Permission.DELETE_CLIENT_API_TOKEN)
def revoke(token_id: int) -> ResponseReturnValue:
    """Revoke a token, after a page that shows what it is."""
    return _revoke(Scope(), token_id)


@bp.form(f"{IN_PROJECT}/<id:token_id>/revoke", needs=Permission.DELETE_PROJECT_API_TOKEN)
def revoke_in_project(project_id: str, token_id: int) -> ResponseReturnValue:
    """Revoke a token of the project."""
    return _revoke(Scope.of(project_id), token_id)


def _list(scope: Scope) -> ResponseReturnValue:
    query = read_query(schemas.SdkTokenQuery)
    search = partial(service.search, project_id=scope.project_id)
    if exports.wanted():
        return exports.table("sdk-tokens", schemas.SdkTokenRow(), search, query.values)
    return render_template(
        "catalogue/sdk_tokens/index.html",
        scope=scope,
        query=query,
        filters=query.in_use(FILTERS, {"type": TYPES, "state": STATES}),
        environments=[(name, name) for name in environments.all_names()],
        types=TYPES.items(),
        states=STATES.items(),
        page=search(**query.values),
    )


def _rotate(scope: Scope, token_id: int) -> ResponseReturnValue:
    token = scope.token(token_id)
    require_password(f"rotate SDK token {token.name}")
    form = RotationForm(data={"overlap_hours": "24"})

    def replace() -> Issued[SdkToken]:
        old = scope.token(token_id, for_change=True)
        overlap = timedelta(hours=form.values["overlap_hours"])
        return service.rotate(current_actor, old, overlap=overlap)

    if issued := submit(form, replace):
        return secret_page(scope, issued)
    return show_form("catalogue/sdk_tokens/rotate.html", form, scope=scope, token=token)


def _revoke(scope: Scope, token_id: int) -> ResponseReturnValue:
    token, form = scope.token(token_id), ReasonForm()
    if submitted(
        form, lambda: service.revoke(current_actor, scope.token(token_id, for_change=True))
    ):
        flash(f"SDK token {token.name} revoked. It no longer works.", "ok")
        return redirect(scope.url(".index"), 303)
    return show_form("catalogue/sdk_tokens/revoke.html", form, scope=scope, token=token)
