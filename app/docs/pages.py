from flask import render_template

from app.core.blueprints import PageBlueprint
from app.core.permissions import Access

bp = PageBlueprint("home", __name__)


@bp.get("/", needs=Access.PUBLIC)
def index() -> str:
    """What this is, and where its API is described."""
    return render_template("home/index.html")
