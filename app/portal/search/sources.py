"""Where is looked for what: tables, with the rows of them that an actor can see."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.accounts.models import Account, AccountKind
from app.accounts.tokens.models import Token
from app.accounts.tokens.service import HINT_LENGTH
from app.catalogue.context.models import ContextField
from app.catalogue.environments.models import Environment
from app.catalogue.features.models import Feature
from app.catalogue.projects.models import Project, ProjectEnvironment
from app.catalogue.projects.queries import hidden_from
from app.catalogue.sdk_tokens.models import SdkToken, SdkTokenProject
from app.catalogue.segments import queries as segments
from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import FeatureState, StrategyType
from app.catalogue.tags.models import Tag
from app.catalogue.usage.models import Application
from app.core.actor import Actor
from app.core.db import db, rows
from app.core.permissions import Permission
from app.portal.search.asking import Kind, Question
from app.portal.search.matching import Column, Rank, matches, rank, starts

MOST = 500
"""As many rows of a kind are counted and can be shown. There may be more."""

Visible = Callable[[Actor], sa.ColumnElement[bool] | None]


@dataclass(frozen=True, slots=True)
class Source:
    """Rows of a table. ``names``: what each is called. ``hint``: how a secret ends.

    ``beside``: other texts that are looked through, with ``late`` only if asked to.
    ``visible``: which rows the actor can see; None if none.
    """

    columns: Sequence[Column]
    names: Sequence[Column]
    beside: Sequence[Column] = ()
    archived_at: Column | None = None
    hint: Column | None = None
    late: bool = False
    visible: Visible = field(default=lambda _actor: sa.true())


class Match(NamedTuple):
    """A row that matches. ``order``: what it is sorted by."""

    row: Any
    rank: Rank
    order: tuple[Any, ...]


def _features(actor: Actor) -> sa.ColumnElement[bool]:
    return sa.true() if actor.is_admin else Feature.project_id.not_in(hidden_from(actor))


def _segments(actor: Actor) -> sa.ColumnElement[bool]:
    seen = segments.rows(actor).order_by(None).with_only_columns(Segment.id)
    return sa.true() if actor.is_admin else Segment.id.in_(seen)


def _accounts(kind: AccountKind) -> Visible:
    is_one = sa.and_(Account.kind == kind, Account.deleted_at.is_(None))
    return lambda actor: is_one if actor.may(Permission.ADMIN) else None


def _sdk_tokens(actor: Actor) -> sa.ColumnElement[bool] | None:
    """Those that the actor can list: all, or those of one project alone."""
    is_valid = SdkToken.revoked_at.is_(None)
    if actor.may(Permission.READ_CLIENT_API_TOKEN):
        return is_valid
    readable = [id for id in actor.project_roles if may_read_tokens(actor, id)]
    if not readable:
        return None
    row = SdkTokenProject
    alone = sa.select(row.token_id).group_by(row.token_id).having(sa.func.count() == 1)
    own = alone.having(sa.func.min(row.project_id).in_(readable))
    return sa.and_(is_valid, SdkToken.id.in_(own))


def _access_tokens(actor: Actor) -> sa.ColumnElement[bool]:
    """The actor’s own; for Admins all."""
    is_valid = sa.and_(Token.revoked_at.is_(None), Account.deleted_at.is_(None))
    belongs = Account.id == Token.account_id
    own = sa.true() if actor.may(Permission.ADMIN) else Token.account_id == actor.id
    return sa.and_(is_valid, belongs, own)


_first_project = (
    sa.select(sa.func.min(SdkTokenProject.project_id))
    .where(SdkTokenProject.token_id == SdkToken.id)
    .correlate(SdkToken)
    .scalar_subquery()
)
_of_account = (Account.id, Account.name, Account.username, Account.email, Account.role)
_names = (Account.name, Account.username, Account.email)

SOURCES = {
    Kind.FEATURES: Source(
        columns=(Feature.id, Feature.name, Feature.project_id, Feature.archived_at),
        names=(Feature.name,),
        beside=(Feature.description,),
        late=True,
        archived_at=Feature.archived_at,
        visible=_features,
    ),
    Kind.PROJECTS: Source(
        columns=(Project.id, Project.name, Project.archived_at),
        names=(Project.name, Project.id),
        beside=(Project.description,),
        archived_at=Project.archived_at,
        visible=Project.visible_to,
    ),
    Kind.TAGS: Source(
        columns=(Tag.id, Tag.type, Tag.value),
        names=(Tag.value, Tag.type + ":" + Tag.value),
    ),
    Kind.SEGMENTS: Source(
        columns=(Segment.id, Segment.name, Segment.description, Segment.project_id),
        names=(Segment.name,),
        beside=(Segment.description,),
        visible=_segments,
    ),
    Kind.CONTEXT_FIELDS: Source(
        columns=(ContextField.name, ContextField.description),
        names=(ContextField.name,),
        beside=(ContextField.description,),
    ),
    Kind.STRATEGY_TYPES: Source(
        columns=(StrategyType.name, StrategyType.description),
        names=(StrategyType.name,),
        beside=(StrategyType.description,),
    ),
    Kind.ENVIRONMENTS: Source(
        columns=(Environment.name, Environment.type, Environment.deprecated),
        names=(Environment.name,),
    ),
    Kind.APPLICATIONS: Source(
        columns=(Application.id, Application.name),
        names=(Application.name,),
    ),
    Kind.USERS: Source(_of_account, _names, visible=_accounts(AccountKind.PERSON)),
    Kind.SERVICE_ACCOUNTS: Source(_of_account, _names, visible=_accounts(AccountKind.SERVICE)),
    Kind.SDK_TOKENS: Source(
        columns=(
            SdkToken.id,
            SdkToken.name,
            SdkToken.environment,
            SdkToken.hint,
            SdkToken.expires_at,
            _first_project.label("project_id"),
        ),
        names=(SdkToken.name,),
        hint=SdkToken.hint,
        visible=_sdk_tokens,
    ),
    Kind.ACCESS_TOKENS: Source(
        columns=(
            Token.description,
            Token.hint,
            Token.expires_at,
            Token.account_id,
            Account.kind,
            sa.func.coalesce(Account.name, Account.username, Account.email).label("owner"),
        ),
        names=(Token.description,),
        hint=Token.hint,
        visible=_access_tokens,
    ),
}


def may_read_tokens(actor: Actor, project_id: str) -> bool:
    return actor.may(Permission.READ_PROJECT_API_TOKEN, project_id)


def found(actor: Actor, kind: Kind, question: Question, *, everywhere: bool = False) -> list[Match]:
    """Up to MOST + 1 rows that match and that the actor can see, the best first.

    ``everywhere``: also in texts that are looked through late. As long as there are no more, they
    are read in any order and ranked here. Of more, some are read: to sort them all would take ten
    times as long. But what is called exactly so is among them, and what starts so.
    """
    source = SOURCES[kind]
    visible = source.visible(actor)
    if visible is None:
        return []
    beside = () if source.late and not everywhere else source.beside
    condition = matches(question.words, (*source.names, *beside))
    if source.hint is not None:
        condition = sa.or_(condition, source.hint == question.text[-HINT_LENGTH:])
    query = sa.select(*source.columns, *source.names).where(condition, visible)
    if question.state is not None:
        query = query.where(_is_in_state(*question.state))
    read = rows(query.limit(MOST + 1))
    if len(read) > MOST:
        is_exact = sa.or_(*(name == question.text for name in source.names))  # in an index
        better = (is_exact, starts(question.words, source.names))
        first = [row for one in better for row in rows(query.where(one).limit(MOST))]
        read = list(dict.fromkeys([*first, *read]))
    ranked = [_ranked(source, question, row) for row in read]
    return sorted(ranked, key=lambda match: match.order)[: MOST + 1]


def _ranked(source: Source, question: Question, row: Any) -> Match:
    names = [name for name in row[len(source.columns) :] if name]
    is_hit = source.hint is not None and row.hint == question.text[-HINT_LENGTH:]
    how = Rank.EXACT if is_hit else rank(question.words, names)
    is_archived = source.archived_at is not None and row.archived_at is not None
    return Match(row, how, (how, is_archived, len(names[0]), names[0]))


def names_with(actor: Actor, kind: Kind, pieces: Sequence[str], limit: int) -> list[str]:
    """Names that have one of the pieces and that the actor can see; those with more of them first.

    Among these the shorter ones first.
    """
    source = SOURCES[kind]
    visible = source.visible(actor)
    if visible is None:
        return []
    found: list[str] = []
    for name in source.names:
        has = [matches([piece], [name]) for piece in pieces]
        number = sum((sa.case((one, 1), else_=0) for one in has), start=sa.literal(0))
        query = sa.select(name).where(sa.or_(*has), visible)
        query = query.order_by(number.desc(), sa.func.length(name), name).limit(limit)
        found += db.session.scalars(query)
    return found


def environments() -> dict[str, str]:
    """The names of all environments, by how they are in lower case."""
    return {name.lower(): name for name in db.session.scalars(sa.select(Environment.name))}


def _is_in_state(is_on: bool, environment: str) -> sa.ColumnElement[bool]:  # noqa: FBT001 - as it was read
    """Whether an active feature of a project that uses the environment is on there, or off."""
    on = sa.select(FeatureState.feature_id).where(
        FeatureState.environment == environment, FeatureState.enabled
    )
    using = sa.select(ProjectEnvironment.project_id).where(
        ProjectEnvironment.environment == environment
    )
    return sa.and_(
        Feature.archived_at.is_(None),
        Feature.project_id.in_(using),
        Feature.id.in_(on) if is_on else Feature.id.not_in(on),
    )
