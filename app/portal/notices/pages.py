from flask import flash, render_template
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response
from wtforms import StringField

from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.portal.event_log.pages import rows_of
from app.portal.notices import schemas, service
from app.web.current import current_actor
from app.web.forms import SchemaForm, flash_errors, submitted
from app.web.listing import NewestQuery, read_query
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("notice_pages", __name__, url_prefix="/notices")


class ReadForm(SchemaForm):
    schema = schemas.ReadUpTo

    event_id = StringField("Up to")


@bp.get("", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """What others did to what the reader owns or follows, newest first."""
    query = read_query(NewestQuery)
    found = service.read(current_actor, **query.values)
    rows = rows_of([notice.act for notice in found.notices])
    return render_template(
        "portal/notices/index.html",
        query=query,
        followed=found.followed,
        rows=[(row, one.is_unread) for row, one in zip(rows, found.notices, strict=True)],
        older=found.older,
    )


@bp.post("/read", needs=Access.SIGNED_IN, keeps=NOTHING)
def mark_read() -> Response:
    """Mark those as read that the reader has seen, and all before them."""
    form, back = ReadForm(), redirect_to(".index")
    if not submitted(form, lambda: service.mark_read(current_actor, **form.values)):
        return flash_errors(form, back)
    flash("All notices marked as read.", "ok")
    return back
