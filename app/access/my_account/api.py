from typing import Any

from flask import Response

from app.access.groups import service as groups
from app.access.my_account import schemas, service
from app.access.my_account.models import FEEDBACK, SPLASHES, Feedback, Splash
from app.accounts import service as accounts
from app.accounts.mails import service as mails
from app.accounts.mails.models import MailKind
from app.accounts.tokens import schemas as token_schemas
from app.accounts.tokens import service as tokens
from app.accounts.tokens.models import TOKENS, Issued, Token
from app.accounts.tokens.secrets import TokenKind
from app.core.paging import Page
from app.core.permissions import Access, Role
from app.core.quotas import NOTHING
from app.web.current import current_actor, current_settings
from app.web.listing import PageQuery, whole
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "me", __name__, url_prefix="/api/admin", description="The calling account itself."
)


@bp.get("/user", needs=Access.SIGNED_IN, snapshot=False)
@bp.response(200, schemas.Overview)
def show() -> service.AccountOverview:
    """Get the calling user's details"""
    return service.overview(current_actor)


@bp.post("/user/change-password", needs=Access.SIGNED_IN, keeps=NOTHING, refuses=(429,))
@bp.arguments(
    schemas.OwnPassword,
    example={"oldPassword": "the current one", "newPassword": "four words no one can guess"},
)
@bp.response(200)
def change_password(data: dict[str, Any]) -> Response:
    """Change the calling user's password

    With `revokeTokens`, the token of this request stops working too.
    """
    service.change_password(
        current_actor,
        old=data["old_password"],
        new=data["new_password"],
        shortest=current_settings().password_min,
        revoke_tokens=data["revoke_tokens"],
    )
    return no_body()


@bp.get("/user/profile", needs=Access.SIGNED_IN)
@bp.response(200, schemas.Profile)
def show_profile() -> dict[str, Any]:
    """Get the calling account's role, projects and groups"""
    account = accounts.find(current_actor.account_id)
    return {
        "root_role": current_actor.role,
        "projects": sorted(current_actor.project_roles),
        "groups": groups.of_account(current_actor.account_id),
        "can_change_password": account is not None and account.password_hash is not None,
    }


@bp.get("/user/roles", needs=Access.SIGNED_IN)
@bp.arguments(schemas.RoleQuery, location="query")
@bp.response(200, schemas.Roles)
def show_roles(query: dict[str, str]) -> dict[str, list[Role]]:
    """Get the calling account's roles"""
    in_project = current_actor.project_roles.get(query.get("project_id", ""))
    return {"roles": [current_actor.role, *([in_project] if in_project else [])]}


@bp.get("/user/time-zone", needs=Access.SIGNED_IN)
@bp.response(200, schemas.ReadTimeZone)
def show_time_zone() -> dict[str, str | None]:
    """Get the time zone in which the calling account reads times on pages

    null before one was chosen; times are in UTC then. All times of the API are in UTC.
    """
    return {"time_zone": service.time_zone(current_actor)}


@bp.put("/user/time-zone", needs=Access.SIGNED_IN, keeps=NOTHING)
@bp.arguments(schemas.TimeZone, example={"timeZone": "Europe/Stockholm"})
@bp.response(200)
def set_time_zone(data: dict[str, str]) -> Response:
    """Set the time zone in which the calling account reads times on pages"""
    service.set_time_zone(current_actor, data["time_zone"])
    return no_body()


@bp.get("/user/mail", needs=Access.SIGNED_IN)
@bp.response(200, schemas.MailChoices)
def show_mail() -> dict[str, list[MailKind]]:
    """Get what the calling account gets mail about"""
    return {"kinds": mails.wanted(current_actor.account_id)}


@bp.put("/user/mail", needs=Access.SIGNED_IN, keeps=NOTHING)
@bp.arguments(schemas.MailChoices, example={"kinds": ["reviews"]})
@bp.response(200)
def choose_mail(data: dict[str, list[MailKind]]) -> Response:
    """Choose what the calling account gets mail about

    It gets none about what is left out.
    """
    mails.choose(current_actor.account_id, data["kinds"])
    return no_body()


@bp.get("/user/tokens", needs=Access.SIGNED_IN)
@bp.arguments(whole(PageQuery), location="query")
@bp.response(200, schemas.OwnTokens)
def index_tokens(page: dict[str, int]) -> Page[Token]:
    """List the calling account's tokens"""
    return tokens.search(current_actor.account_id, **page)


@bp.post("/user/tokens", needs=Access.SIGNED_IN, keeps=(TOKENS,), answers_with_secret=True)
@bp.arguments(token_schemas.NewToken, example={"description": "my laptop"})
@bp.response(201, token_schemas.CreatedToken)
def create_token(data: dict[str, Any]) -> Issued[Token]:
    """Create a personal token

    This response is the only one that contains the secret.
    """
    owner = service.person(current_actor)
    return tokens.issue(current_actor, owner.id, TokenKind.PERSONAL, **data)


@bp.delete("/user/tokens/<id:token_id>", needs=Access.SIGNED_IN)
@bp.response(200)
def revoke_token(token_id: int) -> Response:
    """Revoke one of the calling account's tokens"""
    tokens.revoke(current_actor, current_actor.account_id, token_id)
    return no_body()


@bp.post("/feedback", needs=Access.SIGNED_IN, keeps=(FEEDBACK,))
@bp.arguments(schemas.NewFeedback, example={"feedbackId": "bulk-tags", "neverShow": True})
@bp.response(200, schemas.FeedbackRow, etag=True)
def give_feedback(data: dict[str, Any]) -> Feedback:
    """Answer a survey, or decline it"""
    return service.give_feedback(current_actor, **data)


@bp.get("/feedback/<key:feedback_id>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.FeedbackRow, etag=True)
def show_feedback(feedback_id: str) -> Feedback:
    """Read the calling account's answer to a survey"""
    return service.feedback(current_actor, feedback_id)


@bp.put("/feedback/<key:feedback_id>", needs=Access.SIGNED_IN, keeps=(FEEDBACK,), refuses=(412,))
@bp.arguments(schemas.FeedbackChanges, example={"given": "2026-11-21T09:30:00.000Z"})
@bp.response(200, schemas.FeedbackRow, etag=True)
def change_feedback(data: dict[str, Any], feedback_id: str) -> Feedback:
    """Change an answer; fields that are left out keep their value"""
    current = service.find_feedback(current_actor, feedback_id, for_change=True)
    check_if_match(schemas.FeedbackRow, current)
    return service.give_feedback(current_actor, feedback_id, **data)


@bp.post("/splash/<key:splash_id>", needs=Access.SIGNED_IN, keeps=(SPLASHES,))
@bp.response(200, schemas.SplashDetail)
def see_splash(splash_id: str) -> Splash:
    """Record that a notice was seen"""
    return service.see_splash(current_actor, splash_id)
