"""What can be done with selected features of several projects: in all of them, or not at all.

Each act does in a project what the service for one project does.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from app.catalogue.archive import service as archiving
from app.catalogue.features import bulk
from app.catalogue.features.bulk import Settings
from app.catalogue.features.changes import ChangesByFeature
from app.catalogue.features.queries import Found
from app.catalogue.projects.models import Project
from app.catalogue.projects.queries import for_ids
from app.catalogue.strategies import queries as strategies
from app.catalogue.tagging import service as tagging
from app.catalogue.tags.models import TagName
from app.core.actor import Actor
from app.core.errors import ChangedSinceReview
from app.core.permissions import Permission
from app.core.words import spoken
from app.releases.switching import service as switching

Shown = dict[str, ChangesByFeature]
"""The changes that a review shows, by project."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an act does with features. ``facts``: the changes; ``unchanged``: have it already.

    ``left_out``: features that it leaves as they are, by reason. ``to_propose``: those of them that
    their project can propose to change.
    """

    facts: ChangesByFeature = field(default_factory=list)
    unchanged: Sequence[str] = ()
    left_out: dict[str, list[str]] = field(default_factory=dict)
    to_propose: Sequence[str] = ()
    warning: str = ""

    @property
    def size(self) -> int:
        return len(self.facts) + len(self.unchanged) + sum(map(len, self.left_out.values()))


class Act(Protocol):
    """``permission``: what it takes in each project."""

    permission: Permission

    def preview(self, actor: Actor, project_id: str, names: list[str]) -> Outcome:
        """Dry run of ``apply`` on active features of a project."""
        ...

    def apply(self, actor: Actor, project_id: str, shown: ChangesByFeature) -> None:
        """Make exactly these changes. Raises: ChangedSinceReview: when they would differ."""
        ...


@dataclass(frozen=True, slots=True)
class Switch:
    """Switch features on or off in an environment."""

    environment: str
    on: bool
    permission = Permission.UPDATE_FEATURE_ENVIRONMENT

    def preview(self, actor: Actor, project_id: str, names: list[str]) -> Outcome:
        uses = strategies.environments_of([project_id]).get(project_id, [])
        use = next((use for use in uses if use.name == self.environment), None)
        if use is None:
            return Outcome(left_out={f"This project doesn’t use {self.environment}.": names})
        found = switching.preview(actor, project_id, use.name, names, on=self.on)
        if use.required_approvals and found.changing:
            why = f"Changes in {use.name} need approval here."
            return Outcome([], found.unchanged, {why: found.changing}, found.changing)
        return Outcome(found.facts, found.unchanged)

    def apply(self, actor: Actor, project_id: str, shown: ChangesByFeature) -> None:
        names = _names(shown)
        switching.switch(actor, project_id, self.environment, names, on=self.on, shown=shown)


@dataclass(frozen=True, slots=True)
class Tag:
    """Add tags to features, and remove others."""

    added: Collection[TagName]
    removed: Collection[TagName]
    permission = Permission.UPDATE_FEATURE

    def preview(self, actor: Actor, project_id: str, names: list[str]) -> Outcome:
        found = tagging.preview(actor, project_id, [self._edit(names)])
        return Outcome(found.facts, found.unchanged)

    def apply(self, actor: Actor, project_id: str, shown: ChangesByFeature) -> None:
        tagging.apply(actor, project_id, [self._edit(_names(shown))], shown=shown)

    def _edit(self, names: list[str]) -> tagging.Edit:
        return tagging.Edit(names, self.added, self.removed)


@dataclass(frozen=True, slots=True)
class Set:
    """Set the type and the state of features."""

    settings: Settings
    permission = Permission.UPDATE_FEATURE

    def preview(self, actor: Actor, project_id: str, names: list[str]) -> Outcome:
        found = bulk.preview(actor, project_id, [bulk.Edit(names, self.settings)])
        return Outcome(found.facts, found.unchanged)

    def apply(self, actor: Actor, project_id: str, shown: ChangesByFeature) -> None:
        bulk.apply(actor, project_id, [bulk.Edit(_names(shown), self.settings)], shown=shown)


class Archive:
    """Archive features that no other depends on, and that are not on where that needs approval."""

    permission = Permission.DELETE_FEATURE

    def preview(self, actor: Actor, project_id: str, names: list[str]) -> Outcome:
        plan = archiving.preview(actor, project_id, names)
        ids = {id: name for name, id in plan.ids.items()}
        on = strategies.guarded_where_on(project_id, ids)
        held = {ids[id] for found in on.values() for id in found} - plan.blocked.keys()
        now = set(plan.apart_from(held))
        wait = sorted(set(plan.archivable) - now)
        parents = {edge.child: edge.parent for edge in plan.lost}
        checked = spoken((one.feature for one in plan.still_asked_for if one.feature in now), 10)
        left_out = {
            "Features that stay depend on these.": sorted(plan.blocked),
            f"On in {' and '.join(sorted(on))}, where changes need approval.": wait,
        }
        return Outcome(
            [
                [name, ["archived"], [f"depends on {parents[name]}"] if name in parents else []]
                for name in sorted(now)
            ],
            left_out={why: found for why, found in left_out.items() if found},
            to_propose=wait,
            warning=checked and f"Applications still check {checked}. They will get “off”.",
        )

    def apply(self, actor: Actor, project_id: str, shown: ChangesByFeature) -> None:
        names = _names(shown)
        if self.preview(actor, project_id, names).facts != shown:
            raise ChangedSinceReview
        archiving.archive(actor, project_id, names)


def preview(actor: Actor, act: Act, found: Collection[Found]) -> list[tuple[Project, Outcome]]:
    """Dry run of ``apply``: what the act does in each project, sorted by the project's name."""
    by_project: defaultdict[str, list[Found]] = defaultdict(list)
    for one in found:
        by_project[one.project_id].append(one)
    projects = sorted(for_ids(by_project).values(), key=lambda project: project.name)
    return [(one, _outcome(actor, act, one, by_project[one.id])) for one in projects]


def apply(actor: Actor, act: Act, shown: Shown) -> None:
    """Make exactly the changes of a review.

    Raises:
        NoAccess: when the actor lacks the permission in one of the projects.
        ChangedSinceReview: when they would no longer be the same.

    """
    for project_id, facts in sorted(shown.items()):
        actor.require(act.permission, project_id)
        act.apply(actor, project_id, facts)


def number_of_events(shown: Shown) -> int:
    """How many events making the changes records at most."""
    return sum(len(added) + len(removed) for facts in shown.values() for _, added, removed in facts)


def _outcome(actor: Actor, act: Act, project: Project, found: Collection[Found]) -> Outcome:
    active = sorted(one.name for one in found if not one.is_archived)
    archived = sorted(one.name for one in found if one.is_archived)
    gone = {"Archived. Revive them first.": archived} if archived else {}
    if project.archived_at is not None:
        return Outcome(left_out={"The project is archived.": sorted([*active, *archived])})
    if not actor.may(act.permission, project.id):
        return Outcome(left_out={"You can’t change these.": sorted([*active, *archived])})
    outcome = act.preview(actor, project.id, active) if active else Outcome()
    return replace(outcome, left_out=outcome.left_out | gone)


def _names(shown: ChangesByFeature) -> list[str]:
    return [name for name, _, _ in shown]
