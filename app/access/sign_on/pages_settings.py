"""Single sign-on for Admins: the settings, a test of the provider, and a trial sign-in."""

from flask import render_template, request
from flask.typing import ResponseReturnValue

from app.access.sign_on import checks
from app.access.sign_on.cookies import Purpose
from app.access.sign_on.pages import current_provider, send_away
from app.core.config import every_setting
from app.core.permissions import Permission
from app.web.current import current_actor, current_settings
from app.web.routes import PageBlueprint

bp = PageBlueprint("single_sign_on_pages", __name__, url_prefix="/single-sign-on")

SETTING_PREFIXES = ("OIDC_", "SIGN_ON_", "PASSWORD_SIGN_IN", "BREAK_GLASS_", "TRUSTED_PROXY")


@bp.get("", needs=Permission.ADMIN)
def show() -> ResponseReturnValue:
    """The settings without secrets and, if asked for, whether the provider answers."""
    settings = current_settings()
    asked = settings.has_provider and "test" in request.args
    return render_template(
        "access/sign_on/settings.html",
        rows=_rows(),
        settings=settings,
        checks=[
            *(checks.of_provider(current_provider()) if asked else ()),
            *checks.of_passwords(settings),
        ],
        asked=asked,
        callback=settings.address("/sign-in/callback"),
        back_channel=settings.address("/sign-in/back-channel"),
        after=settings.address("/sign-in"),
    )


@bp.get("/try", needs=Permission.ADMIN)
def try_out() -> ResponseReturnValue:
    """Sign in at the provider to see its claims. Nothing changes here."""
    return send_away(Purpose.TRY, "/single-sign-on", current_actor.session_id)


def _rows() -> list[tuple[str, str, str]]:
    """The name, the value and the meaning of each setting."""
    settings = current_settings()
    rows = []
    for name, setting in every_setting().items():
        if not name.removeprefix("FLAGSTAFF_").startswith(SETTING_PREFIXES):
            continue
        value = getattr(settings, name.removeprefix("FLAGSTAFF_").lower())
        rows.append((name, _in_words(name, value), setting.meaning))
    return rows


def _in_words(name: str, value: object) -> str:
    if name.endswith("_SECRET"):
        return "set" if value else ""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
