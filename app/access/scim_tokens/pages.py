from flask import flash, render_template
from flask.typing import ResponseReturnValue

from app.access.scim_tokens import disconnecting
from app.access.scim_tokens import service as tokens
from app.access.scim_tokens.forms import ScimTokenForm
from app.core.permissions import Permission
from app.web.browsers import require_password
from app.web.current import current_actor, current_settings
from app.web.forms import ReasonForm, show_form, submit, submitted
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("scim_token_pages", __name__, url_prefix="/scim-tokens")

SCIM = "/scim/v2"
"""Where directories send their requests."""


@bp.get("", needs=Permission.ADMIN)
def index() -> ResponseReturnValue:
    """List the tokens of directories, and where these send their requests."""
    present = tokens.list_all()
    return render_template(
        "access/scim_tokens/index.html",
        tokens=present,
        managed=disconnecting.managed(present),
        address=current_settings().address(SCIM),
    )


@bp.form("/new", needs=Permission.ADMIN)
def new() -> ResponseReturnValue:
    """Create a token; only this response shows its secret."""
    require_password("let a directory manage users and groups")
    form = ScimTokenForm()
    if issued := submit(form, lambda: tokens.create(current_actor, **form.values)):
        return render_template(
            "access/scim_tokens/secret.html",
            issued=issued,
            address=current_settings().address(SCIM),
        )
    return show_form("access/scim_tokens/new.html", form)


@bp.form("/<id:token_id>/revoke", needs=Permission.ADMIN)
def revoke(token_id: int) -> ResponseReturnValue:
    """Revoke a token, after a page that shows what it is."""
    form, token = ReasonForm(), tokens.get(token_id)
    if submitted(form, lambda: tokens.revoke(current_actor, token_id)):
        flash(f"Token {token.name} revoked. It no longer works.", "ok")
        return redirect_to(".index")
    return show_form("access/scim_tokens/revoke.html", form, token=token)


@bp.form("/disconnect", needs=Permission.ADMIN)
def disconnect() -> ResponseReturnValue:
    """Disconnect all directories, after a page that says what then changes."""
    form, managed = ReasonForm(), disconnecting.managed(tokens.list_all())
    if submitted(form, lambda: disconnecting.disconnect(current_actor)):
        flash("Directory disconnected. Users and groups are managed by hand now.", "ok")
        return redirect_to(".index")
    return show_form("access/scim_tokens/disconnect.html", form, managed=managed)
