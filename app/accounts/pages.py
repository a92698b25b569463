from zlib import crc32

from flask import Response, render_template

from app.core.permissions import Access
from app.web.routes import PageBlueprint

COLOURS = (
    *("#0b6074", "#6b4fa3", "#9a4a12", "#2f6b2f"),
    *("#a3285f", "#2c5aa8", "#75610a", "#56656b"),
)
"""The light hues of static/css/tokens.css; white on them is easy to read."""
YEAR = 31_536_000

bp = PageBlueprint("avatar_pages", __name__)


@bp.get("/avatars/<string(maxlength=2):initials>.svg", needs=Access.PUBLIC)
def avatar(initials: str) -> Response:
    """A picture of initials. Public, because it shows nothing that its address doesn't."""
    colour = COLOURS[crc32(initials.encode()) % len(COLOURS)]
    picture = render_template("accounts/avatar.svg", initials=initials, colour=colour)
    response = Response(picture, mimetype="image/svg+xml")
    response.cache_control.public = True
    response.cache_control.max_age = YEAR
    return response
