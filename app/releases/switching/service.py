"""Switching features on and off in an environment: one or many, all or none."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from app.catalogue.features import queries as features
from app.catalogue.features.changes import ChangesByFeature
from app.catalogue.features.queries import Found
from app.catalogue.features.service import refuse_archived, refuse_missing
from app.catalogue.projects import service as projects
from app.catalogue.projects.models import Project
from app.catalogue.strategies import queries, words
from app.catalogue.strategies.models import Copy, Strategy
from app.catalogue.strategies.service import project_environment
from app.core.actor import Actor
from app.core.errors import ChangedSinceReview, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.service import EventPayload
from app.releases.switching import defaults


@dataclass(frozen=True, slots=True)
class Preview:
    """``facts``: what changes, by feature; ``unchanged``: features that are on or off already.

    ``ids``: of the features that change. ``default``: the strategy for features that are switched
    on without an active one. ``archived`` and ``unknown`` names can’t be switched.
    """

    facts: ChangesByFeature
    ids: dict[str, int]
    default: Strategy | None
    unchanged: list[str]
    archived: list[str]
    unknown: list[str]

    @property
    def changing(self) -> list[str]:
        return list(self.ids)

    @property
    def given_strategy(self) -> list[str]:
        """Features that get the default strategy, since they have no active one."""
        return [name for name, added, _ in self.facts if len(added) > 1]


def preview(
    actor: Actor, project_id: str, environment: str, names: Collection[str], *, on: bool
) -> Preview:
    """Dry run of ``switch``: changes nothing."""
    project = projects.get(actor, project_id)
    project_environment(project_id, environment)
    return _plan(project, environment, names, features.find(project_id, names), on=on)


def _plan(
    project: Project,
    environment: str,
    names: Collection[str],
    found: Mapping[str, Found],
    *,
    on: bool,
) -> Preview:
    """``found``: those of the names that are features of the project."""
    active = {name: feature.id for name, feature in found.items() if not feature.is_archived}
    on_now = queries.on_in(environment, active.values())
    changing = {name: id for name, id in sorted(active.items()) if (id in on_now) is not on}
    sign = f"on in {environment}"
    facts: ChangesByFeature = [[name, [], [sign]] for name in changing]
    default = defaults.of(project, environment) if on else None
    if default:
        ready = queries.with_strategy(environment, changing.values())
        given = [sign, f"strategy: {words.summary(default)}"]
        facts = [[name, [sign] if id in ready else given, []] for name, id in changing.items()]
    return Preview(
        facts,
        changing,
        default,
        unchanged=sorted(name for name, id in active.items() if (id in on_now) is on),
        archived=sorted(name for name, feature in found.items() if feature.is_archived),
        unknown=sorted(set(names) - set(found)),
    )


def switch(
    actor: Actor,
    project_id: str,
    environment: str,
    names: Collection[str],
    *,
    on: bool,
    shown: ChangesByFeature | None = None,
    new_ids: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str, list[str]]:
    """Switch features on or off. Return the id of the batch, and the names that changed.

    A feature without an active strategy gets the default one when it is switched on. ``shown``: the
    facts of a preview. Exactly these changes are made, or none. ``new_ids``: for these strategies,
    by feature; others get any.
    """
    projects.require_for_content(actor, project_id)
    project = projects.get(actor, project_id)
    project_environment(project_id, environment)
    # Locked first, so that the plan is still true when it is carried out.
    found = features.find(project_id, names, for_change=True)
    plan = _plan(project, environment, names, found, on=on)
    refuse_missing(project_id, plan.unknown)
    refuse_archived(plan.archived)
    if shown is not None and shown != plan.facts:
        raise ChangedSinceReview
    batch_id = events.new_batch()
    if not plan.changing:
        return batch_id, []
    if plan.default and plan.given_strategy:
        given = _copies(
            plan.default, {name: plan.ids[name] for name in plan.given_strategy}, new_ids
        )
        queries.insert(list(given.values()))
        added = (
            EventPayload(project=project_id, feature_name=name, data=strategy.snapshot())
            for name, strategy in given.items()
        )
        events.record_all(actor, EventType.FEATURE_STRATEGY_ADDED, added, batch_id=batch_id)
    queries.set_states(environment, plan.ids.values(), enabled=on)
    type = EventType.FEATURE_ENVIRONMENT_ENABLED if on else EventType.FEATURE_ENVIRONMENT_DISABLED
    payloads = [
        EventPayload(project=project_id, feature_name=name, data={"environment": environment})
        for name in plan.changing
    ]
    events.record_all(actor, type, payloads, batch_id=batch_id)
    return batch_id, plan.changing


def reversal(actor: Actor, project_id: str, batch_id: str) -> tuple[str, list[str], bool]:
    """How to undo a batch: the environment, the features, and whether to switch them on.

    Raises:
        NotFound: when the batch switched nothing in this project.

    """
    projects.require(actor, project_id)
    for type, on in (
        (EventType.FEATURE_ENVIRONMENT_ENABLED, False),
        (EventType.FEATURE_ENVIRONMENT_DISABLED, True),
    ):
        if found := events.of_batch(batch_id, type, project_id):
            environment = (found[0].data or {})["environment"]
            return environment, sorted(event.feature_name or "" for event in found), on
    raise NotFound("This project has no such change of features.")


def _copies(
    default: Strategy, ids: Mapping[str, int], new_ids: Mapping[str, str]
) -> dict[str, Copy]:
    """The default strategy for features, by name, after those that they have, which are paused.

    ``ids``: of the features, by name.
    """
    paused = queries.numbers_in(default.environment, ids.values())
    return {
        name: defaults.copy(default, name, id, paused.get(id, 0), new_ids.get(name))
        for name, id in ids.items()
    }
