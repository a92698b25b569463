"""Reads this instance as a document."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import selectinload

from app.accounts.models import Account, AccountKind
from app.catalogue.context.models import ContextField
from app.catalogue.environments.models import Environment
from app.catalogue.projects.models import Member, Project
from app.catalogue.releases.models import ReleaseTemplate, Step
from app.catalogue.sdk_tokens.models import SdkToken
from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import Strategy, StrategyType
from app.catalogue.tags.models import Tag, TagType
from app.core.clock import in_text
from app.core.db import chunks, db, once
from app.delivery.origins import service as cors
from app.exchange.documents import reading_features
from app.exchange.documents.documents import STRATEGY, Document, Item, Kind, empty, name_of

_REFERRED_TO = (
    Kind.ENVIRONMENTS,
    Kind.CONTEXT_FIELDS,
    Kind.STRATEGY_TYPES,
    Kind.TAG_TYPES,
    Kind.TAGS,
    Kind.USERS,
    Kind.SEGMENTS,
)


def whole() -> Document:
    """The whole instance, without SDK tokens: documents have no secrets."""
    return smaller() | {Kind.FEATURES: dict(reading_features.features())}


def of_project(project_id: str) -> Document:
    """A project, and everything that its features, strategies and members refer to."""
    document = _around(smaller(), project_id)
    document[Kind.FEATURES] = dict(reading_features.features(project_id=project_id))
    return document | {
        kind: {name: item for name, item in document[kind].items() if name in names}
        for kind, names in used(document, [project_id]).items()
    }


def smaller() -> Document:
    """Everything except features and SDK tokens."""
    return once("document", _smaller).copy()


def _smaller() -> Document:
    document = empty()
    for kind, items in (
        (Kind.ENVIRONMENTS, map(_environment, db.session.scalars(sa.select(Environment)))),
        (Kind.CONTEXT_FIELDS, map(_context_field, db.session.scalars(sa.select(ContextField)))),
        (Kind.STRATEGY_TYPES, map(_strategy_type, db.session.scalars(sa.select(StrategyType)))),
        (Kind.TAG_TYPES, map(_tag_type, db.session.scalars(sa.select(TagType)))),
        (Kind.TAGS, map(_tag, db.session.execute(sa.select(Tag.type, Tag.value)))),
        (Kind.USERS, map(_user, _accounts(AccountKind.PERSON))),
        (Kind.SERVICE_ACCOUNTS, map(_service_account, _accounts(AccountKind.SERVICE))),
        (Kind.PROJECTS, projects()),
        (Kind.SEGMENTS, map(_segment, db.session.scalars(sa.select(Segment)))),
        (Kind.DEFAULT_STRATEGIES, _default_strategies()),
        (Kind.RELEASE_TEMPLATES, _release_templates()),
        (Kind.BROWSER_ORIGINS, [{"origins": cors.origins()}]),
    ):
        document[kind] = {name_of(kind, item): item for item in items}
    return document


def projects() -> Iterator[Item]:
    members: defaultdict[str, dict[str, str]] = defaultdict(dict)
    query = (
        sa.select(Member.project_id, Member.role, Account)
        .join(Account, Account.id == Member.account_id)
        .where(Account.deleted_at.is_(None))
    )
    for project_id, role, account in db.session.execute(query):
        members[project_id][account.label] = role.title
    loaded = selectinload(Project.enabled), selectinload(Project.approvals)
    for project in db.session.scalars(sa.select(Project).options(*loaded)):
        yield {
            "id": project.id,
            "name": project.name,
            "description": project.description,
            "mode": project.mode.value,
            "defaultStickiness": project.default_stickiness,
            "environments": project.environments,
            "approvals": {
                row.environment: row.required_approvals
                for row in project.change_request_environments
            },
            "members": dict(sorted(members[project.id].items())),
            "archived": project.archived_at is not None,
        }


def sdk_tokens() -> Iterator[Item]:
    """SDK tokens that are not revoked, with the digests of their secrets."""
    query = sa.select(SdkToken).where(SdkToken.revoked_at.is_(None))
    for token in once("SDK tokens", lambda: db.session.scalars(query).all()):
        yield {
            "name": token.name,
            "type": token.type.value,
            "environment": token.environment,
            "projects": sorted(token.projects),
            "digest": token.digest.hex(),
            "hint": token.hint,
            "expiresAt": token.expires_at and in_text(token.expires_at),
        }


def revoked_tokens() -> set[str]:
    """The digests of SDK tokens that were revoked."""
    revoked = sa.select(SdkToken.digest).where(SdkToken.revoked_at.is_not(None))
    return {digest.hex() for digest in db.session.scalars(revoked)}


def _default_strategies() -> Iterator[Item]:
    query = sa.select(Strategy).where(Strategy.project_id.is_not(None))
    for strategy in db.session.scalars(query):
        segments = sorted(segment.name for segment in strategy.segments)
        item = reading_features.strategy(strategy, segments)
        del item["disabled"]
        yield {"project": strategy.project_id, "environment": strategy.environment, **item}


def template_ids(names: Collection[str]) -> dict[str, str]:
    """The ids of release templates by name."""
    found: dict[str, str] = {}
    for chunk in chunks(names):
        query = sa.select(ReleaseTemplate.name, ReleaseTemplate.id)
        found |= dict(db.session.execute(query.where(ReleaseTemplate.name.in_(chunk))).all())
    return found


def _release_templates() -> Iterator[Item]:
    segments = dict(db.session.execute(sa.select(Segment.id, Segment.name)).all())
    for template in db.session.scalars(sa.select(ReleaseTemplate)):
        yield {
            "name": template.name,
            "description": template.description,
            "project": template.project_id,
            "milestones": [_step(step, segments) for step in template.steps],
        }


def _step(step: Step, segments: Mapping[int, str]) -> Item:
    """A step without its ids. A segment that was deleted since keeps a name that no other has."""
    strategies = [
        {
            **{key: value for key, value in each.items() if key in {"name", *STRATEGY}},
            "constraints": reading_features.stored(each["constraints"]),
            "segments": sorted(
                segments.get(id, f"{id}, which was deleted") for id in each["segments"]
            ),
        }
        for each in step["strategies"]
    ]
    wait = step["seconds"]
    return {
        "name": step["name"],
        "strategies": strategies,
        "transitionCondition": None
        if wait is None
        else {"intervalMinutes": wait // 60, "manual": step["by_hand"]},
    }


def _accounts(kind: AccountKind) -> sa.ScalarResult[Account]:
    query = sa.select(Account).where(Account.kind == kind, Account.deleted_at.is_(None))
    return db.session.scalars(query)


def _environment(row: Environment) -> Item:
    return row.snapshot() | {"type": row.type.value}


def _context_field(row: ContextField) -> Item:
    return row.snapshot()


def _strategy_type(row: StrategyType) -> Item:
    return row.snapshot()


def _tag_type(row: TagType) -> Item:
    return row.snapshot()


def _tag(row: Any) -> Item:
    return {"type": row.type, "value": row.value}


def _user(account: Account) -> Item:
    return {
        "username": account.username,
        "email": account.email,
        "name": account.name,
        "rootRole": account.role.title,
    }


def _service_account(account: Account) -> Item:
    return {
        "username": account.username,
        "name": account.name,
        "rootRole": account.role.title,
    }


def _segment(row: Segment) -> Item:
    return {
        "name": row.name,
        "description": row.description,
        "project": row.project_id,
        "constraints": reading_features.stored(row.constraints),
    }


def _around(document: Document, project_id: str) -> Document:
    """A document whose projects, default strategies and templates are those of one project."""
    project = document[Kind.PROJECTS][project_id]
    of_it = document | {Kind.PROJECTS: {project_id: project}}
    for kind in (Kind.DEFAULT_STRATEGIES, Kind.RELEASE_TEMPLATES):
        of_it[kind] = {
            name: item for name, item in document[kind].items() if item["project"] == project_id
        }
    of_it[Kind.BROWSER_ORIGINS] = {}
    return of_it


def used(document: Document, projects: Collection[str]) -> dict[Kind, set[str]]:
    """What the features, projects, strategies and templates of a document refer to, by kind.

    ``projects``: those whose own segments count as used.
    """
    strategies = [*document[Kind.DEFAULT_STRATEGIES].values()]
    for template in document[Kind.RELEASE_TEMPLATES].values():
        strategies += [each for step in template["milestones"] for each in step["strategies"]]
    used: dict[Kind, set[str]] = {kind: set() for kind in _REFERRED_TO}
    for feature in document[Kind.FEATURES].values():
        used[Kind.TAGS].update(feature["tags"])
        used[Kind.ENVIRONMENTS].update(feature["environments"])
        for state in feature["environments"].values():
            strategies += state["strategies"]
            for variant in state["variants"]:
                _note_fields(used, [variant], variant.get("overrides", ()))
    for strategy in strategies:
        used[Kind.STRATEGY_TYPES].add(strategy["name"])
        used[Kind.SEGMENTS].update(strategy["segments"])
        used[Kind.CONTEXT_FIELDS].add(strategy["parameters"].get("stickiness", ""))
        _note_fields(used, strategy["variants"], strategy["constraints"])
    for name, segment in document[Kind.SEGMENTS].items():
        if segment["project"] in projects or name in used[Kind.SEGMENTS]:
            used[Kind.SEGMENTS].add(name)
            _note_fields(used, [], segment["constraints"])
    used[Kind.TAG_TYPES] = {tag.partition(":")[0] for tag in used[Kind.TAGS]}
    for project in document[Kind.PROJECTS].values():
        used[Kind.ENVIRONMENTS].update(project["environments"], project["approvals"])
        used[Kind.CONTEXT_FIELDS].add(project["defaultStickiness"])
        used[Kind.USERS].update(project["members"])
    used[Kind.SERVICE_ACCOUNTS] = used[Kind.USERS]
    return used


def _note_fields(used: dict[Kind, set[str]], variants: Any, constraints: Any) -> None:
    used[Kind.CONTEXT_FIELDS].update(variant["stickiness"] for variant in variants)
    used[Kind.CONTEXT_FIELDS].update(each["contextName"] for each in constraints)
