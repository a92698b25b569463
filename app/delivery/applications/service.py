"""Applications as their SDKs report them, and the features that they ask for."""

from collections.abc import Collection, Sequence
from enum import StrEnum
from itertools import groupby

import sqlalchemy as sa

from app.catalogue.projects import service as projects
from app.catalogue.strategies import queries as strategies
from app.catalogue.usage import queries as usage
from app.catalogue.usage.models import (
    MAX_NAME,
    Application,
    Instance,
    TokenUse,
    UnknownFeature,
    Usage,
    VariantUsage,
)
from app.catalogue.usage.queries import RECENT
from app.catalogue.usage.sdks import Sdk
from app.core.actor import Actor
from app.core.clock import in_text, utcnow
from app.core.db import db, insert_if_absent
from app.core.errors import Invalid, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.paging import Page, page_of
from app.core.permissions import Permission
from app.core.words import SUGGESTED, similar_names
from app.delivery.applications import queries
from app.delivery.applications.queries import ArchivedUse, AskedFor, Unknown, UsedToken
from app.delivery.applications.views import (
    ApplicationOverview,
    ApplicationView,
    EnvironmentUse,
    FeatureUse,
    Suggestion,
    running,
)

COMPARED = 2_000
ARCHIVED_SHOWN = 20


class SdkState(StrEnum):
    """A filter of the list of applications."""

    OUTDATED = "outdated"


def search(
    actor: Actor,
    *,
    limit: int,
    offset: int,
    query: str | None = None,
    environment: str | None = None,
    sdk: SdkState | None = None,
    sort: str | None = None,
) -> Page[ApplicationView]:
    """Applications that match every filter."""
    outdated = [one.reported for one, _ in outdated_sdks()] if sdk else None
    found = queries.rows(text=query, environment=environment, sdks=outdated, sort=sort)
    page = page_of(found, limit=limit, offset=offset)
    return page.of(_views(actor, page.items))


def overview(actor: Actor, name: str) -> ApplicationOverview:
    """Return everything about an application.

    Raises:
        NotFound: if there is no application with this name.

    """
    application = get(name)
    [view] = _views(actor, [application])
    asked = queries.asked_for(actor, application.id, utcnow() - RECENT)
    missing = queries.unknown(application.id)
    unreadable = queries.unreadable(actor, application.id)
    names = {*view.environments, *(use.environment for use in asked)}
    names |= {one.environment for one in missing} | {one.environment for one in unreadable}
    uses = [
        EnvironmentUse(
            name,
            [one for one in view.instances if one.environment == name],
            sorted({one.name for one in missing if one.environment == name}),
            sorted({one.feature for one in unreadable if one.environment == name}),
        )
        for name in sorted(names)
    ]
    needed = queries.strategy_types({one.feature_id for one in asked})
    known = application.strategies
    cannot = [type for type in needed if known and type not in known]
    return ApplicationOverview(view, uses, asked, missing, unreadable, cannot)


def features_of(overview: ApplicationOverview) -> list[FeatureUse]:
    """The features that an application asked for, those asked for most first."""
    uses: dict[int, list[AskedFor]] = {}
    for one in overview.asked_for:
        uses.setdefault(one.feature_id, []).append(one)
    states = strategies.states([(id, hours[0].project_id) for id, hours in uses.items()])
    features = [
        FeatureUse(
            hours[0].feature,
            hours[0].project_id,
            hours[0].is_archived,
            {state.name: state for state in states[id]},
            sum(hour.yes for hour in hours),
            sum(hour.yes + hour.no for hour in hours),
        )
        for id, hours in uses.items()
    ]
    return sorted(features, key=lambda one: (-one.checks, one.name))


def view(actor: Actor, name: str) -> ApplicationView:
    return _views(actor, [get(name)])[0]


def of_project(actor: Actor, project_id: str, *, text: str = "") -> list[ApplicationView]:
    """The applications that asked for features of the project lately, by name."""
    projects.require(actor, project_id)
    found = db.session.scalars(queries.rows(text=text or None).where(queries.asks(project_id)))
    return _views(actor, list(found))


def create(name: str, *, strategies: Sequence[str] = ()) -> None:
    """Create an application unless it exists. ``strategies``: types that it can evaluate."""
    if len(name) > MAX_NAME or not name.isprintable() or name != name.strip():
        raise Invalid(f"The name must be one line of at most {MAX_NAME} characters.")
    row = {"name": name, "strategies": [*strategies], "created_at": utcnow()}
    db.session.execute(insert_if_absent(Application).values(row))


def get(name: str, *, for_change: bool = False) -> Application:
    application = queries.named(name, for_change=for_change)
    if application is None:
        raise NotFound(f"There is no application named {name}.")
    return application


def instances_in(name: str, environment: str) -> list[Instance]:
    """The instances of the last 24 hours."""
    return running(usage.instances([get(name).id], environment))


def outdated_sdks() -> list[tuple[Sdk, list[str]]]:
    """Return SDKs in use that have a newer major version, each with its applications."""
    applications: dict[str, list[str]] = {}
    for reported, name in queries.sdks():
        applications.setdefault(reported, []).append(name)
    found = [(Sdk(reported), names) for reported, names in applications.items()]
    return [(sdk, names) for sdk, names in found if sdk.newest]


def unknown() -> dict[str, list[Unknown]]:
    """Names that applications ask for and no feature has, latest first."""
    found: dict[str, list[Unknown]] = {}
    for one in queries.unknown():
        found.setdefault(one.name, []).append(one)
    return found


def can_create_features(actor: Actor) -> bool:
    """Whether there is a project in which the actor may create a feature."""
    return bool(projects.names(actor, 1, Permission.CREATE_FEATURE))


def still_asked_for(actor: Actor) -> list[ArchivedUse]:
    """Archived features that applications asked for in the last 24 hours."""
    return queries.archived(actor, ARCHIVED_SHOWN)


def suggestions(actor: Actor, names: Collection[str]) -> dict[str, Suggestion]:
    """Return features with similar names, for the first SUGGESTED names."""
    asked = list(names)[:SUGGESTED]
    known = queries.names_like(actor, asked, COMPARED) if asked else {}
    similar = similar_names(asked, list(known))
    return {name: Suggestion(found, known[found]) for name, found in similar.items()}


def tokens_of(actor: Actor, application: Application) -> list[UsedToken]:
    """Return the SDK tokens that an application uses and the actor can list."""
    return [
        used
        for used in queries.tokens(application.id)
        if actor.may(Permission.READ_CLIENT_API_TOKEN)
        or actor.may(Permission.READ_PROJECT_API_TOKEN, used.token.project)
    ]


def delete(actor: Actor, name: str) -> None:
    """Forget an application with all it reported. If it still runs, it appears again."""
    application = get(name, for_change=True)
    for model in (Usage, VariantUsage, UnknownFeature, Instance, TokenUse):
        db.session.execute(sa.delete(model).where(model.application_id == application.id))
    before = {"name": application.name, "createdAt": in_text(application.created_at)}
    db.session.delete(application)
    events.record(actor, EventType.APPLICATION_DELETED, pre_data=before)


def _views(actor: Actor, applications: Sequence[Application]) -> list[ApplicationView]:
    ids = [one.id for one in applications]
    views = {one.id: ApplicationView(one) for one in applications}
    for instance in usage.instances(ids):
        views[instance.application_id].instances.append(instance)
    by_project = groupby(queries.projects_of(actor, ids), lambda use: use[:2])
    for (id, project_id), uses in by_project:
        environments = [use.environment for use in uses]
        views[id].usage.append({"project": project_id, "environments": environments})
    return list(views.values())
