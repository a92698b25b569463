"""My account: signing in by two steps, for who wants it."""

import segno
from flask import flash, render_template
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from werkzeug.wrappers import Response

from app.auth import second_factor
from app.auth.forms import CodeForm
from app.core.actor import current_actor
from app.core.forms import attempt, show_form
from app.core.pages import PageBlueprint, proven, see
from app.core.permissions import Access
from app.core.settings import current_key
from app.me import service

bp = PageBlueprint("authenticator", __name__, url_prefix="/account/second-step")


@bp.get("", needs=Access.SIGNED_IN)
def show() -> ResponseReturnValue:
    """Off, begun, or on, and what can be done next."""
    return _page(CodeForm(empty=True))


@bp.post("", needs=Access.SIGNED_IN)
@proven
def begin() -> Response:
    """Make a secret for an authenticator; nothing else changes yet."""
    service.person(current_actor)
    second_factor.begin(current_actor)
    return see(".show")


@bp.post("/confirm", needs=Access.SIGNED_IN)
def confirm() -> ResponseReturnValue:
    """Turn it on for who has a code; the recovery codes are in this answer alone."""
    form = CodeForm()
    codes = attempt(
        form, lambda: second_factor.confirm(current_actor, form.values["code"], current_key())
    )
    return _page(form) if codes is None else _codes_page(codes, is_new=True)


@bp.post("/codes", needs=Access.SIGNED_IN)
@proven
def renew_codes() -> str:
    """Recovery codes in place of the old ones; they are in this answer alone."""
    return _codes_page(second_factor.new_codes(current_actor, current_key()), is_new=False)


@bp.post("/off", needs=Access.SIGNED_IN)
@proven
def turn_off() -> Response:
    """Let the password be enough again."""
    second_factor.turn_off(current_actor, service.person(current_actor))
    flash("Two-step sign-in is off; your password is enough again.", "ok")
    return see(".show")


def _page(form: CodeForm) -> ResponseReturnValue:
    account = service.person(current_actor)
    factor, key = second_factor.of(account.id), current_key()
    if factor is not None and factor.confirmed_at is None:
        form.code.description = "The six digits."
        return show_form(
            "me/second_step_begun.html",
            form,
            picture=_drawn(second_factor.address(factor, key, account.label)),
            secret=second_factor.secret(factor, key),
        )
    left = second_factor.codes_left(account.id)
    return render_template("me/second_step.html", factor=factor, codes_left=left)


def _codes_page(codes: list[str], *, is_new: bool) -> str:
    return render_template("me/recovery_codes.html", codes=codes, is_new=is_new)


def _drawn(address: str) -> Markup:
    """The address as a QR code, drawn by paths alone."""
    code = segno.make_qr(address, error="m")
    drawing: str = code.svg_inline(omitsize=True, svgclass="qr", lineclass=None, light="white")
    return Markup(drawing)  # noqa: S704 - squares and nothing else
