from datetime import timedelta

from flask import flash, render_template, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts import service as accounts
from app.accounts.forms import in_words, makes_admin
from app.accounts.models import Account
from app.core import exports
from app.core.actor import current_actor
from app.core.conflicts import Values, Watch
from app.core.db import utcnow
from app.core.forms import ReasonForm, attempt, carry_out, show_form
from app.core.pages import PageBlueprint, prove, proven, read_query, see
from app.core.permissions import ROOT_ROLES, Permission, Role
from app.service_accounts import schemas, service
from app.service_accounts.forms import (
    FindTokenForm,
    NewServiceAccountForm,
    ServiceAccountForm,
    settings_of,
)
from app.service_accounts.service import ServiceAccount
from app.tokens import service as tokens
from app.tokens.forms import RotationForm, TokenForm
from app.tokens.pages import secret_page
from app.tokens.secrets import TokenKind
from app.tokens.service import IssuedToken

bp = PageBlueprint("service_account_pages", __name__, url_prefix="/service-accounts")

WORDS = {"name": "Name", "username": "User name", "root_role": "Role"}
FIRST_TOKEN_LASTS = timedelta(days=90)


@bp.get("", needs=Permission.ADMIN)
def index() -> ResponseReturnValue:
    """All service accounts with what their tokens are up to; or all that match as a file."""
    query = read_query(schemas.ServiceAccountQuery)
    if exports.wanted():
        rows = schemas.ServiceAccountDetail()
        return exports.table("service-accounts", rows, service.search, query.values)
    page = service.search(**query.values)
    return render_template("service_accounts/index.html", query=query, page=page)


@bp.route("/new", methods=["GET", "POST"], needs=Permission.ADMIN)
@proven
def new() -> ResponseReturnValue:
    """Create a service account, and at once a first token if one is wanted."""
    form = NewServiceAccountForm(data={"root_role": str(Role.VIEWER.value)})

    def create() -> tuple[ServiceAccount, IssuedToken | None]:
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

    if created := attempt(form, create):
        made, issued = created
        if issued is not None:
            return _secret_page(made.account, issued)
        flash(f"Service account {made.account.called} created.", "ok")
        return see(".show", account_id=made.account.id)
    return show_form("service_accounts/new.html", form, roles=ROOT_ROLES)


@bp.get("/<id:account_id>", needs=Permission.ADMIN)
def show(account_id: int) -> ResponseReturnValue:
    """A service account and its tokens."""
    found = service.get(account_id)
    return _account_page(found, ServiceAccountForm(data=settings_of(found.account)))


@bp.post("/<id:account_id>", needs=Permission.ADMIN)
def update(account_id: int) -> ResponseReturnValue:
    """Save, unless somebody else was quicker: then say what he changed."""
    found = service.get_for_change(account_id)
    present = settings_of(found.account)
    form = ServiceAccountForm(data=present)
    if makes_admin(form, found.account):
        prove()
    if overtaken := _watch(account_id).overtaken(present):
        return _account_page(found, form, overtaken)
    if carry_out(form, lambda: accounts.update(current_actor, found.account, **form.values)):
        flash(f"{found.account.called} saved.", "ok")
        return see(".show", account_id=account_id)
    return _account_page(service.get(account_id), form)


@bp.route("/<id:account_id>/tokens/new", methods=["GET", "POST"], needs=Permission.ADMIN)
@proven
def new_token(account_id: int) -> ResponseReturnValue:
    """Create a token; its secret is in this answer alone."""
    account = service.get(account_id).account
    form = TokenForm()
    if issued := attempt(
        form, lambda: service.issue_token(current_actor, account_id, **form.values)
    ):
        return _secret_page(account, issued)
    return show_form("service_accounts/new_token.html", form, account=account)


@bp.route(
    "/<id:account_id>/tokens/<id:token_id>/rotate",
    methods=["GET", "POST"],
    needs=Permission.ADMIN,
)
@proven
def rotate_token(account_id: int, token_id: int) -> ResponseReturnValue:
    """A new secret now; the old one works on for a while. The new one is in this answer alone."""
    account, token = service.get(account_id).account, tokens.get(account_id, token_id)
    form = RotationForm(data={"overlap_hours": "24"})

    def rotate() -> IssuedToken:
        return tokens.rotate(
            current_actor,
            account_id,
            token_id,
            TokenKind.SERVICE_ACCOUNT,
            overlap=timedelta(hours=form.values["overlap_hours"]),
        )

    if issued := attempt(form, rotate):
        return _secret_page(account, issued)
    return show_form("service_accounts/rotate.html", form, account=account, token=token)


@bp.route(
    "/<id:account_id>/tokens/<id:token_id>/revoke",
    methods=["GET", "POST"],
    needs=Permission.ADMIN,
)
def revoke_token(account_id: int, token_id: int) -> ResponseReturnValue:
    """Stop a token at once, after a look at what it is."""
    account, token = service.get(account_id).account, tokens.get(account_id, token_id)
    form = ReasonForm()
    if carry_out(form, lambda: tokens.revoke(current_actor, account_id, token_id)):
        flash(f"Token {token.description} is revoked; it stopped at once.", "ok")
        return see(".show", account_id=account_id)
    return show_form("tokens/revoke.html", form, account=account, token=token)


@bp.route("/<id:account_id>/delete", methods=["GET", "POST"], needs=Permission.ADMIN)
@proven
def remove(account_id: int) -> ResponseReturnValue:
    """Delete a service account, for good: it can't be restored."""
    found, form = service.get_for_change(account_id), ReasonForm()
    typed = request.form.get("typed", "").strip()
    if request.method == "POST" and typed != found.account.username:
        form.show([("", f"Type the user name, {found.account.username}, to go on.")])
    elif carry_out(form, lambda: accounts.remove(current_actor, found.account)):
        flash(f"Service account {found.account.called} is deleted.", "ok")
        return see(".index")
    return show_form("service_accounts/delete.html", form, found=found)


@bp.route("/find-token", methods=["GET", "POST"], needs=Permission.ADMIN)
def find_token() -> ResponseReturnValue:
    """Whose a secret is that was found somewhere; it is looked up and not kept."""
    form = FindTokenForm()
    is_asked = form.validate_on_submit()
    token = tokens.known_by(form.values["secret"]) if is_asked else None
    owner = accounts.find(token.account_id) if token else None
    form.secret.data = ""
    return show_form(
        "service_accounts/find_token.html", form, is_asked=is_asked, token=token, owner=owner
    )


def _watch(account_id: int) -> Watch:
    return Watch(f"service account {account_id}", WORDS, in_words)


def _secret_page(account: Account, issued: IssuedToken) -> str:
    back = (account.called, url_for(".show", account_id=account.id))
    return secret_page(issued, account.called, back=back)


def _account_page(
    found: ServiceAccount, form: ServiceAccountForm, overtaken: Values | None = None
) -> ResponseReturnValue:
    return _watch(found.account.id).show(
        "service_accounts/show.html",
        form,
        settings_of(found.account),
        overtaken,
        found=found,
        roles=ROOT_ROLES,
    )
