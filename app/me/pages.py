"""My account: what a person sees and changes about himself."""

from dataclasses import dataclass

from flask import current_app, flash, json, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.auth import service as sign_ins
from app.core.actor import current_actor
from app.core.forms import ReasonForm, attempt, carry_out, show_form
from app.core.pages import PageBlueprint, proven, see
from app.core.permissions import ON_PROJECTS, PERMISSION_WORDS, Access, Permission
from app.core.settings import current_settings
from app.core.templating import THEME_COOKIE, THEMES
from app.me import schemas, service
from app.me.forms import PasswordForm
from app.projects import service as projects
from app.sessions import service as sessions
from app.tokens import service as tokens
from app.tokens.forms import TokenForm
from app.tokens.pages import secret_page
from app.tokens.secrets import TokenKind

bp = PageBlueprint("account_pages", __name__, url_prefix="/account")

YEAR = 31_536_000
SHOWN = 20
MOST = 1_000


@dataclass(frozen=True, slots=True)
class Answer:
    """To "Can I …?": by which role, or what is missing."""

    permission: Permission
    project: str | None
    source: str | None
    held: str
    mode: str | None
    owners: list[str]


@bp.get("", needs=Access.SIGNED_IN)
def show() -> str:
    """Who I am, my tokens, and the JSON that programs get of me."""
    overview = service.overview(current_actor)
    return render_template(
        "me/show.html",
        account=service.person(current_actor),
        tokens=tokens.search(current_actor.account_id, limit=MOST, offset=0),
        overview=overview,
        as_json=json.dumps(schemas.Overview().dump(overview), indent=2, sort_keys=False),
        themes=THEMES,
    )


@bp.route("/password", methods=["GET", "POST"], needs=Access.SIGNED_IN)
def change_password() -> ResponseReturnValue:
    """A new password; the other sessions end."""
    form, account = PasswordForm(), service.person(current_actor)

    def change() -> None:
        service.change_password(
            current_actor,
            old=form.values["old_password"],
            new=form.values["new_password"],
            shortest=current_settings().password_min,
        )

    if carry_out(form, change):
        flash("Your password is changed; your other sessions have ended.", "ok")
        return see(".show")
    return show_form("me/password.html", form, account=account)


@bp.route("/tokens/new", methods=["GET", "POST"], needs=Access.SIGNED_IN)
@proven
def new_token() -> ResponseReturnValue:
    """Create a personal token; its secret is in this answer alone."""
    form, owner = TokenForm(), service.person(current_actor)
    issued = attempt(
        form, lambda: tokens.issue(current_actor, owner.id, TokenKind.PERSONAL, **form.values)
    )
    if issued:
        return secret_page(issued, owner.called, back=("My account", url_for(".show")))
    return show_form("me/new_token.html", form)


@bp.route("/tokens/<id:token_id>/revoke", methods=["GET", "POST"], needs=Access.SIGNED_IN)
def revoke_token(token_id: int) -> ResponseReturnValue:
    """Stop a token at once, after a look at what it is."""
    form, token = ReasonForm(), tokens.get(current_actor.account_id, token_id)

    if carry_out(form, lambda: tokens.revoke(current_actor, current_actor.account_id, token_id)):
        flash(f"Token {token.description} is revoked; it stopped at once.", "ok")
        return see(".show")
    return show_form("tokens/revoke.html", form, token=token, is_own=True)


@bp.get("/permissions", needs=Access.SIGNED_IN)
def permissions() -> str:
    """What I may do with its sources, and "Can I …?"."""
    visible = projects.search(current_actor, archived=False, limit=MOST, offset=0).items
    held = [
        (permission, project or "", current_actor.source(permission, project))
        for permission, project in current_actor.permissions()
    ]
    return render_template(
        "me/permissions.html",
        held=held,
        words=PERMISSION_WORDS,
        projects=visible,
        names={project.id: project.name for project in visible},
        answer=_answer(),
        account=service.person(current_actor),
    )


@bp.get("/sessions", needs=Access.SIGNED_IN)
def show_sessions() -> str:
    """Where I am signed in, and who tried."""
    return render_template(
        "me/sessions.html",
        sessions=sessions.of_account(current_actor.account_id),
        history=sign_ins.history(current_actor.account_id, limit=SHOWN),
        shown=SHOWN,
    )


@bp.post("/sessions", needs=Access.SIGNED_IN)
def sign_out_others() -> Response:
    """End all my sessions but this one."""
    sessions.close_all([current_actor.account_id], but=current_actor.session_id)
    flash("You are signed out everywhere but here.", "ok")
    return see(".show_sessions")


@bp.get("/hints", needs=Access.SIGNED_IN)
def show_hints() -> str:
    """Questionnaires I answered and notices I have seen."""
    return render_template("me/hints.html", overview=service.overview(current_actor))


@bp.post("/hints", needs=Access.SIGNED_IN)
def reset_hints() -> Response:
    """Let all of them come again."""
    service.forget_hints(current_actor)
    flash("Questions will be asked and notices shown anew.", "ok")
    return see(".show_hints")


@bp.post("/theme", needs=Access.SIGNED_IN)
def choose_theme() -> Response:
    """Light, dark, or what the system says; for this browser."""
    answer = see(".show")
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


def _answer() -> Answer | None:
    """The answer to what the address asks; None if it asks nothing that there is."""
    try:
        permission = Permission(request.args.get("may", ""))
    except ValueError:
        return None
    project_id = request.args.get("project") or None
    if permission not in ON_PROJECTS or project_id is None:
        source = current_actor.source(permission)
        return Answer(permission, None, source, "", None, [])
    overview = projects.overview(current_actor, project_id)
    role = current_actor.project_roles.get(project_id)
    return Answer(
        permission,
        overview.project.name,
        current_actor.source(permission, project_id),
        role.title if role else "no member",
        overview.project.mode.value,
        [owner.called for owner in overview.owners],
    )
