from zlib import crc32

from flask import Response, current_app, render_template, request

from app.accounts import passwords
from app.core.actor import Actor
from app.core.blueprints import PageBlueprint
from app.core.errors import Invalid
from app.core.permissions import Access

HUES = 8
YEAR = 31_536_000

bp = PageBlueprint("accounts", __name__)


@bp.get("/avatars/<string(maxlength=2):initials>.svg", needs=Access.PUBLIC)
def avatar(initials: str) -> Response:
    """A picture of initials; it needs no sign-in since it tells no more than its address does."""
    hue = crc32(initials.encode()) % HUES + 1
    picture = render_template("accounts/avatar.svg", initials=initials, hue=hue)
    response = Response(picture, mimetype="image/svg+xml")
    response.cache_control.public = True
    response.cache_control.max_age = YEAR
    return response


@bp.route("/set-up/<secret>", methods=["GET", "POST"], needs=Access.PUBLIC)
def set_up(secret: str) -> str:
    """Let the holder of a one-time link set the password of the account it was made for.

    The link itself is what proves the sender's right, so a foreign page can't send this form.
    """
    account = passwords.account_of_link(secret)
    fault = None
    shortest = current_app.config["SETTINGS"].password_min
    if request.method == "POST":
        password = request.form.get("password", "")
        actor = Actor(
            id=account.id, username=account.label, role=account.role, ip=request.remote_addr
        )
        try:
            passwords.set_by_link(actor, account, password=password, shortest=shortest)
        except Invalid as error:
            fault = error.details[0]["message"] if error.details else error.message
        else:
            return render_template("accounts/set_up_done.html", account=account)
    return render_template("accounts/set_up.html", account=account, fault=fault, shortest=shortest)
