from collections.abc import Iterator
from typing import NamedTuple

from flask import current_app, render_template, url_for
from flask.typing import ResponseReturnValue

from app.catalogue.favourites import service as favourites
from app.catalogue.visits import service as visits
from app.core.permissions import Access, Permission
from app.core.reminders import HomeContext, Item
from app.delivery.sdk.source import Source
from app.portal.display import service as display
from app.portal.event_log.pages import rows_of
from app.portal.event_log.service import acts
from app.portal.home import overview
from app.web.current import current_actor, current_settings
from app.web.rooms import reminders
from app.web.routes import PageBlueprint

LATEST = 8

bp = PageBlueprint("home_pages", __name__)


class Step(NamedTuple):
    """What to do about an item, and where."""

    words: str
    href: str


@bp.get("/", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """What needs the reader, their projects, and what has changed."""
    steps, hidden = overview.first_steps(), display.hidden(current_actor, "home")
    marked = favourites.all_of(current_actor)
    starred = {one.project_id for one in marked if not one.feature}
    is_starting = not steps.are_done and current_actor.may(Permission.CREATE_CLIENT_API_TOKEN)
    return render_template(
        "portal/home/index.html",
        items=list(_attention(hidden)),
        hidden=hidden,
        visited=visits.recent(current_actor, LATEST) if "visited" not in hidden else [],
        favourites=[one for one in marked if one.feature and "favourites" not in hidden],
        releases=overview.releases(current_actor) if "releases" not in hidden else None,
        projects=overview.own_projects(current_actor, starred) if "projects" not in hidden else [],
        latest=rows_of(acts(current_actor, limit=LATEST)) if "latest" not in hidden else [],
        steps=steps if is_starting else None,
    )


def _attention(hidden: set[str]) -> Iterator[tuple[Item, Step, Step | None]]:
    """Yield everything that needs the reader, most urgent first, without what they hide.

    With its link, and the button that does it at once, if there is one.
    """
    source: Source = current_app.extensions["flagstaff.source"]
    context = HomeContext(current_settings(), source.problems())
    for reminder in reminders():
        if reminder.key not in hidden:
            for item in reminder.items(current_actor, context):
                endpoint = (item.place and reminder.one) or reminder.endpoint
                link = Step(reminder.step, url_for(endpoint, **(item.place or reminder.values)))
                act = None
                if item.fields and reminder.act:
                    words, form = reminder.act
                    act = Step(words, url_for(form, **item.place))
                yield item, link, act
