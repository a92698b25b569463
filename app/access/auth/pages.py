from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from flask import Flask, current_app, flash, g, json, render_template, request
from flask.typing import ResponseReturnValue
from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.wrappers import Response

from app.access.auth import cookies, first_admin, forms, identity, service
from app.access.auth.service import PendingSecondFactor, SignInResult
from app.access.security_log.models import SecurityKind
from app.access.security_log.requests import note
from app.access.security_log.service import LogEntry
from app.accounts import links, passwords
from app.accounts.models import Account, SetupLink
from app.accounts.sessions import service as sessions
from app.accounts.sessions.models import SESSIONS
from app.accounts.sessions.service import Browser
from app.accounts.tokens import service as tokens
from app.core.actor import Actor, Proof
from app.core.db import transact
from app.core.errors import Invalid, TooManyRequests
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.permissions import Access
from app.web import browsers, origins, strict_json
from app.web.browsers import CONFIRMATION_FIELD, Fields, PasswordRequired, SignInRequired
from app.web.current import current_actor, current_key, current_settings
from app.web.forms import SchemaForm, show_form, submit
from app.web.redirects import (
    form_address,
    own_path,
    redirect_to,
    redirect_to_path,
    this_address,
    with_kept_form,
)
from app.web.routes import PageBlueprint
from app.web.templating import moment

bp = PageBlueprint("sign_in_pages", __name__)

CODE_SECONDS = 600
"""How long a correct password waits for its code."""

HAS_USERS = "flagstaff.has_users"
"""Set once a person has an account: from then on the sign-in page reads nothing."""


def init_app(app: Flask) -> None:
    app.register_error_handler(PasswordRequired, _ask_for_proof)


@bp.get("/.well-known/change-password", needs=Access.PUBLIC)
def change_password() -> Response:
    """Lead password managers to the page that changes the password."""
    return redirect_to("account_pages.change_password")


@bp.get("/sign-in", needs=Access.PUBLIC)
def sign_in() -> ResponseReturnValue:
    """Ask for name and password."""
    return _sign_in_page(forms.SignInForm(), own_path(request.args.get("next")))


@bp.route(
    "/sign-in",
    methods=["POST"],
    needs=Access.PUBLIC,
    keeps=(SESSIONS,),
    writes=True,
    in_steps=True,
    even_in_maintenance=True,
)
def sign_in_with_password() -> ResponseReturnValue:
    """Start a session and continue to the page that was asked for, with what was typed."""
    form = forms.SignInForm()
    target = own_path(request.form.get("next"))
    if not form.validate_on_submit():
        return _sign_in_page(form, target, _kept_fields())
    try:
        result = service.sign_in(
            form.values["name"], form.values["password"], current_browser(), current_settings()
        )
    except TooManyRequests as error:
        return _too_early(error, form, lambda: _sign_in_page(form, target, _kept_fields()))
    if result is None:
        form.show([("", "Wrong user name or password.")])
        return _sign_in_page(form, target, _kept_fields())
    if isinstance(result, PendingSecondFactor):
        return _code_page(forms.CodeForm(empty=True), result, target)
    return transact(lambda: _let_in(result, target), writes=True)


@bp.post("/sign-in/code", needs=Access.PUBLIC, keeps=(SESSIONS,), even_in_maintenance=True)
def sign_in_with_code() -> ResponseReturnValue:
    """The second step, if it is on: a code from the authenticator, or a recovery code."""
    form, pending = forms.CodeForm(), _pending()
    target = own_path(request.form.get("next"))
    if not form.validate_on_submit():
        return _code_page(form, pending, target)
    try:
        result = service.finish(pending, form.values["code"], current_key(), current_browser())
    except TooManyRequests as error:
        return _too_early(error, form, lambda: _code_page(form, pending, target))
    if result is None:
        form.show([("", "This code is wrong or was already used. Enter the next one.")])
        return _code_page(form, pending, target)
    return _let_in(result, target)


@bp.form("/set-up/<secret>", needs=Access.PUBLIC, keeps=(SESSIONS,))
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

    if submit(form, set_password):
        return _first_entry(account, "Password set. You’re signed in.", link)
    return show_form("access/auth/set_up.html", form, account=account, has_tokens=held > 0)


@bp.form("/first-admin/<secret>", needs=Access.PUBLIC, keeps=(SESSIONS,))
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

    if account := submit(form, create):
        return _first_entry(account, "Welcome. You’re the first Admin of this Flagstaff.")
    return show_form("access/auth/first_admin.html", form)


def _first_entry(
    account: Account, words: str, link: SetupLink | None = None
) -> ResponseReturnValue:
    """Sign in someone who has just set a password, with ``link`` if there was one."""
    settings = current_settings()
    if not service.may_use_password(account.label, account.role, settings):
        flash(f"Password set. It isn’t used here: sign in with {settings.sign_on_name}.", "ok")
        return redirect_to(".sign_in")
    result = service.begin_session(account, current_browser())
    if isinstance(result, PendingSecondFactor):
        flash("Password set. One step is left.", "ok")
        return _code_page(forms.CodeForm(empty=True), result, "/")
    identity.begin(result.secret)
    flash(words, "ok")
    _flash_new_links(account, but=link)
    return redirect_to_path("/")


def _too_early(
    error: TooManyRequests, form: SchemaForm, page: Callable[[], tuple[str, int]]
) -> ResponseReturnValue:
    form.show([("", error.message)])
    note(LogEntry(SecurityKind.SIGN_IN_FAILED, request.remote_addr, detail="too many attempts"))
    return page()[0], error.status, error.headers


def _let_in(result: SignInResult, target: str) -> ResponseReturnValue:
    """Start the session after a password, and continue to the page that was asked for."""
    account = result.account
    if not current_settings().password_sign_in:
        admin = Actor(account.id, account.label, account.role, ip=request.remote_addr)
        events.record(admin, EventType.BREAK_GLASS_SIGN_IN, data={"name": account.label})
    return enter(result, target, _kept_fields())


def enter(result: SignInResult, target: str, typed: Fields | None = None) -> Response:
    """Give the browser its session, and continue to ``target`` with what was typed there."""
    identity.begin(result.secret)
    flash(_greeting(result), "ok")
    _flash_new_links(result.account)
    if typed:
        target = with_kept_form(target, sessions.keep_form(result.secret, typed))
    return redirect_to_path(target)


def ask_to_sign_in() -> ResponseReturnValue:
    """Redirect to the sign-in page, or show it with the fields of a form that was sent."""
    if request.method != "POST":
        here = this_address()
        if here == "/":
            return redirect_to_path("/sign-in")
        return redirect_to("sign_in_pages.sign_in", next=own_path(here))
    typed = typed_on_this_site()
    if typed and current_settings().has_provider:
        cookies.put(form_address(), typed)
    page, _status = _sign_in_page(forms.SignInForm(empty=True), form_address(), typed)
    return page, SignInRequired.status


def typed_on_this_site() -> Fields | None:
    """The fields of the form that was sent, if a page of this site sent it."""
    return browsers.typed_fields() if origins.is_own_form() else None


def _ask_for_proof(needed: PasswordRequired) -> ResponseReturnValue:
    """Ask the signed-in person to prove who they are, and keep what they typed.

    With a password: show the form again with one more field, which completes the action.
    """
    if current_actor.proof is Proof.PROVIDER:
        return _lead_to_provider(needed), needed.status
    typed = [(name, value) for name, values in browsers.typed_fields().items() for value in values]
    page = render_template(
        "access/auth/confirm.html",
        typed=typed,
        needed=needed,
        field=CONFIRMATION_FIELD,
        back=request.script_root + form_address(),
    )
    return page, needed.status


def _lead_to_provider(needed: PasswordRequired) -> str:
    keep = partial(browsers.current_browsers().keep, browsers.typed_fields())
    back = with_kept_form(form_address(), transact(keep, writes=True))
    return render_template(
        "access/auth/confirm_there.html",
        needed=needed,
        target=back,
        back=request.script_root + form_address(),
    )


def _code_page(form: SchemaForm, pending: PendingSecondFactor, target: str) -> tuple[str, int]:
    return show_form(
        "access/auth/code.html",
        form,
        pending=_pending_signer().dumps([pending.account_id, pending.mark]),
        target=target,
        kept=request.form.get("kept"),
    )


def _pending() -> PendingSecondFactor:
    """The sign-in that waits for its code, from the signed field of the previous page."""
    try:
        account_id, mark = _pending_signer().loads(
            request.form.get("pending", ""), max_age=CODE_SECONDS
        )
    except BadSignature:
        raise Invalid("You took too long to sign in. Start again.") from None
    return PendingSecondFactor(account_id, mark)


def _pending_signer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_key(), salt="sign-in waiting for a code")


def _sign_in_page(form: SchemaForm, target: str, typed: Fields | None = None) -> tuple[str, int]:
    settings = current_settings()
    page = render_template(
        "access/auth/sign_in.html",
        form=form,
        target=target,
        kept=json.dumps(typed) if typed else None,
        is_lost=typed is not None and settings.has_provider and not cookies.fits(typed),
        settings=settings,
        has_users=_has_users(),
        asks_password=settings.password_sign_in or form.problems or "password" in request.args,
    )
    return page, 400 if form.problems else 200


def _has_users() -> bool:
    known: dict[str, Any] = current_app.extensions
    if not known.get(HAS_USERS):
        try:
            known[HAS_USERS] = first_admin.has_users()
        except SQLAlchemyError:
            return True  # the page needs no database to be shown
    return bool(known[HAS_USERS])


def _kept_fields() -> Fields | None:
    """The form fields that the sign-in page carried; None if they are malformed."""
    try:
        fields = strict_json.loads(request.form.get("kept", "").encode())
        return {str(name): [str(value) for value in values] for name, values in fields.items()}
    except (ValueError, AttributeError, TypeError):
        return None


def _greeting(result: SignInResult) -> str:
    if result.last_at is None:
        return "Welcome. This is your first sign-in."
    at = _exact(result.last_at)
    words = f"Last sign-in {at}{f' from {result.last_ip}' if result.last_ip else ''}"
    if result.failed_since:
        failed = result.failed_since
        words += f", {failed} failed attempt{'' if failed == 1 else 's'} since"
    return f"{words}."


def _flash_new_links(account: Account, but: SetupLink | None = None) -> None:
    for link in links.news(account.id):
        if link is not but:
            flash(_about_link(link), "warn")


def _about_link(link: SetupLink) -> str:
    """A message for the owner of an account about a link to set its password."""
    created = f"{link.maker} created a link to set your password on {_exact(link.created_at)}."
    if link.used_at is None:
        return f"{created} It was not used."
    source = f" from {link.used_ip}" if link.used_ip else ""
    return f"{created} Your password was set with it on {_exact(link.used_at)}{source}."


def _exact(at: datetime) -> str:
    return moment(at).striptags()


def current_browser() -> Browser:
    return Browser(
        ip=request.remote_addr,
        user_agent=request.headers.get("User-Agent", ""),
        idle_hours=current_settings().session_hours,
    )
