from datetime import timedelta

from flask import flash, render_template, request, url_for
from flask.typing import ResponseReturnValue

from app.access.scim_tokens.models import ScimToken
from app.access.security_log.models import SecurityKind
from app.access.security_log.requests import record
from app.access.security_log.service import looked_up
from app.access.service_accounts import schemas, service
from app.access.service_accounts.forms import (
    FindTokenForm,
    NewServiceAccountForm,
    ServiceAccountForm,
    form_data,
)
from app.access.service_accounts.service import ServiceAccount
from app.accounts import pages
from app.accounts import service as accounts
from app.accounts.forms import display_values
from app.accounts.models import Account
from app.accounts.tokens import service as tokens
from app.accounts.tokens.forms import RotationForm, TokenForm
from app.accounts.tokens.models import Issued, Token
from app.accounts.tokens.secrets import TokenKind
from app.catalogue.sdk_tokens.models import SdkToken
from app.core.clock import utcnow
from app.core.permissions import ROOT_ROLES, Permission, Role
from app.core.words import counted
from app.web import exports
from app.web.browsers import require_password
from app.web.conflicts import EditPage
from app.web.current import current_actor
from app.web.forms import ReasonForm, show_form, submit, submitted
from app.web.listing import read_query
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("service_account_pages", __name__, url_prefix="/service-accounts")

FIRST_TOKEN_LASTS = timedelta(days=90)


@bp.get("", needs=Permission.ADMIN)
def index() -> ResponseReturnValue:
    """List service accounts, or export all that match."""
    query = read_query(schemas.ServiceAccountQuery)
    if exports.wanted():
        rows = schemas.ServiceAccountDetail()
        return exports.table("service-accounts", rows, service.search, query.values)
    page = service.search(**query.values)
    return render_template("access/service_accounts/index.html", query=query, page=page)


@bp.form("/new", needs=Permission.ADMIN)
def new() -> ResponseReturnValue:
    """Create a service account, with a first token if asked for."""
    require_password("create a service account")
    form = NewServiceAccountForm(data={"root_role": str(Role.VIEWER.value)})

    def create() -> tuple[ServiceAccount, Issued[Token] | None]:
        values = dict(form.values)
        description = values.pop("token", "")
        made = service.create(current_actor, **values)
        if not description:
            return made, None
        expires_at = utcnow() + FIRST_TOKEN_LASTS
        issued = service.issue_token(
            current_actor, made.account.id, description=description, expires_at=expires_at
        )
        return made, issued

    if created := submit(form, create):
        made, issued = created
        if issued is not None:
            return _secret_page(made.account, issued)
        flash(f"Service account {made.account.called} created.", "ok")
        return redirect_to(".show", account_id=made.account.id)
    return show_form("access/service_accounts/new.html", form, roles=ROOT_ROLES)


@bp.get("/<id:account_id>", needs=Permission.ADMIN)
def show(account_id: int) -> ResponseReturnValue:
    """A service account and its tokens."""
    return _edit(service.get(account_id)).show()


@bp.post("/<id:account_id>", needs=Permission.ADMIN)
def update(account_id: int) -> ResponseReturnValue:
    """Save, unless someone else changed the account first: then show what they changed."""
    found = service.get_for_change(account_id)
    return pages.save(_edit(found), found.account)


@bp.form("/<id:account_id>/tokens/new", needs=Permission.ADMIN)
def new_token(account_id: int) -> ResponseReturnValue:
    """Create a token; only this response shows its secret."""
    account = service.get(account_id).account
    require_password(f"create a token for {account.called}")
    form = TokenForm()
    if issued := submit(
        form, lambda: service.issue_token(current_actor, account_id, **form.values)
    ):
        return _secret_page(account, issued)
    return show_form("access/service_accounts/new_token.html", form, account=account)


@bp.form(
    "/<id:account_id>/tokens/<id:token_id>/rotate",
    needs=Permission.ADMIN,
)
def rotate_token(account_id: int, token_id: int) -> ResponseReturnValue:
    """Replace a token, which stays valid for a while; only this response shows the new secret."""
    account, token = service.get(account_id).account, tokens.get(account_id, token_id)
    require_password(f"rotate token {token.description}")
    form = RotationForm(data={"overlap_hours": "24"})

    def rotate() -> Issued[Token]:
        return tokens.rotate(
            current_actor,
            account_id,
            token_id,
            TokenKind.SERVICE_ACCOUNT,
            overlap=timedelta(hours=form.values["overlap_hours"]),
        )

    if issued := submit(form, rotate):
        return _secret_page(account, issued)
    return show_form("access/service_accounts/rotate.html", form, account=account, token=token)


@bp.form(
    "/<id:account_id>/tokens/<id:token_id>/revoke",
    needs=Permission.ADMIN,
)
def revoke_token(account_id: int, token_id: int) -> ResponseReturnValue:
    """Revoke a token, after a page that shows what it is."""
    account = service.get(account_id).account
    return pages.revoke_token(
        account_id,
        token_id,
        above=[
            ("Service accounts", url_for(".index")),
            (account.called, url_for(".show", account_id=account_id)),
        ],
        api_path=f"/api/admin/service-account/{account_id}/token/{token_id}",
    )


@bp.form("/<id:account_id>/delete", needs=Permission.ADMIN)
def remove(account_id: int) -> ResponseReturnValue:
    """Delete a service account; it can't be restored."""
    found, form = service.get_for_change(account_id), ReasonForm()
    require_password(f"delete service account {found.account.called}")
    typed = request.form.get("typed", "").strip()
    if request.method == "POST" and typed != found.account.username:
        form.show([("", f"Type the user name, {found.account.username}, to continue.")])
    elif submitted(form, lambda: accounts.remove(current_actor, found.account)):
        flash(f"Service account {found.account.called} deleted.", "ok")
        return redirect_to(".index")
    effects = ["Nothing else changes."]
    if number := len(found.active):
        stop = "stops" if number == 1 else "stop"
        effects = [f"{counted(number, 'token')} {stop} working immediately.", *effects]
    return show_form("access/service_accounts/delete.html", form, found=found, effects=effects)


@bp.form("/find-token", needs=Permission.ADMIN)
def find_token() -> ResponseReturnValue:
    """Find the owner of a leaked token; its secret isn't stored."""
    form = FindTokenForm()
    is_asked = form.validate_on_submit()
    secret = form.values["secret"] if is_asked else ""
    token, sdk_token = Token.known_by(secret), SdkToken.known_by(secret)
    scim_token = ScimToken.known_by(secret)
    owner = accounts.find(token.account_id) if token else None
    if is_asked:
        unowned = sdk_token or scim_token
        detail = unowned.label if unowned else looked_up(token, owner)
        record(SecurityKind.TOKEN_LOOKED_UP, detail)
    form.secret.data = ""
    return show_form(
        "access/service_accounts/find_token.html",
        form,
        is_asked=is_asked,
        token=token,
        sdk_token=sdk_token,
        scim_token=scim_token,
        owner=owner,
        revoke=_revoke_address(token, owner) if token and owner else None,
    )


def _revoke_address(token: Token, owner: Account) -> str | None:
    """Where an Admin revokes the token; None if it is revoked already."""
    if token.revoked_at is not None:
        return None
    area = "user_pages" if owner.is_person else "service_account_pages"
    return url_for(f"{area}.revoke_token", account_id=owner.id, token_id=token.id)


def _edit(found: ServiceAccount) -> EditPage[ServiceAccountForm]:
    id, data = found.account.id, form_data(found.account)
    return EditPage(
        f"service account {id}",
        "access/service_accounts/show.html",
        ServiceAccountForm(data=data),
        data,
        lambda: {"found": service.get(id), "roles": ROOT_ROLES},
        describe=display_values,
    )


def _secret_page(account: Account, issued: Issued[Token]) -> str:
    back = (account.called, url_for(".show", account_id=account.id))
    return pages.secret_page(issued, account.called, back=back)
