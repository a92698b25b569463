from typing import Any, NamedTuple

from flask import current_app, render_template, url_for
from flask.typing import ResponseReturnValue

from app.catalogue.favourites import service as favourites
from app.catalogue.visits import service as visits
from app.core.permissions import Access, Permission
from app.delivery.sdk.source import Source
from app.portal.display import service as display
from app.portal.event_log.pages import rows_of
from app.portal.event_log.service import acts
from app.portal.home import attention, overview
from app.portal.home.items import Facts, Item, Kind
from app.web.caller import current_actor
from app.web.routes import PageBlueprint
from app.web.settings import current_settings

LATEST = 8

bp = PageBlueprint("home_pages", __name__)


class Step(NamedTuple):
    """What to do about an item: the words of its link, and where that leads."""

    words: str
    href: str


@bp.get("/", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """What needs the reader, their projects, and what has changed."""
    settings = current_settings()
    source: Source = current_app.extensions["flagstaff.source"]
    facts = Facts(
        settings.inactivity,
        settings.access_review_after,
        settings.stale_after,
        settings.webhook_hosts,
        source.problems(),
    )
    steps, hidden = overview.first_steps(), display.hidden(current_actor, "home")
    marked = favourites.all_of(current_actor)
    starred = {one.project_id for one in marked if not one.feature}
    is_starting = not steps.are_done and current_actor.may(Permission.CREATE_CLIENT_API_TOKEN)
    return render_template(
        "portal/home/index.html",
        items=[(i, _next_step(i)) for i in attention.items(current_actor, facts, hidden)],
        hidden=hidden,
        visited=visits.recent(current_actor, LATEST) if "visited" not in hidden else [],
        favourites=[one for one in marked if one.feature and "favourites" not in hidden],
        projects=overview.own_projects(current_actor, starred) if "projects" not in hidden else [],
        latest=rows_of(acts(current_actor, limit=LATEST)) if "latest" not in hidden else [],
        steps=steps if is_starting else None,
    )


def _next_step(item: Item) -> Step:
    endpoint, words = _STEPS[item.kind]
    if item.kind in _ABOUT_ONE and item.place:
        endpoint = "change_request_pages.show"
    place: dict[str, Any] = {**item.place, **_FILTERS.get(item.kind, {})}
    return Step(words, url_for(endpoint, **place))


_ABOUT_ONE = {Kind.TO_APPROVE, Kind.TO_APPLY}
_STEPS = {
    Kind.TO_APPROVE: ("change_request_pages.inbox", "Review"),
    Kind.TO_APPLY: ("change_request_pages.inbox", "Apply…"),
    Kind.FAILED: ("change_request_pages.show", "Open"),
    Kind.REJECTED: ("change_request_pages.show", "Read"),
    Kind.BACKUP: ("help_pages.show", "Show how"),
    Kind.EVALUATION: ("help_pages.show", "Show why"),
    Kind.APPROVERS: ("member_pages.index", "Add members"),
    Kind.WEBHOOKS: ("webhook_pages.show", "Open"),
    Kind.TOKENS: ("sdk_token_pages.index", "Review"),
    Kind.UNUSED: ("all_feature_pages.index", "Review"),
    Kind.EVERYWHERE: ("all_feature_pages.index", "Review"),
    Kind.INACTIVE: ("inactive_pages.index", "Review"),
    Kind.OWNERLESS: ("project_pages.index", "Review"),
    Kind.ACCESS: ("access_review_pages.new", "Review"),
    Kind.TAGS: ("tag_pages.index", "Review"),
}
_FILTERS = {
    Kind.BACKUP: {"topic": "operating"},
    Kind.EVALUATION: {"topic": "troubleshooting"},
    Kind.TOKENS: {"state": "expiring"},
    Kind.UNUSED: {"staleProposal": "unused"},
    Kind.EVERYWHERE: {"staleProposal": "everywhere"},
    Kind.OWNERLESS: {"membership": "ownerless"},
    Kind.TAGS: {"_anchor": "alike"},
}
