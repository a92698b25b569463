"""A person's projects at a glance, and the first steps of a new instance."""

from collections.abc import Collection
from dataclasses import dataclass

import sqlalchemy as sa

from app.catalogue.features.models import Feature
from app.catalogue.projects import queries as projects
from app.catalogue.projects.models import Project
from app.catalogue.sdk_tokens.models import SdkToken
from app.core.actor import Actor
from app.core.db import db
from app.core.paging import Page
from app.releases.change_requests.models import CLOSED, ChangeRequest, State
from app.releases.plans import service as plans
from app.releases.plans import views
from app.releases.plans.views import ReleaseView

DISPLAY_LIMIT = 8
RELEASES = 5


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """``on``: how many features are on in production. ``open_requests``: without drafts."""

    project: Project
    is_favourite: bool
    on: int
    open_requests: int


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """Which steps to the first feature that an application reads are done."""

    has_feature: bool
    has_token: bool
    is_read: bool

    @property
    def are_done(self) -> bool:
        return self.has_feature and self.has_token and self.is_read

    @property
    def number(self) -> int:
        """The number of the next step, from 1."""
        return 1 + [self.has_feature, self.has_token, self.is_read].index(False)


def own_projects(actor: Actor, favourites: Collection[str]) -> list[ProjectRow]:
    """Return the actor's projects: the favourites, by id, and those that they belong to.

    Favourites come first, then the latest changes. Members of no project also see a few new ones.
    """
    own = Project.id.in_({*favourites, *actor.project_roles})
    of_actor = own if actor.project_roles else own | Project.id.in_(_latest(actor))
    query = projects.counted(actor).where(Project.archived_at.is_(None), of_actor)
    candidates = list(db.session.scalars(query))
    candidates.sort(key=lambda project: project.changed_at or project.created_at, reverse=True)
    candidates.sort(key=lambda project: project.id not in favourites)
    shown = candidates[: max(DISPLAY_LIMIT, len(favourites))]
    ids = [project.id for project in shown]
    on, waiting = projects.numbers_on(ids), _open_requests(ids)
    return [
        ProjectRow(
            project, project.id in favourites, on.get(project.id, 0), waiting.get(project.id, 0)
        )
        for project in shown
    ]


def releases(actor: Actor) -> Page[ReleaseView]:
    """Releases under way that the actor can see, those that need someone first; a few of them."""
    page = plans.search(actor, limit=RELEASES, offset=0, is_open=True)
    return page.of(views.of(page.items))


def first_steps() -> FirstSteps:
    return FirstSteps(
        has_feature=_exists(sa.select(Feature.id)),
        has_token=_exists(sa.select(SdkToken.id).where(SdkToken.revoked_at.is_(None))),
        is_read=_exists(sa.select(SdkToken.id).where(SdkToken.last_seen_at.is_not(None))),
    )


def _latest(actor: Actor) -> sa.Select[str]:
    """Select a few new projects, so that counting doesn't take longer the more there are."""
    visible = projects.visible_projects(actor).where(Project.archived_at.is_(None))
    return visible.order_by(Project.created_at.desc(), Project.id).limit(DISPLAY_LIMIT)


def _open_requests(ids: Collection[str]) -> dict[str, int]:
    is_open = ChangeRequest.state.not_in([*CLOSED, State.DRAFT])
    query = sa.select(ChangeRequest.project_id, sa.func.count())
    query = query.where(ChangeRequest.project_id.in_(ids), is_open)
    return dict(db.session.execute(query.group_by(ChangeRequest.project_id)).all())


def _exists(query: sa.Select[int]) -> bool:
    return bool(db.session.scalar(sa.select(query.exists())))
