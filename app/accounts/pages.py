from zlib import crc32

from flask import Response, render_template

from app.core.pages import PageBlueprint
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
