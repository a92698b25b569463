"""My account: what a person sees and changes about themselves."""

from dataclasses import dataclass

from flask import current_app, flash, json, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.access.auth import attempts, second_factor
from app.access.groups import sources
from app.access.my_account import schemas, service
from app.access.my_account.forms import MailForm, PasswordForm, TimeZoneForm
from app.access.security_log.models import SecurityKind
from app.access.security_log.requests import record
from app.accounts import links, pages
from app.accounts.mails import service as mails
from app.accounts.mails.models import MailKind
from app.accounts.sessions import service as sessions
from app.accounts.sessions.service import browser_name
from app.accounts.tokens import service as tokens
from app.accounts.tokens.forms import TokenForm
from app.accounts.tokens.models import TOKENS
from app.accounts.tokens.secrets import TokenKind
from app.catalogue.projects import service as projects
from app.core.clock import zones
from app.core.permissions import (
    GRANTS,
    ON_PROJECTS,
    Access,
    Permission,
    Role,
)
from app.core.quotas import NOTHING
from app.core.words import spoken
from app.web.browsers import require_password
from app.web.current import current_actor, current_key, current_settings
from app.web.forms import flash_errors, show_form, submit, submitted
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint
from app.web.templating import THEME_COOKIE, THEMES

bp = PageBlueprint("account_pages", __name__, url_prefix="/account")

YEAR = 31_536_000
SIGN_INS_SHOWN = 20
ALL = 1_000
THEME_CHOICES = (("", "Match system"), ("light", "Light"), ("dark", "Dark"))


@dataclass(frozen=True, slots=True)
class PermissionAnswer:
    """An answer to "Can I …?": the source of the permission, or what is missing."""

    permission: Permission
    project: str | None
    source: str | None
    held: str
    mode: str | None
    owners: list[str]

    @property
    def missing(self) -> str:
        """The end of the sentence that begins with ``Needs CREATE_FEATURE``."""
        if self.project is None:
            return "."
        return (
            f" in {self.project}. The project is {self.mode}, and you are {self.held} there. "
            "Your root role doesn’t include this permission."
        )

    @property
    def who_can_grant(self) -> str:
        if not self.owners:
            return "An Admin can give it to you."
        owners = "Owner" if len(self.owners) == 1 else "Owners"
        return f"{spoken(self.owners)} ({owners}) or an Admin can give it to you."


@bp.get("", needs=Access.SIGNED_IN)
def show() -> str:
    """My details and tokens, and what the API returns about me."""
    overview = service.overview(current_actor)
    return render_template(
        "access/my_account/show.html",
        account=service.person(current_actor),
        tokens=tokens.search(current_actor.account_id, limit=ALL, offset=0),
        overview=overview,
        as_json=json.dumps(schemas.Overview().dump(overview), indent=2, sort_keys=False),
        theme_choices=THEME_CHOICES,
        zones=zones(),
        mail_kinds=MailKind if current_settings().mail_url else (),
        wanted=mails.wanted(current_actor.account_id),
    )


@bp.form("/password", needs=Access.SIGNED_IN, keeps=NOTHING)
def change_password() -> ResponseReturnValue:
    """Change the password; other sessions end."""
    account = service.person(current_actor)
    held = tokens.count(account.id)
    form = PasswordForm(tokens=held)

    def change() -> None:
        service.change_password(
            current_actor,
            old=form.values["old_password"],
            new=form.values["new_password"],
            shortest=current_settings().password_min,
            revoke_tokens=form.values["revoke_tokens"],
        )

    if submitted(form, change):
        ended = "sessions and tokens" if form.values["revoke_tokens"] else "sessions"
        flash(f"Password changed. Your other {ended} have ended.", "ok")
        return redirect_to(".show")
    return show_form("access/my_account/password.html", form, account=account, has_tokens=held > 0)


@bp.form("/tokens/new", needs=Access.SIGNED_IN, keeps=(TOKENS,))
def new_token() -> ResponseReturnValue:
    """Create a personal token; only this response shows its secret."""
    require_password("create a personal token")
    form, owner = TokenForm(), service.person(current_actor)
    issued = submit(
        form, lambda: tokens.issue(current_actor, owner.id, TokenKind.PERSONAL, **form.values)
    )
    if issued:
        return pages.secret_page(issued, owner.called, back=("My account", url_for(".show")))
    return show_form("access/my_account/new_token.html", form)


@bp.form("/tokens/<id:token_id>/revoke", needs=Access.SIGNED_IN, keeps=NOTHING)
def revoke_token(token_id: int) -> ResponseReturnValue:
    """Revoke a token, after a page that shows what it is."""
    return pages.revoke_token(
        current_actor.account_id,
        token_id,
        above=[("My account", url_for(".show"))],
        api_path=f"/api/admin/user/tokens/{token_id}",
    )


@bp.get("/permissions", needs=Access.SIGNED_IN)
def permissions() -> str:
    """My permissions with their sources, and "Can I …?"."""
    visible = projects.search(current_actor, archived=False, limit=ALL, offset=0).items
    origins = sources.of_account(current_actor.account_id)
    held = [
        (permission, project or "", _source(permission, project, origins))
        for permission, project in current_actor.permissions()
    ]
    return render_template(
        "access/my_account/permissions.html",
        held=held,
        choices=[(permission, permission.words) for permission in Permission],
        names={project.id: project.name for project in visible},
        answer=_answer(),
        account=service.person(current_actor),
    )


@bp.get("/security", needs=Access.SIGNED_IN)
def show_security() -> str:
    """My password, two-step sign-in, sessions and attempts to sign in."""
    return render_template(
        "access/my_account/security.html",
        has_second_step=second_factor.is_on(current_actor.account_id),
        sessions=[
            (each, browser_name(each.user_agent or ""))
            for each in sessions.of_account(current_actor.account_id)
        ],
        history=attempts.history(current_actor.account_id, limit=SIGN_INS_SHOWN),
        password_links=links.of_account(current_actor.account_id, limit=SIGN_INS_SHOWN),
        shown=SIGN_INS_SHOWN,
    )


@bp.get("/sessions", needs=Access.SIGNED_IN)
def show_sessions() -> Response:
    """The address of Security before it had more than sessions."""
    return redirect_to(".show_security")


@bp.post("/sessions", needs=Access.SIGNED_IN, keeps=NOTHING, even_in_maintenance=True)
def sign_out_others() -> Response:
    """End all my other sessions."""
    sessions.close_all([current_actor.account_id], but=current_actor.session_id)
    record(SecurityKind.OTHER_SESSIONS_ENDED)
    flash("You’re signed out everywhere else.", "ok")
    return redirect_to(".show_security")


@bp.post("/time-zone", needs=Access.SIGNED_IN, keeps=NOTHING, even_in_maintenance=True)
def set_time_zone() -> Response:
    """Set the time zone in which I read times; a script sends that of the browser at first."""
    form, back = TimeZoneForm(), redirect_to(".show")
    if not submitted(form, lambda: service.set_time_zone(current_actor, form.values["time_zone"])):
        return flash_errors(form, back)
    if "by-script" not in request.form:
        flash("Time zone saved.", "ok")
    return back


@bp.post("/mail", needs=Access.SIGNED_IN, keeps=NOTHING)
def choose_mail() -> Response:
    """Choose what I get mail about."""
    form, back = MailForm(), redirect_to(".show")
    if not submitted(form, lambda: mails.choose(current_actor.account_id, form.values["kinds"])):
        return flash_errors(form, back)
    flash("Mail saved.", "ok")
    return back


@bp.form("/mail/stop/<secret>", needs=Access.PUBLIC, keeps=NOTHING)
def stop_mail(secret: str) -> ResponseReturnValue:
    """Stop mail of one kind, with a link that is in each such mail."""
    account, kind = mails.read_stop(secret, current_key())
    if request.method == "POST":
        mails.stop(account.id, kind)
    is_stopped = kind not in mails.wanted(account.id)
    return render_template(
        "access/my_account/stop_mail.html", account=account, kind=kind, is_stopped=is_stopped
    )


@bp.post("/theme", needs=Access.SIGNED_IN, keeps=NOTHING, even_in_maintenance=True)
def choose_theme() -> Response:
    """Set the theme of this browser: light, dark, or matching the system."""
    answer = redirect_to(".show")
    chosen = request.form.get("theme", "")
    path = current_app.config["SESSION_COOKIE_PATH"]
    if chosen in THEMES:
        answer.set_cookie(
            THEME_COOKIE,
            chosen,
            max_age=YEAR,
            path=path,
            secure=current_settings().is_https,
            httponly=True,
            samesite="Lax",
        )
    else:
        answer.delete_cookie(THEME_COOKIE, path=path)
    return answer


def _source(
    permission: Permission,
    project_id: str | None,
    known: dict[str, list[sources.Source]] | None = None,
) -> str | None:
    """Which role grants the permission, and where that role comes from; None if none does.

    ``known``: the sources of the reader's roles, if they were read already.
    """
    role = current_actor.source(permission, project_id)
    if role is None:
        return None
    if known is None:
        known = sources.of_account(current_actor.account_id)
    everywhere = permission in GRANTS[current_actor.role]
    place = "" if everywhere or project_id not in current_actor.project_roles else project_id
    return f"{role}, {sources.describe(known.get(place or '', []))}"


def _answer() -> PermissionAnswer | None:
    """The answer to the question in the address; None without a valid question."""
    permission = Permission.__members__.get(request.args.get("may", ""))
    if permission is None:
        return None
    project_id = request.args.get("project") or None
    if permission not in ON_PROJECTS or project_id is None:
        return PermissionAnswer(permission, None, _source(permission, None), "", None, [])
    overview = projects.overview(current_actor, project_id)
    role = current_actor.project_roles.get(project_id)
    return PermissionAnswer(
        permission,
        overview.project.name,
        _source(permission, project_id),
        f"{'an' if role is Role.OWNER else 'a'} {role.title}" if role else "not a member",
        overview.project.mode.value,
        [owner.called for owner in overview.owners],
    )
