from typing import Any

from flask import render_template

from app.catalogue.visits import service as visits
from app.core.paging import Page
from app.core.permissions import Access
from app.core.words import counted
from app.portal.search import schemas, service
from app.portal.search.pages_places import entries, first, marked
from app.portal.search.schemas import href
from app.portal.search.service import HitGroup, Results
from app.web.current import current_actor
from app.web.listing import read_query
from app.web.routes import PageBlueprint

bp = PageBlueprint("search_pages", __name__)

ALL_OF_KIND = 50
VISITED = 6


@bp.get("/search", needs=Access.SIGNED_IN)
def index() -> str:
    """Everything that matches, by kind; with ``in`` one kind, page by page."""
    query = read_query(schemas.SearchQuery)
    kind = query.values.get("in_")
    results = _results(query.values, kind, ALL_OF_KIND if kind else service.DISPLAY_LIMIT)
    group = results.groups[0] if kind and results.groups else None
    return render_template(
        "portal/search/index.html",
        query=query,
        kinds=[(one.name, one.title) for one in service.kinds(current_actor)],
        page=group and _page(group, query.values["offset"]),
        **_shown(results),
    )


@bp.get("/search/hits", needs=Access.SIGNED_IN)
def hits() -> dict[str, str]:
    """The results as a script shows them over other pages while someone types, and their number."""
    query = read_query(schemas.SuggestQuery)
    results = _results({**query.values, "offset": 0}, None, service.DISPLAY_LIMIT)
    html = render_template("portal/search/_palette_hits.html", query=query, **_shown(results))
    return {"html": html, "words": _words(results)}


def _results(values: dict[str, Any], kind: str | None, limit: int) -> Results:
    return service.search(
        current_actor,
        values["q"],
        kind=kind,
        limit=limit,
        offset=values["offset"] if kind else 0,
        pages=entries(current_actor),
    )


def _shown(results: Results) -> dict[str, Any]:
    """Return values for templates. Before anyone types, offer recent visits and first actions."""
    is_asked = not results.query.is_empty or results.query.only_pages
    return {
        "results": results,
        "is_asked": is_asked,
        "href": href,
        "marked": marked,
        "number": _words(results),
        "visited": [] if is_asked else visits.recent(current_actor, VISITED),
        "actions": [] if is_asked else first(current_actor),
    }


def _words(results: Results) -> str:
    """Return what screen readers say when the results change."""
    if results.suggestion:
        return f"Nothing matches. Did you mean {results.suggestion}?"
    if results.query.is_empty and not results.groups:
        return ""
    more = "More than " if results.has_more else ""
    return more + counted(results.total, "result") if results.total else "Nothing matches"


def _page(group: HitGroup, offset: int) -> Page[Any]:
    return Page(list(group.hits), group.total, ALL_OF_KIND, offset)
