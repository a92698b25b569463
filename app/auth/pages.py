from collections.abc import Callable
from datetime import datetime

from flask import Flask, flash, g, json, render_template, request
from flask.typing import ResponseReturnValue
from itsdangerous import BadSignature, URLSafeTimedSerializer

from app.accounts import links, passwords
from app.accounts.models import Account, SetupLink
from app.auth import first_admin, forms, identity, service
from app.auth.service import PendingSecondFactor, Welcome
from app.core.actor import Actor
from app.core.db import transact
from app.core.errors import Invalid, TooManyRequests
from app.core.permissions import Access
from app.security_log.models import SecurityKind
from app.security_log.requests import note, record
from app.security_log.service import Entry
from app.sessions import service as sessions
from app.sessions.service import Browser
from app.tokens import service as tokens
from app.web import browsers, origins, strict_json
from app.web.browsers import CONFIRMATION_FIELD, Fields, PasswordRequired, SignInRequired
from app.web.forms import SchemaForm, attempt, show_form
from app.web.redirects import form_address, own_path, redirect_to, redirect_to_path, with_kept_form
from app.web.routes import PageBlueprint
from app.web.settings import current_key, current_settings
from app.web.templating import moment

bp = PageBlueprint("sign_in_pages", __name__)

CODE_SECONDS = 600
"""How long a correct password waits for its code."""


def init_app(app: Flask) -> None:
    app.register_error_handler(SignInRequired, _ask_to_sign_in)
    app.register_error_handler(PasswordRequired, _ask_for_password)


@bp.get("/sign-in", needs=Access.PUBLIC)
def sign_in() -> ResponseReturnValue:
    """Ask for name and password."""
    return _sign_in_page(forms.SignInForm(), own_path(request.args.get("next")))


@bp.route("/sign-in", methods=["POST"], needs=Access.PUBLIC, writes=True, in_steps=True)
def sign_in_with_password() -> ResponseReturnValue:
    """Start a session and continue to the page that was asked for, with what was typed."""
    form = forms.SignInForm()
    target = own_path(request.form.get("next"))
    if not form.validate_on_submit():
        return _sign_in_page(form, target, _kept_fields())
    try:
        welcome = service.sign_in(form.values["name"], form.values["password"], _browser())
    except TooManyRequests as error:
        return _too_early(error, form, lambda: _sign_in_page(form, target, _kept_fields()))
    if welcome is None:
        form.show([("", "Wrong user name or password.")])
        return _sign_in_page(form, target, _kept_fields())
    if isinstance(welcome, PendingSecondFactor):
        return _code_page(forms.CodeForm(empty=True), welcome, target)
    return transact(lambda: _let_in(welcome, target), writes=True)


@bp.post("/sign-in/code", needs=Access.PUBLIC)
def sign_in_with_code() -> ResponseReturnValue:
    """The second step, if it is on: a code from the authenticator, or a recovery code."""
    form, pending = forms.CodeForm(), _pending()
    target = own_path(request.form.get("next"))
    if not form.validate_on_submit():
        return _code_page(form, pending, target)
    try:
        welcome = service.finish(pending, form.values["code"], current_key(), _browser())
    except TooManyRequests as error:
        return _too_early(error, form, lambda: _code_page(form, pending, target))
    if welcome is None:
        form.show([("", "This code is wrong or was already used. Enter the next one.")])
        return _code_page(form, pending, target)
    return _let_in(welcome, target)


@bp.post("/sign-out", needs=Access.SIGNED_IN)
def sign_out() -> ResponseReturnValue:
    """End the session, here and in every copy of its cookie."""
    identity.end()
    record(SecurityKind.SIGN_OUT)
    flash("You’re signed out.", "ok")
    answer = redirect_to("sign_in_pages.sign_in")
    answer.headers["Clear-Site-Data"] = '"cache"'
    return answer


@bp.form("/set-up/<secret>", needs=Access.PUBLIC)
def set_up(secret: str) -> ResponseReturnValue:
    """Set an account's password with a one-time link."""
    try:
        link, account = links.find(secret)
    except links.ExpiredLink as error:
        g.expired_link = error.link_id
        raise
    held = tokens.count(account.id)
    form = forms.PasswordByLinkForm(tokens=held)
    actor = Actor(id=account.id, username=account.label, role=account.role, ip=request.remote_addr)

    def set_password() -> Account:
        passwords.set_by_link(
            actor,
            account,
            link,
            password=form.values["new_password"],
            shortest=current_settings().password_min,
            revoke_tokens=form.values["revoke_tokens"],
        )
        return account

    if attempt(form, set_password):
        return _first_entry(account, "Password set. You’re signed in.", link)
    return show_form("auth/set_up.html", form, account=account, has_tokens=held > 0)


@bp.form("/first-admin/<secret>", needs=Access.PUBLIC)
def make_first_admin(secret: str) -> ResponseReturnValue:
    """Create the first Admin with the link that the first start printed."""
    try:
        first_admin.check(secret)
    except links.ExpiredLink as error:
        g.expired_first_link = error.link_id
        raise
    form = forms.FirstAdminForm()

    def create() -> Account:
        values = dict(form.values)
        password = values.pop("new_password")
        return first_admin.create(
            request.remote_addr,
            password=password,
            shortest=current_settings().password_min,
            **values,
        )

    if account := attempt(form, create):
        return _first_entry(account, "Welcome. You’re the first Admin of this Flagstaff.")
    return show_form("auth/first_admin.html", form)


def _first_entry(
    account: Account, words: str, link: SetupLink | None = None
) -> ResponseReturnValue:
    """Sign in someone who has just set a password, with ``link`` if there was one."""
    welcome = service.begin_session(account, _browser())
    if isinstance(welcome, PendingSecondFactor):
        flash("Password set. One step is left.", "ok")
        return _code_page(forms.CodeForm(empty=True), welcome, "/")
    identity.begin(welcome.secret)
    flash(words, "ok")
    _tell_news(account, but=link)
    return redirect_to_path("/")


def _too_early(
    error: TooManyRequests, form: SchemaForm, page: Callable[[], tuple[str, int]]
) -> ResponseReturnValue:
    form.show([("", error.message)])
    note(Entry(SecurityKind.SIGN_IN_FAILED, request.remote_addr, detail="too many attempts"))
    return page()[0], error.status, error.headers


def _let_in(welcome: Welcome, target: str) -> ResponseReturnValue:
    """Start the session and continue to the page that was asked for."""
    identity.begin(welcome.secret)
    flash(_greeting(welcome), "ok")
    _tell_news(welcome.account)
    return redirect_to_path(_with_kept_fields(target, welcome.secret))


def _ask_to_sign_in(_: SignInRequired) -> ResponseReturnValue:
    """Lead to the sign-in page, which carries the fields of a submitted form."""
    if request.method != "POST":
        here = request.full_path.rstrip("?")
        if here == "/":
            return redirect_to_path("/sign-in")
        return redirect_to("sign_in_pages.sign_in", next=own_path(here))
    typed = browsers.typed_fields() if origins.is_own_form() else None
    page, _status = _sign_in_page(forms.SignInForm(empty=True), form_address(), typed)
    return page, SignInRequired.status


def _ask_for_password(needed: PasswordRequired) -> ResponseReturnValue:
    """The submitted form again with a password field; sending it completes the action."""
    typed = [(name, value) for name, values in browsers.typed_fields().items() for value in values]
    page = render_template(
        "auth/confirm.html",
        typed=typed,
        needed=needed,
        field=CONFIRMATION_FIELD,
        back=request.script_root + form_address(),
    )
    return page, needed.status


def _code_page(form: SchemaForm, pending: PendingSecondFactor, target: str) -> tuple[str, int]:
    return show_form(
        "auth/code.html",
        form,
        pending=_pending_signer().dumps([pending.account_id, pending.mark]),
        target=target,
        kept=request.form.get("kept"),
    )


def _pending() -> PendingSecondFactor:
    """The sign-in that waits for its code, as the previous page carried it."""
    try:
        account_id, mark = _pending_signer().loads(
            request.form.get("pending", ""), max_age=CODE_SECONDS
        )
    except BadSignature:
        raise Invalid("You took too long to sign in. Start again.") from None
    return PendingSecondFactor(account_id, mark)


def _pending_signer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_key(), salt="sign-in waiting for a code")


def _sign_in_page(form: SchemaForm, target: str, kept: Fields | None = None) -> tuple[str, int]:
    page = render_template(
        "auth/sign_in.html", form=form, target=target, kept=json.dumps(kept) if kept else None
    )
    return page, 400 if form.problems else 200


def _kept_fields() -> Fields | None:
    """The form fields that the sign-in page carried; None if they are malformed."""
    try:
        fields = strict_json.loads(request.form.get("kept", "").encode())
        return {str(name): [str(value) for value in values] for name, values in fields.items()}
    except (ValueError, AttributeError, TypeError):
        return None


def _with_kept_fields(target: str, secret: str) -> str:
    kept = _kept_fields()
    if not kept:
        return target
    return with_kept_form(target, sessions.keep_form(secret, kept))


def _greeting(welcome: Welcome) -> str:
    if welcome.last_at is None:
        return "Welcome. This is your first sign-in."
    at = _exact(welcome.last_at)
    words = f"Last sign-in {at}{f' from {welcome.last_ip}' if welcome.last_ip else ''}"
    if welcome.failed_since:
        failed = welcome.failed_since
        words += f", {failed} failed attempt{'' if failed == 1 else 's'} since"
    return f"{words}."


def _tell_news(account: Account, but: SetupLink | None = None) -> None:
    for link in links.news(account.id):
        if link is not but:
            flash(_news(link), "warn")


def _news(link: SetupLink) -> str:
    """What the owner of an account learns of a link to set its password."""
    created = f"{link.maker} created a link to set your password on {_exact(link.created_at)}."
    if link.used_at is None:
        return f"{created} It was not used."
    source = f" from {link.used_ip}" if link.used_ip else ""
    return f"{created} Your password was set with it on {_exact(link.used_at)}{source}."


def _exact(at: datetime) -> str:
    return moment(at).striptags()


def _browser() -> Browser:
    return Browser(
        ip=request.remote_addr,
        user_agent=request.headers.get("User-Agent", ""),
        idle_hours=current_settings().session_hours,
    )
