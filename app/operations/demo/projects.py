"""A project of the demo: its people, features, tags and dependencies over the years."""

from collections.abc import Callable
from functools import partial
from typing import Any

from app.catalogue.archive import service as archive
from app.catalogue.features import dependencies, links
from app.catalogue.features import service as features
from app.catalogue.projects import members
from app.catalogue.projects import service as projects
from app.catalogue.projects.models import Project, ProjectMode
from app.catalogue.projects.queries import needing_approval
from app.catalogue.tagging import service as tagging
from app.catalogue.tags.models import TagName
from app.core.actor import Actor
from app.core.permissions import DEFAULT_PROJECT, Permission, Role
from app.operations.demo import data
from app.operations.demo.diary import Colleague, Diary
from app.operations.demo.people import BEGAN
from app.operations.demo.switching import Switching

PRODUCTION = "production"
ARCHIVED, PARENTS, CHILDREN = 2, 3, 8
"""Number of features in each project; the project ``default`` has no dependencies."""

LATER, STALE = 0.2, 0.5
"""Share of features that are described only later, and of old ones that are stale."""

OLD = 400
"""Days."""

WAVE = 5
"""Most features that get a tag in one act."""


class ProjectHistory:
    """Schedules the history of one project.

    ``ages``, ``latest``: by feature, how many days ago it is created and last changed.
    """

    def __init__(
        self, diary: Diary, plan: data.Plan, number: int, service_accounts: dict[str, Colleague]
    ) -> None:
        self.diary = diary
        self.service_accounts = service_accounts
        self.chance = diary.chance
        self.plan = plan
        self.number = number
        self.founder = diary.people[data.ADMINS + number]
        self.created = self.chance.randint(800, 1_400)
        self.ages: dict[str, int] = {}
        self.latest: dict[str, int] = {}

    def schedule(self) -> None:
        self._settings()
        self._members()
        self._features()
        self._tags()
        self._dependencies()
        Switching(self.diary, self.plan.id, self.ages).schedule()

    def _settings(self) -> None:
        """The project is created open and without approvals; both change later."""
        if self.plan.id == DEFAULT_PROJECT:
            self.created = BEGAN - 3
            self.diary.add(self.created, self._describe)
            self._join(self.founder, Role.OWNER)
        else:
            self.diary.add(self.created, self._create)
        if self.plan.mode is not ProjectMode.OPEN:
            self.diary.add(self.chance.randint(200, 600), self._change_mode)
        if self.plan.approvals is not None:
            self.diary.add(self.chance.randint(30, 280), self._require_approvals)

    def _describe(self) -> None:
        actor = self._someone(Permission.UPDATE_PROJECT)
        project = projects.get_for_change(actor, self.plan.id)
        projects.update(actor, project, name=self.plan.name, description=self.plan.description)

    def _create(self) -> None:
        id, name, description = self.plan.id, self.plan.name, self.plan.description
        projects.create(self.founder.act(), id=id, name=name, description=description)
        self.founder.project_roles[id] = Role.OWNER

    def _change_mode(self) -> None:
        actor = self._someone(Permission.UPDATE_PROJECT, "Agreed with the team")
        project = projects.get_for_change(actor, self.plan.id)
        projects.update(actor, project, mode=self.plan.mode)

    def _require_approvals(self) -> None:
        actor = self.service_accounts["Terraform"].act("Four eyes in production")
        project: Project = projects.get_for_change(actor, self.plan.id)
        projects.set_environments(
            actor,
            project,
            environments=[row.environment for row in project.enabled],
            change_request_environments=[
                {"name": PRODUCTION, "required_approvals": self.plan.approvals or 0}
            ],
        )

    def _members(self) -> None:
        """A second Owner and some Members join one by one."""
        others = [p for p in self.diary.people[data.ADMINS :] if p is not self.founder]
        owner, *members = self.chance.sample(others, self.chance.randint(5, 10))
        self._join(owner, Role.OWNER)
        for member in members:
            self._join(member, Role.MEMBER)

    def _join(self, person: Colleague, role: Role) -> None:
        earliest = min(self.created, person.created) - 1
        self.diary.add(
            max(1, earliest - self.chance.randint(0, 60)), partial(self._add_member, person, role)
        )

    def _add_member(self, person: Colleague, role: Role) -> None:
        actor = self._someone(Permission.PROJECT_USER_ACCESS_WRITE)
        roles = members.roles(actor, self.plan.id) | {person.account_id: role}
        members.replace(actor, projects.get_for_change(actor, self.plan.id), roles)
        person.project_roles[self.plan.id] = role

    def _features(self) -> None:
        """Features are created, some are described only later, and some old ones become stale."""
        ideas = [(subject, change) for subject in self.plan.subjects for change in data.CHANGES]
        for subject, change in self.chance.sample(ideas, self.plan.features):
            name = f"{self.plan.id}.{subject}.{change.suffix}"
            age = self.ages[name] = self.latest[name] = int(self.chance.triangular(5, 700, 40))
            text = change.text.format(f"the {subject.replace('-', ' ')}")
            later = self.chance.random() < LATER
            described = None if later else text
            self.diary.add(age, partial(self._create_feature, name, change, described))
            if later:
                self._plan(self._update, name, description=text)
            if age > OLD and self.chance.random() < STALE:
                self._plan(self._update, name, stale=True)

    def _tags(self) -> None:
        """A team for every feature; a ticket, a risk and topics for some."""
        names = sorted(self.ages)
        half, first = len(names) // 2, 100 + self.number * data.TICKETS_A_PROJECT
        self._tag(TagName("team", self.plan.teams[0]), names[:half])
        self._tag(TagName("team", self.plan.teams[1]), names[half:])
        for ticket in range(first, first + data.TICKETS_A_PROJECT):
            self._tag(TagName("ticket", f"LARK-{ticket}"), self._some(names, 1, 4))
        mixed = self.chance.sample(names, len(names))
        for index, risk in enumerate(data.RISKS):
            self._tag(TagName("risk", risk), mixed[index :: len(data.RISKS) + 1])
        for index, topic in enumerate(data.TOPICS):
            if (index - self.number) % len(data.PLANS) in {0, 1}:
                self._tag(TagName("simple", topic), self._some(names, 2, 6))

    def _tag(self, tag: TagName, names: list[str]) -> None:
        """Schedule a tag: features of similar age get it in one act."""
        names = sorted(names, key=lambda name: self.ages[name])
        for start in range(0, len(names), WAVE):
            self._plan(self._add_tag, *names[start : start + WAVE], tag=tag)

    def _dependencies(self) -> None:
        """Some features depend on others; two without dependencies are archived at last."""
        mixed = self.chance.sample(sorted(self.ages), len(self.ages))
        parents, children = mixed[:PARENTS], mixed[PARENTS : PARENTS + CHILDREN]
        if self.plan.id != DEFAULT_PROJECT:
            for place, child in enumerate(children):
                self._plan(self._depend, child, parents[place % PARENTS])
        untied = sorted(mixed[PARENTS + CHILDREN :], key=lambda name: -self.latest[name])
        for name in untied[:ARCHIVED]:
            self.diary.add(
                self.chance.randint(1, self.latest[name] - 1), partial(self._archive, name)
            )

    def _some(self, names: list[str], least: int, most: int) -> list[str]:
        return self.chance.sample(names, self.chance.randint(least, most))

    def _plan(self, act: Callable[..., None], *names: str, **about: Any) -> None:
        """Schedule an act for a random day on which all the features exist, 2 days ago or more."""
        days = self.chance.randint(2, min(self.ages[name] for name in names) - 1)
        for name in names:
            self.latest[name] = min(self.latest[name], days)
        self.diary.add(days, partial(act, *names, **about))

    def _create_feature(self, name: str, change: data.Change, description: str | None) -> None:
        actor = self._someone(Permission.CREATE_FEATURE)
        view = features.create(
            actor,
            self.plan.id,
            name=name,
            type=change.type,
            description=description,
            impression_data=change.suffix == "ab-test",
        )
        if change.suffix == "ab-test":
            url = f"https://wiki.{data.DOMAIN}/experiments/{name}"
            links.add(actor, view.feature, url=url, title="Plan of the experiment")

    def _update(self, name: str, **changes: Any) -> None:
        actor = self._someone(Permission.UPDATE_FEATURE)
        feature = features.get_for_change(actor, self.plan.id, name).feature
        features.update(actor, feature, **changes)

    def _add_tag(self, *names: str, tag: TagName) -> None:
        by_pipeline = tag.type == "ticket" and self.plan.id == DEFAULT_PROJECT
        pipeline = self.service_accounts["CI pipeline"]
        if by_pipeline and pipeline.is_there:
            actor = pipeline.act()
        else:
            actor = self._someone(Permission.UPDATE_FEATURE)
        tagging.change(actor, self.plan.id, features=names, added=[tag], removed=[])

    def _depend(self, child: str, parent: str) -> None:
        actor = self._actor(Permission.UPDATE_FEATURE_DEPENDENCY)
        dependencies.add(actor, self.plan.id, child, parent)

    def _archive(self, name: str) -> None:
        actor = self._actor(Permission.DELETE_FEATURE, "On for everyone; removed from the code")
        archive.archive(actor, self.plan.id, [name])

    def _actor(self, permission: Permission, reason: str | None = None) -> Actor:
        """Who changes what may be on: an Admin with a reason where that needs approvals."""
        if needing_approval(self.plan.id, [PRODUCTION]):
            return self.diary.people[0].act("Approved in the weekly meeting")
        return self._someone(permission, reason)

    def _someone(self, permission: Permission, reason: str | None = None) -> Actor:
        return self.diary.someone(permission, self.plan.id, reason)
