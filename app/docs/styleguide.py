"""Every component of the pages once, in each of its states; for those who work on them.

It is there in development only, that is with ``FLASK_DEBUG=1``.
"""

from flask import render_template
from wtforms import SelectField, StringField, TextAreaField

from app.core.conflicts import Side
from app.core.forms import SchemaForm
from app.core.pages import PageBlueprint
from app.core.paging import Page
from app.core.permissions import Access
from app.core.schemas import Key, Line, Prose, Schema

bp = PageBlueprint("styleguide", __name__)

GROUNDS = ("accent", "ok", "warn", "bad", "ink", "ink-soft", "ink-faint", "line-strong", "line")


class _Sample(Schema):
    name = Line(high=255, required=True)
    id = Key(required=True)
    description = Prose(low=0, high=5_000, allow_none=True)
    role = Line(high=20)


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
    sides = [
        Side("mode", "Mode", "open", "protected", "private", is_mine=True),
        Side("stickiness", "Stickiness", "default", "accountId", "default", is_mine=False),
    ]
    return render_template(
        "docs/styleguide.html",
        form=form,
        sides=sides,
        swatches=GROUNDS,
        page=Page([None] * 50, 212),
    )
