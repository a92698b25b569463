"""Every component of the pages once, in each of its states; for those who work on them.

It is there in development only, that is with ``FLASK_DEBUG=1``.
"""

from flask import render_template
from wtforms import SelectField, StringField, TextAreaField

from app.core.paging import Page
from app.core.permissions import Access
from app.web.conflicts import FieldConflict
from app.web.forms import SchemaForm
from app.web.routes import PageBlueprint
from app.web.schemas import Key, Multiline, Schema, SingleLine

bp = PageBlueprint("styleguide", __name__)

GROUNDS = ("accent", "ok", "warn", "bad", "ink", "ink-soft", "ink-faint", "line-strong", "line")


class _Sample(Schema):
    name = SingleLine(high=255, required=True)
    id = Key(required=True)
    description = Multiline(low=0, high=5_000, allow_none=True)
    role = SingleLine(high=20)


class _SampleForm(SchemaForm):
    schema = _Sample

    name = StringField("Name", description="People see it in lists.")
    id = StringField("Project id", description="It can’t be changed later.")
    description = TextAreaField("Description")
    role = SelectField("Role", choices=["Editor", "Viewer"])


@bp.get("/styleguide", needs=Access.SIGNED_IN)
def show() -> str:
    """Draw them with the macros that the pages use."""
    form = _SampleForm(data={"name": "Payments", "id": "pay ments"})
    form.validate()
    conflicts = [
        FieldConflict("mode", "Mode", "open", "protected", "private"),
        FieldConflict("stickiness", "Stickiness", "default", "accountId", "default"),
    ]
    return render_template(
        "portal/help/styleguide.html",
        form=form,
        conflicts=conflicts,
        swatches=GROUNDS,
        page=Page([None] * 50, 212, limit=50, offset=50),
    )
