"""What a step gives a feature, and what applications get then."""

from collections.abc import Sequence
from typing import Any

from app.catalogue.features import delivered
from app.catalogue.features.models import Feature
from app.catalogue.releases.models import Release, StepStrategy
from app.catalogue.releases.queries import Located
from app.catalogue.strategies import queries
from app.core.actor import Actor
from app.core.db import db
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.releases.switching.strategies import replace
from app.releases.templates.steps import fields, of_model


def give(
    actor: Actor,
    feature: Feature,
    environment: str,
    wanted: Sequence[StepStrategy],
    *,
    on: bool,
) -> None:
    """Give a locked feature these strategies instead of its own, and switch it on or off."""
    replace(actor, feature, environment, [(each["id"], fields(each)) for each in wanted])
    switch(actor, feature, environment, on=on)


def switch(actor: Actor, feature: Feature, environment: str, *, on: bool) -> None:
    """Switch a locked feature, and leave its strategies as they are."""
    if is_on(feature.id, environment) is on:
        return
    queries.set_states(environment, [feature.id], enabled=on)
    enabled, disabled = (
        EventType.FEATURE_ENVIRONMENT_ENABLED,
        EventType.FEATURE_ENVIRONMENT_DISABLED,
    )
    events.record_of(actor, enabled if on else disabled, feature, data={"environment": environment})


def remember(release: Release) -> None:
    """Keep in the release what the feature has before the first step."""
    environment, id = release.environment, release.feature_id
    present = queries.strategies_in(environment, [id]).get(id, [])
    release.former = [of_model(each) for each in present]
    release.was_on = is_on(id, environment)


def is_on(id: int, environment: str) -> bool:
    return id in queries.on_in(environment, [id])


def delivered_now(found: Located) -> Any:
    """The feature’s document (see ``delivered``); None: applications get nothing of it."""
    connection, environment = db.session.connection(), found.release.environment
    return delivered.documents(connection, environment, [found.feature]).get(found.feature)


def strategies_now(found: Located) -> Any:
    """The strategies as applications get them; None if they get nothing of the feature."""
    document = delivered_now(found)
    return document and document["strategies"]


def strategies_with(
    actor: Actor, found: Located, wanted: Sequence[StepStrategy], *, on: bool
) -> Any:
    """The strategies as applications would get them if the feature had these. Changes nothing.

    Raises:
        DomainError: when it can’t have them, such as with a segment that was deleted.

    """
    feature = db.session.get_one(Feature, found.release.feature_id)
    with events.savepoint(keeps=False):
        give(actor, feature, found.release.environment, wanted, on=on)
        return strategies_now(found)
