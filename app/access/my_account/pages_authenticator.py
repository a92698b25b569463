"""My account: two-step sign-in."""

import segno
from flask import flash, render_template
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from werkzeug.wrappers import Response

from app.access.auth import second_factor
from app.access.auth.forms import CodeForm
from app.access.my_account import service
from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.web.browsers import require_password
from app.web.current import current_actor, current_key
from app.web.forms import show_form, submit
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("authenticator_pages", __name__, url_prefix="/account/second-step")


@bp.get("", needs=Access.SIGNED_IN)
def show() -> ResponseReturnValue:
    """Show whether two-step sign-in is off, being set up or on, and what to do next."""
    return _page(CodeForm(empty=True))


@bp.post("", needs=Access.SIGNED_IN, keeps=NOTHING)
def begin() -> Response:
    """Create a secret for an authenticator; nothing else changes yet."""
    require_password("set up two-step sign-in")
    service.person(current_actor)
    second_factor.begin(current_actor)
    return redirect_to(".show")


@bp.post("/confirm", needs=Access.SIGNED_IN, keeps=NOTHING)
def confirm() -> ResponseReturnValue:
    """Turn two-step sign-in on with a first code; only this response shows the recovery codes."""
    form = CodeForm()
    codes = submit(
        form, lambda: second_factor.confirm(current_actor, form.values["code"], current_key())
    )
    return _page(form) if codes is None else _codes_page(codes, is_new=True)


@bp.post("/codes", needs=Access.SIGNED_IN, keeps=NOTHING)
def renew_codes() -> str:
    """Replace the recovery codes; only this response shows the new ones."""
    require_password("create new recovery codes")
    return _codes_page(second_factor.new_codes(current_actor, current_key()), is_new=False)


@bp.post("/off", needs=Access.SIGNED_IN, keeps=NOTHING)
def turn_off() -> Response:
    """Turn two-step sign-in off."""
    require_password("turn off two-step sign-in")
    second_factor.turn_off(current_actor, service.person(current_actor))
    flash("Two-step sign-in turned off. You now sign in with your password alone.", "ok")
    return redirect_to(".show")


def _page(form: CodeForm) -> ResponseReturnValue:
    account = service.person(current_actor)
    factor, key = second_factor.of(account.id), current_key()
    if factor is not None and factor.confirmed_at is None:
        form.code.description = "The 6 digits from your authenticator app."
        return show_form(
            "access/my_account/second_step_begun.html",
            form,
            picture=_qr_code(second_factor.address(factor, key, account.label)),
            secret=second_factor.secret(factor, key),
        )
    left = second_factor.codes_left(account.id)
    return render_template("access/my_account/second_step.html", factor=factor, codes_left=left)


def _codes_page(codes: list[str], *, is_new: bool) -> str:
    return render_template("access/my_account/recovery_codes.html", codes=codes, is_new=is_new)


def _qr_code(address: str) -> Markup:
    """The address as a QR code in SVG paths."""
    code = segno.make_qr(address, error="m")
    drawing: str = code.svg_inline(omitsize=True, svgclass="qr", lineclass=None, light="white")
    return Markup(drawing)  # noqa: S704 - paths and nothing else
