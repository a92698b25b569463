from collections import Counter
from functools import partial

from flask import flash, render_template
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.environments import service as environments
from app.catalogue.environments.models import EnvironmentType
from app.catalogue.features import service as features
from app.catalogue.features.pages import about
from app.catalogue.features.queries import FeatureView
from app.catalogue.strategies.words import bar, short
from app.catalogue.usage.words import share
from app.core.paging import Page
from app.core.permissions import Access, Permission
from app.delivery.applications import counts, schemas, service, words
from app.delivery.applications.counts import Usage
from app.delivery.applications.drawing import draw, shares
from app.web import exports
from app.web.current import current_actor, current_zone
from app.web.listing import read_query
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("application_pages", __name__)

FILTERS = {"query": "Name", "environment": "Environment", "sdk": "SDK"}
SDK_STATES = {"outdated": "Outdated"}
UNKNOWN_SHOWN = 50


@bp.get("/applications", needs=Access.SIGNED_IN)
def index() -> ResponseReturnValue:
    """List the applications, with what they ask for in vain."""
    query = read_query(schemas.ApplicationQuery)
    search = partial(service.search, current_actor)
    if exports.wanted():
        return exports.table("applications", schemas.ApplicationRow(), search, query.values)
    unknown = service.unknown()
    return render_template(
        "delivery/applications/index.html",
        page=search(**query.values),
        query=query,
        filters=query.in_use(FILTERS, {"sdk": SDK_STATES}),
        environments=[(name, name) for name in environments.all_names()],
        sdk_states=SDK_STATES.items(),
        unknown=dict(list(unknown.items())[:UNKNOWN_SHOWN]),
        unknown_count=len(unknown),
        unknown_of=Counter(
            application
            for uses in unknown.values()
            for application in {use.application for use in uses}
        ),
        suggestions=service.suggestions(current_actor, unknown),
        can_create=service.can_create_features(current_actor),
        archived=service.still_asked_for(current_actor),
    )


@bp.get("/applications/<path:name>", needs=Access.SIGNED_IN)
def show(name: str) -> ResponseReturnValue:
    """Show what an application asks for, where it runs and with which SDK."""
    overview, query = service.overview(current_actor, name), read_query(schemas.CheckedQuery)
    names = {one.name for one in overview.unknown}
    archived = {one.feature for one in overview.asked_for if one.is_archived}
    # Reversed, because the latest comes first and the last one of a name is kept.
    unreadable = {one.feature: one for one in reversed(overview.unreadable)}
    busiest, moments = counts.busiest(overview.asked_for)
    checked = service.features_of(overview)
    limit, offset = query.values["limit"], query.values["offset"]
    text = query.values.get("text", "").casefold()
    found = [one for one in checked if text in one.name.casefold()]
    is_start = not (text or offset)
    return render_template(
        "delivery/applications/show.html",
        overview=overview,
        view=overview.view,
        checked=len(checked),
        page=Page(found[offset : offset + limit], len(found), limit, offset),
        query=query,
        filters=query.in_use({"text": "Name"}),
        problems=words.problems(len(names), len(archived), len(unreadable)),
        busiest=busiest,
        moments=moments,
        chart=draw(moments, zone=current_zone()),
        unknown={one.name: one for one in reversed(overview.unknown)} if is_start else {},
        unreadable=unreadable if is_start else {},
        suggestions=service.suggestions(current_actor, names),
        can_create=service.can_create_features(current_actor),
        tokens=service.tokens_of(current_actor, overview.view.application),
        share=share,
        short=short,
        sentence=words.chart,
    )


@bp.post("/applications/<path:name>/delete", needs=Permission.ADMIN)
def remove(name: str) -> Response:
    """Delete what an application reported."""
    service.delete(current_actor, name)
    flash(f"Application {name} deleted.", "ok")
    return redirect_to(".index")


@bp.get("/projects/<key:project_id>/features/<key:name>/usage", needs=Access.SIGNED_IN)
def show_usage(project_id: str, name: str) -> ResponseReturnValue:
    """Show how often a feature was on and off in one environment, and who asked for it."""
    query = read_query(schemas.UsageQuery)
    view = features.get(current_actor, project_id, name)
    environment = _environment(view, query.values.get("environment"))
    period, application = query.values["period"], query.values.get("application")
    use = counts.of_feature(view.feature.id, environment, period, application)
    page = about(project_id, view)
    changes = page["history"].in_environment(environment, use.moments[0].start)
    chart = draw(use.moments, [(entry.at, entry.says) for entry in changes], zone=current_zone())
    plan = words.plan(view.environments, environment)
    given = use.variants | {name: use.variants.get(name, 0) for name in plan or ()}
    return render_template(
        "delivery/applications/usage.html",
        **page,
        query=query,
        environment=environment,
        environments=[(state.name, state.name) for state in view.environments],
        applications=[(name, name) for name in _applications(use, application)],
        period=period,
        periods=[(one.value, text) for one, text in words.PERIODS.items()],
        application=application,
        use=use,
        chart=chart,
        sentence=words.chart(use.moments, chart.unit),
        verdict=words.verdict(use.yes, use.checks, environment, period),
        given=given,
        variants=shares(given) if use.variants else [],
        plan=plan,
        planned=bar([(name, plan.get(name, 0)) for name in given]) if plan else [],
    )


def _environment(view: FeatureView, asked: str | None) -> str:
    """Return the environment that was asked for, or one with usage, preferably of production."""
    uses = {state.name: state for state in view.environments}
    if asked in uses:
        return asked
    ranked = sorted(
        view.environments,
        key=lambda state: (
            state.use.last_seen_at is not None,
            state.environment.type == EnvironmentType.PRODUCTION,
        ),
    )
    return ranked[-1].name if ranked else ""


def _applications(use: Usage, chosen: str | None) -> list[str]:
    """Return the applications that asked, and the chosen one even if it didn't."""
    names = [one.application for one in use.applications]
    return names if chosen is None or chosen in names else [*names, chosen]
