"""Search in this room: features, projects, tags, segments and the rest."""

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from app.catalogue.context.models import ContextField
from app.catalogue.environments.models import Environment, EnvironmentType
from app.catalogue.features.models import Feature
from app.catalogue.features.queries import in_state
from app.catalogue.projects.models import Project
from app.catalogue.projects.queries import hidden_from
from app.catalogue.sdk_tokens.models import SdkToken, SdkTokenProject
from app.catalogue.segments import queries as segments
from app.catalogue.segments.models import Segment
from app.catalogue.strategies import queries as strategies
from app.catalogue.strategies import words
from app.catalogue.strategies.models import StrategyType
from app.catalogue.strategies.queries import EnvironmentState
from app.catalogue.tags.models import Tag
from app.catalogue.tags.queries import visible_uses
from app.core.actor import Actor
from app.core.db import db
from app.core.permissions import Permission
from app.core.search import ARCHIVED, Hit, Kind, Searched, expiry, joined, shortened
from app.core.words import counted


def _visible_features(actor: Actor) -> sa.ColumnElement[bool]:
    return sa.true() if actor.is_admin else Feature.project_id.not_in(hidden_from(actor))


def _features(_actor: Actor, rows: Sequence[Any]) -> list[Hit]:
    names = _project_names({row.project_id for row in rows})
    states = strategies.states([(row.id, row.project_id) for row in rows])
    return [
        Hit(
            row.name,
            joined(
                names[row.project_id],
                ARCHIVED if row.archived_at is not None else _state(states[row.id]),
            ),
            "feature_pages.show",
            {"project_id": row.project_id, "name": row.name},
            is_archived=row.archived_at is not None,
        )
        for row in rows
    ]


def _state(states: Sequence[EnvironmentState]) -> str:
    """State of a feature in production, or else in the last environment of its project."""
    production = EnvironmentType.PRODUCTION
    chosen = [state for state in states if state.environment.type is production] or states[-1:]
    if not chosen:
        return ""
    state = chosen[0]
    short = words.short(state.strategies, enabled=state.enabled)
    match short.mark:
        case "off":
            return f"off in {state.name}"
        case "none":
            return f"on in {state.name}, but reaches no one"
        case "on":
            return f"on in {state.name}"
    return f"on in {state.name} for {short.word if short.share else 'some'}"


def _projects(_actor: Actor, rows: Sequence[Any]) -> list[Hit]:
    query = (
        sa.select(Feature.project_id, sa.func.count())
        .where(Feature.project_id.in_([row.id for row in rows]), Feature.archived_at.is_(None))
        .group_by(Feature.project_id)
    )
    counts = dict(db.session.execute(query).all())
    return [
        Hit(
            row.name,
            joined(
                row.id,
                ARCHIVED
                if row.archived_at is not None
                else counted(counts.get(row.id, 0), "feature"),
            ),
            "feature_pages.index",
            {"project_id": row.id},
            is_archived=row.archived_at is not None,
        )
        for row in rows
    ]


def _tags(actor: Actor, rows: Sequence[Any]) -> list[Hit]:
    uses = visible_uses(actor)
    query = (
        sa.select(uses.c.tag_id, sa.func.count())
        .where(uses.c.tag_id.in_([row.id for row in rows]))
        .group_by(uses.c.tag_id)
    )
    counts: dict[int, int] = dict(db.session.execute(query).all())
    return [
        Hit(
            f"{row.type}:{row.value}",
            f"on {counted(counts[row.id], 'feature')}" if row.id in counts else "on no feature",
            "one_tag_pages.show",
            {"tag_id": row.id},
        )
        for row in rows
    ]


def _visible_segments(actor: Actor) -> sa.ColumnElement[bool]:
    seen = segments.rows(actor).order_by(None).with_only_columns(Segment.id)
    return sa.true() if actor.is_admin else Segment.id.in_(seen)


def _segments(_actor: Actor, rows: Sequence[Any]) -> list[Hit]:
    names = _project_names({row.project_id for row in rows if row.project_id})
    return [
        Hit(
            row.name,
            joined(names.get(row.project_id, ""), shortened(row.description)),
            "segment_pages.show",
            {"id": row.id},
        )
        for row in rows
    ]


def _described(endpoint: str) -> Callable[[Actor, Sequence[Any]], list[Hit]]:
    """Hits for models with a name, a description and a page addressed by the name."""
    return lambda _actor, rows: [
        Hit(row.name, shortened(row.description), endpoint, {"name": row.name}) for row in rows
    ]


def _environments(_actor: Actor, rows: Sequence[Any]) -> list[Hit]:
    return [
        Hit(
            row.name,
            joined(row.type.value.capitalize(), "deprecated" if row.deprecated else ""),
            "environment_pages.show",
            {"name": row.name},
        )
        for row in rows
    ]


def _visible_sdk_tokens(actor: Actor) -> sa.ColumnElement[bool] | None:
    """Condition for tokens that the actor can list: all, or those for one own project alone."""
    is_valid = SdkToken.revoked_at.is_(None)
    if actor.may(Permission.READ_CLIENT_API_TOKEN):
        return is_valid
    readable = [
        id for id in actor.project_roles if actor.may(Permission.READ_PROJECT_API_TOKEN, id)
    ]
    if not readable:
        return None
    row = SdkTokenProject
    alone = sa.select(row.token_id).group_by(row.token_id).having(sa.func.count() == 1)
    own = alone.having(sa.func.min(row.project_id).in_(readable))
    return sa.and_(is_valid, SdkToken.id.in_(own))


def _sdk_tokens(actor: Actor, rows: Sequence[Any]) -> list[Hit]:
    everywhere = actor.may(Permission.READ_CLIENT_API_TOKEN)
    return [
        Hit(
            row.name,
            joined(row.environment, f"…{row.hint}", expiry(row.expires_at)),
            "sdk_token_pages.index" if everywhere else "sdk_token_pages.index_in_project",
            {"text": row.name} | ({} if everywhere else {"project_id": row.project_id}),
        )
        for row in rows
    ]


def _project_names(ids: set[str]) -> dict[str, str]:
    query = sa.select(Project.id, Project.name).where(Project.id.in_(ids))
    return dict(db.session.execute(query).all()) if ids else {}


_first_project = (
    sa.select(sa.func.min(SdkTokenProject.project_id))
    .where(SdkTokenProject.token_id == SdkToken.id)
    .correlate(SdkToken)
    .scalar_subquery()
)

SEARCHED = (
    Searched(
        Kind(1, "features", "Features"),
        columns=(Feature.id, Feature.name, Feature.project_id, Feature.archived_at),
        names=(Feature.name,),
        hits=_features,
        beside=(Feature.description,),
        late=True,
        archived_at=Feature.archived_at,
        visible=_visible_features,
        in_state=lambda is_on, environment: in_state(environment, enabled=is_on),
    ),
    Searched(
        Kind(2, "projects", "Projects"),
        columns=(Project.id, Project.name, Project.archived_at),
        names=(Project.name, Project.id),
        hits=_projects,
        beside=(Project.description,),
        archived_at=Project.archived_at,
        visible=Project.visible_to,
    ),
    Searched(
        Kind(3, "tags", "Tags"),
        columns=(Tag.id, Tag.type, Tag.value),
        names=(Tag.value, Tag.type + ":" + Tag.value),
        hits=_tags,
    ),
    Searched(
        Kind(4, "segments", "Segments"),
        columns=(Segment.id, Segment.name, Segment.description, Segment.project_id),
        names=(Segment.name,),
        hits=_segments,
        beside=(Segment.description,),
        visible=_visible_segments,
    ),
    Searched(
        Kind(5, "contextFields", "Context fields"),
        columns=(ContextField.name, ContextField.description),
        names=(ContextField.name,),
        hits=_described("context_pages.show"),
        beside=(ContextField.description,),
    ),
    Searched(
        Kind(6, "strategyTypes", "Strategy types"),
        columns=(StrategyType.name, StrategyType.description),
        names=(StrategyType.name,),
        hits=_described("strategy_type_pages.show"),
        beside=(StrategyType.description,),
        is_suggested=False,
    ),
    Searched(
        Kind(7, "environments", "Environments"),
        columns=(Environment.name, Environment.type, Environment.deprecated),
        names=(Environment.name,),
        hits=_environments,
    ),
    Searched(
        Kind(11, "sdkTokens", "SDK tokens"),
        columns=(
            SdkToken.id,
            SdkToken.name,
            SdkToken.environment,
            SdkToken.hint,
            SdkToken.expires_at,
            _first_project.label("project_id"),
        ),
        names=(SdkToken.name,),
        hits=_sdk_tokens,
        hint=SdkToken.hint,
        visible=_visible_sdk_tokens,
        is_suggested=False,
    ),
)
