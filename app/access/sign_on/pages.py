"""Signing in with the organisation’s provider or behind its proxy, and signing out."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from flask import Flask, current_app, flash, make_response, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.wrappers import Response

from app.access.auth import cookies as kept
from app.access.auth import identity
from app.access.auth import service as sign_ins
from app.access.auth.pages import ask_to_sign_in, current_browser, enter, typed_on_this_site
from app.access.security_log.models import SecurityKind
from app.access.security_log.requests import note, record
from app.access.security_log.service import LogEntry
from app.access.sign_on import cookies, people, persons
from app.access.sign_on.answers import SKEW_SECONDS, Claims, ProviderAway, ProviderError
from app.access.sign_on.cookies import Flow, Purpose
from app.access.sign_on.people import Person, SignOnRefused
from app.accounts import identities
from app.accounts.sessions import service as sessions
from app.accounts.sessions.service import Origin
from app.core.db import transact
from app.core.errors import DomainError
from app.core.logs import LOGGER
from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.web.browsers import Fields, SignInRequired, current_browsers
from app.web.current import admit, current_actor, current_settings
from app.web.redirects import form_address, own_path, redirect_to, redirect_to_path, this_address
from app.web.remote_user import remote_user
from app.web.routes import PageBlueprint

if TYPE_CHECKING:
    from app.access.sign_on.provider import Provider

T = TypeVar("T")

bp = PageBlueprint("sign_on_pages", __name__)


class SignOnFailed(DomainError):
    """The provider can’t be reached, or its answer fails a check."""

    name = "SignOnFailed"
    only_on_pages = True
    title = "Sign-in did not work"
    when = "The single sign-on provider is away, or gave an answer that can’t be believed."
    remedy = "Start again. If it happens again, an Admin can test the connection to the provider."

    def __init__(self, error: ProviderError) -> None:
        super().__init__(f"{str(error).rstrip('.')}. Nothing has changed.")
        if isinstance(error, ProviderAway):
            self.status = 503
            self.headers = {"Retry-After": "30"}


def init_app(app: Flask) -> None:
    if (settings := app.config["SETTINGS"]).has_provider:
        from app.access.sign_on.provider import Provider  # noqa: PLC0415 - see answers.py

        app.extensions["flagstaff.provider"] = Provider(settings)
    app.register_error_handler(SignInRequired, _meet)


def current_provider() -> "Provider":
    """The provider that the settings name.

    Raises:
        SignOnFailed: if they name none.

    """
    if not current_settings().has_provider:
        raise SignOnFailed(ProviderError("No single sign-on provider is set up here"))
    found: Provider = current_app.extensions["flagstaff.provider"]
    return found


@bp.route("/sign-in/provider", methods=["GET"], needs=Access.PUBLIC, writes=False, in_steps=True)
def begin() -> ResponseReturnValue:
    """Redirect to the provider, which leads back to the page in ``next``."""
    return send_away(Purpose.SIGN_IN, own_path(request.args.get("next")))


@bp.get("/sign-in/confirm", needs=Access.SIGNED_IN)
def confirm() -> ResponseReturnValue:
    """Redirect someone who is signed in to the provider, to sign in there once more."""
    target = own_path(request.args.get("next"))
    return send_away(Purpose.CONFIRM, target, current_actor.session_id)


@bp.route("/sign-in/callback", methods=["GET"], needs=Access.PUBLIC, writes=True, in_steps=True)
def arrive() -> ResponseReturnValue:
    """Check the provider’s answer, then sign in or continue what was begun."""
    flow = believed(lambda: cookies.take_flow(request.args.get("state", "")))
    answer = {name: value for name, value in request.args.items() if value}
    claims = believed(
        lambda: current_provider().claims(answer, nonce=flow.nonce, verifier=flow.verifier)
    )
    if flow.purpose is Purpose.SIGN_IN:
        return _sign_in(flow, claims)
    return transact(lambda: _go_on(flow, claims), writes=True)


@bp.post("/sign-out", needs=Access.SIGNED_IN, keeps=NOTHING, even_in_maintenance=True)
def sign_out() -> ResponseReturnValue:
    """End the session, so that no copy of its cookie works. Offer to sign out of the provider."""
    ended = sessions.get(current_actor.session_id or 0)
    id_token = ended.id_token if ended else None
    identity.end()
    record(SecurityKind.SIGN_OUT)
    settings = current_settings()
    there = None
    if id_token is not None and settings.has_provider:
        back = settings.address("/sign-in")
        there = current_provider().sign_out_address(id_token, back)
    if there is None:
        flash("You’re signed out.", "ok")
        answer = make_response(redirect_to("sign_in_pages.sign_in"))
    else:
        page = render_template("access/sign_on/signed_out.html", there=there, settings=settings)
        answer = make_response(page)
    answer.headers["Clear-Site-Data"] = '"cache"'
    return answer


def send_away(purpose: Purpose, target: str, session_id: int | None = None) -> Response:
    """Redirect to the provider, and keep the purpose in the cookie."""
    again = purpose is Purpose.CONFIRM
    outgoing = believed(lambda: current_provider().request(again=again))
    cookies.begin_flow(outgoing, purpose, target, session_id)
    answer = make_response("", 302)
    answer.headers["Location"] = outgoing.address
    return answer


def believed(ask: Callable[[], T]) -> T:
    """Return the result of ``ask``. Its failures go to the log and the security log.

    Raises:
        SignOnFailed: if the provider is away, or its answer fails a check.

    """
    try:
        return ask()
    except ProviderError as error:
        LOGGER.warning("single sign-on: %s", error)
        _note_failure(str(error))
        raise SignOnFailed(error) from None


def _sign_in(flow: Flow, claims: Claims) -> Response:
    person, typed = persons.by_provider(claims, current_settings()), kept.take(flow.target)
    return _let_in(person, flow.target, typed, claims)


def _let_in(
    person: Person, target: str, typed: Fields | None, claims: Claims | None = None
) -> Response:
    """Start a session for a person from the provider or the proxy."""

    def work() -> Response:
        account, known = people.account_of(person, current_settings(), request.remote_addr)
        origin = Origin(known.id)
        if claims is not None:
            origin = Origin(known.id, claims.session, claims.id_token)
        return enter(sign_ins.admit(account, current_browser(), origin), target, typed)

    try:
        return transact(work, writes=True)
    except SignOnRefused as error:
        _note_failure(error.message)
        raise


def _go_on(flow: Flow, claims: Claims) -> ResponseReturnValue:
    """Finish what someone who is signed in went to the provider for: confirm, link or try out."""
    # A stranger may call this route, so the session is checked here.
    admit(current_browsers().identify(), Access.SIGNED_IN, None)
    if flow.session != current_actor.session_id:
        raise SignOnRefused("You signed out or in again since then. Nothing has changed.")
    if flow.purpose is Purpose.CONFIRM:
        return _confirmed(flow, claims)
    person = persons.by_provider(claims, current_settings())
    if flow.purpose is Purpose.TRY:
        return render_template(
            "access/sign_on/tried.html",
            person=person,
            claims=claims.values,
            groups=people.groups_of(person),
            outcome=people.outcome(person, current_settings()),
            settings=current_settings(),
        )
    cookies.put_person(person)
    return redirect_to_path(flow.target)


def _confirmed(flow: Flow, claims: Claims) -> ResponseReturnValue:
    settings = current_settings()
    known = identities.find(settings.oidc_issuer or "", claims.subject)
    if known is None or known.account_id != current_actor.id:
        raise SignOnRefused(
            f"You signed in with {settings.sign_on_name} as someone else. Nothing has changed."
        )
    at = claims.signed_in_at
    if at is None or at < flow.started - SKEW_SECONDS:
        raise SignOnRefused(
            f"Sign-in with {settings.sign_on_name} did not ask who you are, so it proves nothing. "
            "Ask an Admin to have it honour prompt=login and send auth_time."
        )
    sessions.note_proof(current_actor.session_id or 0)
    flash("Your identity is confirmed. Check the form and send it again.", "ok")
    return redirect_to_path(flow.target)


def _meet(_: SignInRequired) -> Any:
    """Sign in the proxy’s user; without one, ask to sign in."""
    user = remote_user()
    if user is None:
        return ask_to_sign_in()
    is_form = request.method == "POST"
    target = form_address() if is_form else own_path(this_address())
    typed = typed_on_this_site() if is_form else None
    try:
        person = persons.by_proxy(
            user.subject, email=user.email, name=user.name, groups=user.groups
        )
        return _let_in(person, target, typed)
    except (DomainError, SQLAlchemyError) as error:
        # Flask doesn't handle errors that an error handler raises.
        return current_app.handle_user_exception(error)


def _note_failure(why: str) -> None:
    detail = f"single sign-on: {why}"
    note(LogEntry(SecurityKind.SIGN_IN_FAILED, request.remote_addr, detail=detail))
