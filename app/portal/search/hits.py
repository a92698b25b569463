"""What is found, with the few facts by which people tell it from what is called alike."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from app.accounts.models import AccountKind
from app.catalogue.environments.models import EnvironmentType
from app.catalogue.features.models import Feature
from app.catalogue.projects.models import Member, Project
from app.catalogue.strategies import queries as strategies
from app.catalogue.strategies import words
from app.catalogue.strategies.queries import State
from app.catalogue.strategies.words import Reach
from app.catalogue.tags.queries import visible_uses
from app.catalogue.usage.models import Instance
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db
from app.core.permissions import Permission
from app.core.words import counted
from app.portal.search.asking import Kind
from app.portal.search.sources import Match

LONGEST_ABOUT = 80
ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Hit:
    """``about``: what it belongs to and how it is. ``endpoint``, ``values``: its page.

    ``seen_at``: when an application was last in contact.
    """

    kind: Kind
    name: str
    about: str
    endpoint: str
    values: Mapping[str, Any] = field(default_factory=dict)
    is_archived: bool = False
    seen_at: datetime | None = None


def of(actor: Actor, kind: Kind, matches: Sequence[Match]) -> list[Hit]:
    """What matches, to be shown; takes the same few statements for any number."""
    return _MAKE[kind](actor, [match.row for match in matches]) if matches else []


def _features(_actor: Actor, rows: Sequence[Any]) -> list[Hit]:
    names = _project_names({row.project_id for row in rows})
    states = strategies.states([(row.id, row.project_id) for row in rows])
    return [
        Hit(
            Kind.FEATURES,
            row.name,
            _joined(
                names[row.project_id],
                ARCHIVED if row.archived_at is not None else state_of(states[row.id]),
            ),
            "feature_pages.show",
            {"project_id": row.project_id, "name": row.name},
            is_archived=row.archived_at is not None,
        )
        for row in rows
    ]


def state_of(states: Sequence[State]) -> str:
    """How a feature is in production, or in the last environment that its project uses."""
    production = EnvironmentType.PRODUCTION
    chosen = [state for state in states if state.environment.type is production] or states[-1:]
    if not chosen:
        return ""
    state = chosen[0]
    match words.reach(state.strategies, enabled=state.enabled):
        case Reach.OFF:
            return f"off in {state.name}"
        case Reach.NO_ONE:
            return f"on in {state.name}, but reaches no one"
        case Reach.EVERYONE:
            return f"on in {state.name}"
    short = words.short(state.strategies, enabled=state.enabled)
    return f"on in {state.name} for {'some' if short == 'Some' else short}"


def _projects(_actor: Actor, rows: Sequence[Any]) -> list[Hit]:
    query = (
        sa.select(Feature.project_id, sa.func.count())
        .where(Feature.project_id.in_([row.id for row in rows]), Feature.archived_at.is_(None))
        .group_by(Feature.project_id)
    )
    counts = dict(db.session.execute(query).all())
    return [
        Hit(
            Kind.PROJECTS,
            row.name,
            _joined(
                row.id,
                ARCHIVED if row.archived_at is not None else _number(counts.get(row.id, 0)),
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
            Kind.TAGS,
            f"{row.type}:{row.value}",
            f"on {_number(counts[row.id])}" if row.id in counts else "on no feature",
            "one_tag_pages.show",
            {"tag_id": row.id},
        )
        for row in rows
    ]


def _segments(_actor: Actor, rows: Sequence[Any]) -> list[Hit]:
    names = _project_names({row.project_id for row in rows if row.project_id})
    return [
        Hit(
            Kind.SEGMENTS,
            row.name,
            _joined(names.get(row.project_id, ""), _shortened(row.description)),
            "segment_pages.show",
            {"id": row.id},
        )
        for row in rows
    ]


def _described(kind: Kind, endpoint: str) -> Callable[[Actor, Sequence[Any]], list[Hit]]:
    """For what has a name, a description and a page that goes by the name."""
    return lambda _actor, rows: [
        Hit(
            kind,
            row.name,
            _shortened(row.description),
            endpoint,
            {"name": row.name},
        )
        for row in rows
    ]


def _environments(_actor: Actor, rows: Sequence[Any]) -> list[Hit]:
    return [
        Hit(
            Kind.ENVIRONMENTS,
            row.name,
            _joined(row.type.value.capitalize(), "deprecated" if row.deprecated else ""),
            "environment_pages.show",
            {"name": row.name},
        )
        for row in rows
    ]


def _applications(_actor: Actor, rows: Sequence[Any]) -> list[Hit]:
    query = (
        sa.select(Instance.application_id, sa.func.max(Instance.last_seen_at))
        .where(Instance.application_id.in_([row.id for row in rows]))
        .group_by(Instance.application_id)
    )
    seen = dict(db.session.execute(query).all())
    return [
        Hit(
            Kind.APPLICATIONS,
            row.name,
            "" if row.id in seen else "not seen lately",
            "application_pages.show",
            {"name": row.name},
            seen_at=seen.get(row.id),
        )
        for row in rows
    ]


def _accounts(kind: Kind, endpoint: str) -> Callable[[Actor, Sequence[Any]], list[Hit]]:
    def make(_actor: Actor, rows: Sequence[Any]) -> list[Hit]:
        query = (
            sa.select(Member.account_id, sa.func.count())
            .where(Member.account_id.in_([row.id for row in rows]))
            .group_by(Member.account_id)
        )
        counts = dict(db.session.execute(query).all())
        return [
            Hit(
                kind,
                row.name or row.username or row.email,
                _joined(
                    (row.username or row.email) if row.name else "",
                    row.role.title,
                    counted(counts[row.id], "project") if row.id in counts else "",
                ),
                endpoint,
                {"account_id": row.id},
            )
            for row in rows
        ]

    return make


def _sdk_tokens(actor: Actor, rows: Sequence[Any]) -> list[Hit]:
    everywhere = actor.may(Permission.READ_CLIENT_API_TOKEN)
    return [
        Hit(
            Kind.SDK_TOKENS,
            row.name,
            _joined(row.environment, f"…{row.hint}", _expiry(row.expires_at)),
            "sdk_token_pages.index" if everywhere else "sdk_token_pages.index_in_project",
            {"text": row.name} | ({} if everywhere else {"project_id": row.project_id}),
        )
        for row in rows
    ]


def _access_tokens(actor: Actor, rows: Sequence[Any]) -> list[Hit]:
    found = []
    for row in rows:
        endpoint = (
            "account_pages.show"
            if row.account_id == actor.id
            else "user_pages.show"
            if row.kind is AccountKind.PERSON
            else "service_account_pages.show"
        )
        of_account = {} if row.account_id == actor.id else {"account_id": row.account_id}
        owner = "yours" if row.account_id == actor.id else f"of {row.owner}"
        found.append(
            Hit(
                Kind.ACCESS_TOKENS,
                row.description,
                _joined(owner, f"…{row.hint}", _expiry(row.expires_at)),
                endpoint,
                {**of_account, "_anchor": "tokens"},
            )
        )
    return found


_MAKE: dict[Kind, Callable[[Actor, Sequence[Any]], list[Hit]]] = {
    Kind.FEATURES: _features,
    Kind.PROJECTS: _projects,
    Kind.TAGS: _tags,
    Kind.SEGMENTS: _segments,
    Kind.CONTEXT_FIELDS: _described(Kind.CONTEXT_FIELDS, "context_pages.show"),
    Kind.STRATEGY_TYPES: _described(Kind.STRATEGY_TYPES, "strategy_type_pages.show"),
    Kind.ENVIRONMENTS: _environments,
    Kind.APPLICATIONS: _applications,
    Kind.USERS: _accounts(Kind.USERS, "user_pages.show"),
    Kind.SERVICE_ACCOUNTS: _accounts(Kind.SERVICE_ACCOUNTS, "service_account_pages.show"),
    Kind.SDK_TOKENS: _sdk_tokens,
    Kind.ACCESS_TOKENS: _access_tokens,
}


def _project_names(ids: set[str]) -> dict[str, str]:
    query = sa.select(Project.id, Project.name).where(Project.id.in_(ids))
    return dict(db.session.execute(query).all()) if ids else {}


def _number(features: int) -> str:
    return counted(features, "feature")


def _expiry(at: datetime | None) -> str:
    if at is None:
        return "never expires"
    days = (at - utcnow()).days
    return f"expires in {counted(days, 'day')}" if days >= 0 else "expired"


def _shortened(text: str | None) -> str:
    line = " ".join((text or "").split())
    return line if len(line) <= LONGEST_ABOUT else f"{line[:LONGEST_ABOUT].rstrip()}…"


def _joined(*facts: str | None) -> str:
    return " · ".join(filter(None, facts))
