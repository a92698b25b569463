from flask import render_template

from app.core.settings import current_settings
from app.tokens.service import IssuedToken


def secret_page(issued: IssuedToken, owner: str, *, back: tuple[str, str]) -> str:
    """The one page that has the secret of a new token. ``back``: the page before, by name."""
    base = current_settings().address("")
    return render_template("tokens/secret.html", issued=issued, owner=owner, back=back, base=base)
