from collections.abc import Callable

from flask import Flask, flash, json, render_template, request
from flask.typing import ResponseReturnValue
from itsdangerous import BadSignature, URLSafeTimedSerializer

from app.accounts import passwords
from app.accounts.models import Account
from app.auth import first_admin, forms, identity, service
from app.auth.service import HalfWay, Welcome
from app.core import pages, strict_json
from app.core.actor import Actor
from app.core.db import transact
from app.core.errors import Invalid, TooManyRequests
from app.core.forms import SchemaForm, attempt, show_form
from app.core.pages import (
    PROOF_FIELD,
    Fields,
    PageBlueprint,
    ProofNeeded,
    SignInNeeded,
    go_to,
    own_path,
)
from app.core.permissions import Access
from app.core.settings import current_key, current_settings
from app.core.templating import moment
from app.sessions import service as sessions
from app.sessions.service import Browser

bp = PageBlueprint("auth", __name__)

CODE_SECONDS = 600
"""For so long a right password waits for its code."""


def init_app(app: Flask) -> None:
    app.register_error_handler(SignInNeeded, _ask_to_sign_in)
    app.register_error_handler(ProofNeeded, _ask_for_proof)


@bp.get("/sign-in", needs=Access.PUBLIC)
def sign_in() -> ResponseReturnValue:
    """Ask for name and password."""
    return _sign_in_page(forms.SignInForm(), own_path(request.args.get("next")))


@bp.route("/sign-in", methods=["POST"], needs=Access.PUBLIC, in_steps=True)
def enter() -> ResponseReturnValue:
    """Begin a session and lead to where the person wanted to go, with what he had typed."""
    form = forms.SignInForm()
    target = own_path(request.form.get("next"))
    if not form.validate_on_submit():
        return _sign_in_page(form, target, _kept_fields())
    try:
        welcome = service.sign_in(form.values["name"], form.values["password"], _browser())
    except TooManyRequests as error:
        return _too_early(error, form, lambda: _sign_in_page(form, target, _kept_fields()))
    if welcome is None:
        form.show([("", "The user name or the password is not right.")])
        return _sign_in_page(form, target, _kept_fields())
    if isinstance(welcome, HalfWay):
        return _code_page(forms.CodeForm(empty=True), welcome, target)
    return transact(lambda: _let_in(welcome, target), writes=True)


@bp.post("/sign-in/code", needs=Access.PUBLIC)
def enter_code() -> ResponseReturnValue:
    """The second step, for whom it is on: a code of his authenticator, or one for recovery."""
    form, half_way = forms.CodeForm(), _half_way()
    target = own_path(request.form.get("next"))
    if not form.validate_on_submit():
        return _code_page(form, half_way, target)
    try:
        welcome = service.finish(half_way, form.values["code"], current_key(), _browser())
    except TooManyRequests as error:
        return _too_early(error, form, lambda: _code_page(form, half_way, target))
    if welcome is None:
        form.show([("", "This code is not right, or was used already. Try the next one.")])
        return _code_page(form, half_way, target)
    return _let_in(welcome, target)


@bp.post("/sign-out", needs=Access.SIGNED_IN)
def sign_out() -> ResponseReturnValue:
    """End the session, here and in every copy of its cookie."""
    identity.end()
    flash("You are signed out.", "ok")
    answer = pages.see("auth.sign_in")
    answer.headers["Clear-Site-Data"] = '"cache"'
    return answer


@bp.route("/set-up/<secret>", methods=["GET", "POST"], needs=Access.PUBLIC)
def set_up(secret: str) -> ResponseReturnValue:
    """Let the holder of a one-time link set the password of the account it was made for."""
    account = passwords.account_of_link(secret)
    form = forms.NewPasswordForm()
    actor = Actor(id=account.id, username=account.label, role=account.role, ip=request.remote_addr)

    def set_password() -> Account:
        passwords.set_by_link(
            actor,
            account,
            password=form.values["new_password"],
            shortest=current_settings().password_min,
        )
        return account

    if attempt(form, set_password):
        return _first_entry(account, "Your password is set, and you are signed in.")
    return show_form("auth/set_up.html", form, account=account)


@bp.route("/first-admin/<secret>", methods=["GET", "POST"], needs=Access.PUBLIC)
def make_first_admin(secret: str) -> ResponseReturnValue:
    """Let the holder of the link that the first start printed become the first Admin."""
    first_admin.check(secret)
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
        return _first_entry(account, "You are the first Admin of this instance. Welcome.")
    return show_form("auth/first_admin.html", form)


def _first_entry(account: Account, words: str) -> ResponseReturnValue:
    welcome = service.begin_session(account, _browser())
    if isinstance(welcome, HalfWay):
        flash("Your password is set; one step is left.", "ok")
        return _code_page(forms.CodeForm(empty=True), welcome, "/")
    identity.begin(welcome.secret)
    flash(words, "ok")
    return go_to("/")


def _too_early(
    error: TooManyRequests, form: SchemaForm, page: Callable[[], tuple[str, int]]
) -> ResponseReturnValue:
    form.show([("", f"{error.message} This is about too many attempts, not about you.")])
    return page()[0], error.status, error.headers


def _let_in(welcome: Welcome, target: str) -> ResponseReturnValue:
    """Lead to where the person wanted to go, with what he had typed."""
    identity.begin(welcome.secret)
    flash(_greeting(welcome), "ok")
    return go_to(_with_what_was_typed(target, welcome.secret))


def _ask_to_sign_in(_: SignInNeeded) -> ResponseReturnValue:
    """Lead to the sign-in page; what a form brought stays in that page until it is signed in."""
    if request.method != "POST":
        here = request.full_path.rstrip("?")
        return pages.see("auth.sign_in", next=own_path(here)) if here != "/" else go_to("/sign-in")
    page, _status = _sign_in_page(
        forms.SignInForm(empty=True), pages.way_back(), pages.typed_fields()
    )
    return page, SignInNeeded.status


def _ask_for_proof(needed: ProofNeeded) -> ResponseReturnValue:
    """The form once more, with the password in it: sent again, it does what it was to do."""
    typed = [(name, value) for name, values in pages.typed_fields().items() for value in values]
    page = render_template("auth/confirm.html", typed=typed, needed=needed, field=PROOF_FIELD)
    return page, needed.status


def _code_page(form: SchemaForm, half_way: HalfWay, target: str) -> tuple[str, int]:
    return show_form(
        "auth/code.html",
        form,
        half_way=_way().dumps([half_way.account_id, half_way.mark]),
        target=target,
        kept=request.form.get("kept"),
    )


def _half_way() -> HalfWay:
    """How far this browser has come, as the page before carried it."""
    try:
        account_id, mark = _way().loads(request.form.get("half_way", ""), max_age=CODE_SECONDS)
    except BadSignature:
        raise Invalid("This sign-in was begun too long ago; begin anew.") from None
    return HalfWay(account_id, mark)


def _way() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_key(), salt="the password was right")


def _sign_in_page(form: SchemaForm, target: str, kept: Fields | None = None) -> tuple[str, int]:
    page = render_template(
        "auth/sign_in.html", form=form, target=target, kept=json.dumps(kept) if kept else None
    )
    return page, 400 if form.problems else 200


def _kept_fields() -> Fields | None:
    """What had been typed before, as the sign-in page carried it; None if it is not as made."""
    try:
        fields = strict_json.loads(request.form.get("kept", "").encode())
        return {str(name): [str(value) for value in values] for name, values in fields.items()}
    except (ValueError, AttributeError, TypeError):
        return None


def _with_what_was_typed(target: str, secret: str) -> str:
    kept = _kept_fields()
    if not kept:
        return target
    return pages.with_kept(target, sessions.keep_form(secret, kept))


def _greeting(welcome: Welcome) -> str:
    if welcome.last_at is None:
        return "Welcome. This is your first sign-in with a password."
    at = moment(welcome.last_at).striptags()
    words = f"Last sign-in {at}{f' from {welcome.last_ip}' if welcome.last_ip else ''}"
    if welcome.failed_since:
        failed = welcome.failed_since
        words += f", {failed} failed attempt{'' if failed == 1 else 's'} since"
    return f"{words}."


def _browser() -> Browser:
    return Browser(
        ip=request.remote_addr,
        user_agent=request.headers.get("User-Agent", ""),
        idle_hours=current_settings().session_hours,
    )
