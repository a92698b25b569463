"""The releases under way and the templates that can be found."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from app.catalogue.features.models import Feature
from app.catalogue.projects.queries import hidden_from
from app.catalogue.releases import queries
from app.catalogue.releases.models import Release, ReleaseState, ReleaseTemplate
from app.core.actor import Actor
from app.core.search import Hit, Kind, Searched, joined, shortened
from app.core.words import counted


def _visible(actor: Actor) -> sa.ColumnElement[bool]:
    is_seen = sa.true() if actor.is_admin else Feature.project_id.not_in(hidden_from(actor))
    return sa.and_(Release.feature_id == Feature.id, Release.ended_at.is_(None), is_seen)


def _releases(_actor: Actor, rows: Sequence[Any]) -> list[Hit]:
    return [
        Hit(
            f"Release of {row.name}",
            joined(row.environment, _state(row)),
            "feature_pages.show",
            {
                "project_id": row.project_id,
                "name": row.name,
                "_anchor": f"released-in-{row.environment}",
            },
        )
        for row in rows
    ]


def _state(row: Any) -> str:
    if row.position is None:
        return "not started"
    where = f"step {row.position + 1} of {len(row.steps)}"
    return f"on hold at {where}" if row.state is ReleaseState.HELD else where


def _visible_templates(actor: Actor) -> sa.ColumnElement[bool]:
    seen = queries.templates(actor).order_by(None).with_only_columns(ReleaseTemplate.id)
    return sa.true() if actor.is_admin else ReleaseTemplate.id.in_(seen)


def _templates(_actor: Actor, rows: Sequence[Any]) -> list[Hit]:
    return [
        Hit(
            row.name,
            joined(counted(len(row.steps), "step"), shortened(row.description)),
            "release_template_pages.show",
            {"template": row.id},
        )
        for row in rows
    ]


SEARCHED = (
    Searched(
        Kind(13, "releases", "Releases"),
        columns=(
            Release.id,
            Feature.name,
            Feature.project_id,
            Release.environment,
            Release.state,
            Release.position,
            Release.steps,
        ),
        names=(Feature.name,),
        hits=_releases,
        visible=_visible,
        is_suggested=False,
    ),
    Searched(
        Kind(14, "releaseTemplates", "Release templates"),
        columns=(
            ReleaseTemplate.id,
            ReleaseTemplate.name,
            ReleaseTemplate.description,
            ReleaseTemplate.steps,
        ),
        names=(ReleaseTemplate.name,),
        hits=_templates,
        beside=(ReleaseTemplate.description,),
        visible=_visible_templates,
    ),
)
