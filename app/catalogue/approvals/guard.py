"""The guard of environments that need approvals: it compares what applications get.

Before each commit, the documents of all features that the transaction may have touched are compared
with those before it. So it doesn't matter what was changed, nor by which page, request or command.
What makes an environment need fewer approvals, or none, needs as many as it did before.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import sqlalchemy as sa

from app.catalogue.approvals import queries
from app.catalogue.features import delivered
from app.catalogue.features.delivered import Document
from app.catalogue.projects.queries import visible_projects
from app.core.actor import Actor
from app.core.db import committed, db
from app.core.errors import NeedsApprovals
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.service import EventPayload, Recorded
from app.core.words import counted, humanize, spoken

T = TypeVar("T")

OF_SEGMENTS = {EventType.SEGMENT_UPDATED, EventType.SEGMENT_DELETED}
CLOSING = {EventType.PROJECT_ARCHIVED, EventType.PROJECT_DELETED}
OF_PROJECTS = CLOSING | {EventType.PROJECT_ENVIRONMENTS_UPDATED}
OF_FEATURES = {
    EventType.FEATURE_ARCHIVED,
    EventType.FEATURE_CREATED,
    EventType.FEATURE_DELETED,
    EventType.FEATURE_DEPENDENCY_ADDED,
    EventType.FEATURE_DEPENDENCY_REMOVED,
    EventType.FEATURE_ENVIRONMENT_DISABLED,
    EventType.FEATURE_ENVIRONMENT_ENABLED,
    EventType.FEATURE_ENVIRONMENT_VARIANTS_UPDATED,
    EventType.FEATURE_REVIVED,
    EventType.FEATURE_STRATEGIES_SORTED,
    EventType.FEATURE_STRATEGY_ADDED,
    EventType.FEATURE_STRATEGY_REMOVED,
    EventType.FEATURE_STRATEGY_UPDATED,
    EventType.FEATURE_UPDATED,
}
DELIVERED = OF_FEATURES | OF_SEGMENTS | OF_PROJECTS
"""Events after which applications may get something else."""


class Place(NamedTuple):
    """An environment of a project."""

    project: str
    environment: str


class Effect(NamedTuple):
    """What applications get of a feature, before and after. None: it is off for them."""

    place: Place
    feature: str
    before: Document | None
    after: Document | None


class Rule(NamedTuple):
    """How many approvals changes in a place need. ``is_used``: by its project, which is active."""

    required: int
    is_used: bool


Rules = dict[Place, Rule]
NO_RULE = Rule(required=0, is_used=False)


class Lowering(NamedTuple):
    """A place that needs fewer approvals after a transaction, or that no one uses any more."""

    place: Place
    before: Rule
    after: Rule


def check() -> None:
    """Refuse changes of what applications get that are neither approved nor bypass approvals.

    Raises:
        NeedsApprovals: with the number of approvals that they need, and how to propose them.

    """
    recorded = _delivered(events.recorded())
    found, rules = _effects(recorded) if recorded else ([], {})
    if found:
        if not all(each.actor.is_admin and each.actor.reason for each in recorded):
            raise _refusal(recorded[0].actor, found, rules)
        _record_bypass(recorded[0].actor, found, rules)
    events.recorded().clear()


def trial(actor: Actor, place: Place, act: Callable[[], T]) -> tuple[T, list[Effect]]:
    """Run ``act`` and undo it. Return its result, and what applications get then in this place.

    Raises:
        NeedsApprovals: when it needs approvals in another place as well.

    """
    start, own = len(events.recorded()), db.session.connection()
    with events.savepoint(keeps=False):
        result = act()
        db.session.flush()
        recorded = _delivered(events.recorded()[start:])
        projects, touched = _projects(recorded), _touched(own, recorded)
        rules_after = _rules(own, projects)
        places = rules_after.keys() | {place}
        after = _documents(own, places, touched)
    rules = _rules(own, projects)
    found = _differing(_documents(own, places, touched), after)
    changed: list[Effect | Lowering] = [*_lowered(recorded, rules, rules_after), *found]
    if elsewhere := [each for each in changed if each.place != place]:
        raise _refusal(actor, elsewhere, rules_after | rules, covered=place)
    return result, found


def approve(place: Place, approved: Mapping[str, Document | None], *, since: int) -> bool:
    """Let this transaction change what applications get in this place, to exactly ``approved``.

    ``since``: how many entries ``events.recorded`` had before the change. Return whether
    applications get exactly that now; if not, nothing is permitted.
    """
    db.session.flush()
    events.write()  # from here on no one else can change what applications get
    own, recorded = db.session.connection(), _delivered(events.recorded()[since:])
    touched = _touched(own, recorded)
    inside = {name for name, project in touched.items() if project == place.project}
    if others := inside - approved.keys():
        with committed() as before:
            was = delivered.documents(before, place.environment, others)
        if was != delivered.documents(own, place.environment, others):
            return False
    now = delivered.documents(own, place.environment, approved.keys())
    if now != {name: document for name, document in approved.items() if document is not None}:
        return False
    _approved().add(place)
    return True


def _approved() -> set[Place]:
    """Places in which others approved what this transaction has changed."""
    found: set[Place] = db.session.info.setdefault("approved", set())
    return found


def _delivered(recorded: Iterable[Recorded]) -> list[Recorded]:
    return [each for each in recorded if each.type in DELIVERED]


def _effects(recorded: Sequence[Recorded]) -> tuple[list[Effect | Lowering], Rules]:
    """What has changed where approvals are needed, and how many each place needs.

    The rules of before the transaction count: one that sets approvals isn’t held up by them, and
    one that lowers them can’t change anything else with that.
    """
    events.write()  # from here on no one else can change what applications get
    projects, own = _projects(recorded), db.session.connection()
    is_about_rules = any(each.type in OF_PROJECTS for each in recorded)
    if not is_about_rules and not _rules(own, projects):
        return [], {}
    db.session.flush()
    with committed() as before:
        rules = _rules(before, projects)
        places = rules.keys() - _approved()
        if not places:
            return [], rules
        touched = _touched(before, recorded) | _touched(own, recorded)
        was = _documents(before, places, touched)
    lowered = _lowered(recorded, rules, _rules(own, projects)) if is_about_rules else []
    effects = _differing(was, _documents(own, places, touched))
    return [*(each for each in lowered if each.place in places), *effects], rules


def _projects(recorded: Sequence[Recorded]) -> set[str]:
    """Projects in which something may have changed for applications."""
    found = {
        project for each in recorded for load in each.payloads if (project := load.get("project"))
    }
    if segments := _segments(recorded):
        found |= {project for _, project in queries.USERS.run(segments)}
    return found


def _rules(connection: sa.Connection, projects: Collection[str]) -> Rules:
    """How many approvals each place of these projects needs, where it needs any."""
    if not projects:
        return {}
    rows = queries.REQUIRED.run(projects, connection=connection)
    return {Place(project, environment): Rule(*rule) for project, environment, *rule in rows}


def _lowered(recorded: Sequence[Recorded], before: Rules, after: Rules) -> list[Lowering]:
    """Places that need fewer approvals now, or are not used any more.

    A project that was archived or deleted is named once: where it needs the most approvals.
    """
    found = [
        Lowering(place, rule, now)
        for place, rule in sorted(before.items(), key=lambda item: (-item[1].required, item[0]))
        if (now := after.get(place, NO_RULE)).required < rule.required or rule.is_used > now.is_used
    ]
    closed = {load.get("project") for load in _payloads(recorded, CLOSING)}
    first = {each.place.project: each for each in reversed(found)}
    return [
        each
        for each in found
        if each.place.project not in closed or each is first[each.place.project]
    ]


Documents = dict[tuple[Place, str], Document]
"""By place and the name of the feature."""


def _documents(
    connection: sa.Connection, places: Iterable[Place], touched: Mapping[str, str]
) -> Documents:
    """``touched``: the projects of features, by their names."""
    guarded: defaultdict[str, set[str]] = defaultdict(set)
    for project, environment in places:
        guarded[environment].add(project)
    return {
        (Place(touched[name], environment), name): document
        for environment, projects in guarded.items()
        if (names := [name for name, project in touched.items() if project in projects])
        for name, document in delivered.documents(connection, environment, names).items()
    }


def _differing(before: Documents, after: Documents) -> list[Effect]:
    return [
        Effect(*key, before.get(key), after.get(key))
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    ]


def _segments(recorded: Iterable[Recorded]) -> set[str]:
    """Their names, before and after."""
    return {
        snapshot["name"]
        for load in _payloads(recorded, OF_SEGMENTS)
        for snapshot in (load.get("pre_data"), load.get("data"))
        if snapshot is not None
    }


def _payloads(recorded: Iterable[Recorded], types: Collection[EventType]) -> Iterator[EventPayload]:
    return (load for each in recorded if each.type in types for load in each.payloads)


def _touched(connection: sa.Connection, recorded: Sequence[Recorded]) -> dict[str, str]:
    """The features that may have changed for applications, with their projects, by name."""
    names = {load.get("feature_name") for load in _payloads(recorded, OF_FEATURES)}
    found: dict[str, str] = {}
    for statement, values in (
        (queries.NAMED, names),
        (queries.CHILDREN, names),
        (queries.USERS, _segments(recorded)),
        (queries.INSIDE, {load.get("project") for load in _payloads(recorded, OF_PROJECTS)}),
    ):
        if values:
            found |= dict(statement.run(values, connection=connection))
    return found


def _record_bypass(actor: Actor, found: Sequence[Effect | Lowering], rules: Rules) -> None:
    changed: defaultdict[Place, list[str]] = defaultdict(list)
    for effect in found:
        changed[effect.place] += [effect.feature] if isinstance(effect, Effect) else []
    for place, features in changed.items():
        record_bypass(actor, place, features, rules[place])


def record_bypass(
    actor: Actor, place: Place, features: Sequence[str], rule: Rule | None = None
) -> None:
    """Record that an Admin changed features in a place without the approvals that it needs."""
    rule = rule or _rules(db.session.connection(), {place.project}).get(place, NO_RULE)
    events.record(
        actor,
        EventType.CHANGE_REQUEST_BYPASSED,
        project=place.project,
        feature_name=features[0] if len(features) == 1 else None,
        data={"environment": place.environment, "requiredApprovals": rule.required},
    )


def _refusal(
    actor: Actor,
    found: Sequence[Effect | Lowering],
    rules: Rules,
    *,
    covered: Place | None = None,
) -> NeedsApprovals:
    """``covered``: the place of the change request that the changes are part of."""
    projects = set(db.session.scalars(visible_projects(actor)))
    seen = [effect for effect in found if effect.place.project in projects]
    places = sorted({effect.place for effect in seen})
    needs = spoken(
        [
            f"{counted(rules[place].required, 'approval')} in {place.environment} of project "
            f"{place.project}"
            for place in places
        ]
        + ["approvals in other projects"] * (len(seen) < len(found))
    )
    by_admin = "An Admin can make this change without approval, and must give a reason."
    if covered:
        return NeedsApprovals(
            f"This change also needs {needs}. A change request covers one environment, so it "
            f"cannot be part of one in {covered.environment} of project {covered.project}. "
            f"{by_admin}"
        )
    is_lowering = any(isinstance(effect, Lowering) for effect in found)
    sentences = (
        f"Changes that reach applications need {needs}"
        + (", and so do changes that end this." if is_lowering else "."),
        f"This would change {spoken(map(_said, seen))}." if seen else "",
        _how_to_propose(places, rules) if len(seen) == len(found) else "",
        by_admin,
    )
    refusal = NeedsApprovals(" ".join(filter(None, sentences)))
    if len(places) == 1 and len(seen) == len(found) and rules[places[0]].is_used:
        [refusal.place] = places
    return refusal


def _said(effect: Effect | Lowering) -> str:
    """``checkout (off)``, ``search (strategies and variants)``, ``production (no approvals)``."""
    if isinstance(effect, Lowering):
        number, environment = effect.after.required, effect.place.environment
        if number == effect.before.required:
            return f"{environment} (no longer used)"
        return f"{environment} ({counted(number, 'approval') if number else 'no approvals'})"
    before, after = effect.before, effect.after
    if before is None or after is None:
        return f"{effect.feature} ({'off' if after is None else 'on'})"
    parts = [humanize(part) for part in before if before[part] != after[part]]
    return f"{effect.feature} ({spoken(parts)})"


def _how_to_propose(places: Sequence[Place], rules: Rules) -> str:
    if len(places) > 1:
        return (
            "A change request covers one environment, so make sure first that the change reaches "
            "only one of these. For example, switch the feature off in the others."
        )
    [(project, environment)] = places
    path = f"/api/admin/projects/{project}/environments/{environment}/change-requests"
    if not rules[places[0]].is_used:
        return (
            f"Project {project} does not use {environment}. Add the environment first, then "
            f"propose this in a change request (POST {path})."
        )
    return f"Propose it in a change request (POST {path})."
