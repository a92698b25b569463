"""Undoes an import, as long as nothing was built on it.

Things that it created are deleted permanently. Things that it changed are restored.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from app.access.access_reviews.models import AccessReview
from app.access.groups.models import GroupProject
from app.accounts import service as accounts
from app.accounts.models import SetupLink
from app.catalogue.context import service as context
from app.catalogue.environments.models import Environment
from app.catalogue.favourites.models import Favourite
from app.catalogue.features import deleting
from app.catalogue.features.models import Dependency, Feature, Selection
from app.catalogue.features.queries import Child
from app.catalogue.projects.models import Approval, Member, Project, ProjectEnvironment
from app.catalogue.releases import queries
from app.catalogue.releases.models import Release
from app.catalogue.sdk_tokens.models import SdkToken, SdkTokenProject
from app.catalogue.segments import service as segments
from app.catalogue.strategies import custom
from app.catalogue.tags import service as tags
from app.catalogue.tags.models import FeatureTag, Tag, TagName
from app.catalogue.usage.models import FeatureSeen, Usage
from app.catalogue.visits.models import Visit
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import Model, chunks, db, flush
from app.core.errors import Conflict
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.service import EventPayload
from app.core.words import spoken
from app.exchange.documents import reading, reading_features
from app.exchange.documents import service as configuration
from app.exchange.documents.documents import Document, Kind, digest, empty
from app.exchange.documents.plans import Choice, Decisions, Wanted
from app.exchange.documents.writing_features import recorded
from app.exchange.unleash import imports
from app.exchange.unleash.models import Import, ImportState
from app.releases.change_requests.models import Change, ChangeRequest
from app.releases.switching import defaults
from app.releases.templates import service as templates

NAMED = 5


def undo(actor: Actor, id: int) -> Import:
    """Undo an import, all of it or nothing.

    Raises:
        Conflict: when it is too late, or something was built on it; the message says what.

    """
    found = imports.get(id, for_change=True)
    if not found.can_be_undone:
        raise Conflict(f"Import {id} can’t be undone: it is {found.state}, or too old.")
    things = _by_kind(imports.written(found))
    present = _present(things)
    created = _ids([name for name, (before, _) in things[Kind.FEATURES].items() if before is None])
    _refuse_if_built_on(things, present, created)
    acting = actor.for_act(events.new_batch(), f"Undid import {id} from {found.source}")
    _change_back(acting, things)
    _Removal(acting, things, present, created).remove()
    found.state, found.finished_at = ImportState.UNDONE, utcnow()
    db.session.flush()
    return found


Things = dict[Kind, dict[str, list[Any]]]
"""``[before, digest after]`` of what was written, by kind and name."""


def _by_kind(written: dict[str, Any]) -> Things:
    found: Things = {kind: {} for kind in Kind}
    for key, before_and_after in written.items():
        kind, _, name = key.partition(":")
        found[Kind(kind)][name] = before_and_after
    return found


def _present(things: Things) -> Document:
    present = reading.smaller()
    present[Kind.FEATURES] = dict(reading_features.features(names=things[Kind.FEATURES]))
    present[Kind.SDK_TOKENS] = {item["name"]: item for item in reading.sdk_tokens()}
    return present


def _refuse_if_built_on(things: Things, present: Document, created: Mapping[str, int]) -> None:
    """``created``: the ids of features that the import created, by name."""
    changed: list[str] = [
        f"{kind.one} {name}"
        for kind, written in things.items()
        for name, (_, after) in written.items()
        if digest(present[kind].get(name)) != after
    ]
    for model in (FeatureSeen, Usage):
        for ids in chunks(created.values()):
            seen = sa.select(Feature.name).join(model).where(Feature.id.in_(ids)).distinct()
            changed += [
                f"feature {name}, which applications ask for" for name in db.session.scalars(seen)
            ]
    for ids in chunks(created.values()):
        proposed = sa.select(Feature.name).join(Change).where(Feature.id.in_(ids)).distinct()
        changed += [f"feature {name}, in a change request" for name in db.session.scalars(proposed)]
        made_since = (
            sa.select(Child.name, Feature.name)
            .join(Dependency, Dependency.child_id == Child.id)
            .join(Feature, Feature.id == Dependency.parent_id)
            .where(Feature.id.in_(ids))
        )
        changed += [
            f"feature {parent}, on which {child} depends"
            for child, parent in db.session.execute(made_since)
            if child not in created
        ]
    for chunk in chunks(list(things[Kind.SDK_TOKENS])):
        used = sa.select(SdkToken.name).where(
            SdkToken.name.in_(chunk), SdkToken.last_seen_at.is_not(None)
        )
        changed += [f"SDK token {name}, which is in use" for name in db.session.scalars(used)]
    for ids in chunks(created.values()):
        released = sa.select(Feature.name).join(Release).where(Feature.id.in_(ids)).distinct()
        changed += [f"feature {name}, with a release" for name in db.session.scalars(released)]
    changed += _used_projects(things, present, created)
    changed += _used_templates(things)
    for name, (before, _) in things[Kind.USERS].items():
        account = accounts.named(name)
        if before is None and account is not None and account.password_hash is not None:
            changed.append(f"user {name}, whose password is set")
    if changed:
        raise Conflict(
            f"This import can’t be undone, because something was built on it since: "
            f"{spoken(dict.fromkeys(changed), NAMED)}."
        )


def _used_templates(things: Things) -> Iterator[str]:
    """Release templates that the import created and releases have started from since, with how."""
    written = things[Kind.RELEASE_TEMPLATES].items()
    ids = reading.template_ids([name for name, (before, _) in written if before is None])
    used = queries.template_uses(list(ids.values()))
    for name, id in ids.items():
        if id in used:
            yield f"release template {name}, from which a release started"


def _used_projects(things: Things, present: Document, features: Collection[str]) -> list[str]:
    """Projects that the import created and people have used since, with how."""
    created = [name for name, (before, _) in things[Kind.PROJECTS].items() if before is None]
    known = set(features)
    found = [
        f"project {item['project']}, which has {kind.one} {name}"
        for kind in (Kind.SEGMENTS, Kind.DEFAULT_STRATEGIES, Kind.RELEASE_TEMPLATES)
        for name, item in present[kind].items()
        if item["project"] in created and name not in things[kind]
    ]
    for chunk in chunks(created):
        inside = sa.select(Feature.name, Feature.project_id).where(Feature.project_id.in_(chunk))
        found += [
            f"project {project_id}, which has feature {name}"
            for name, project_id in db.session.execute(inside)
            if name not in known
        ]
        asked = sa.select(ChangeRequest.project_id).where(ChangeRequest.project_id.in_(chunk))
        found += [f"project {id}, with change requests" for id in db.session.scalars(asked)]
        reviewed = sa.select(AccessReview.project_id).where(AccessReview.project_id.in_(chunk))
        found += [f"project {id}, with access reviews" for id in db.session.scalars(reviewed)]
    return found


def _change_back(actor: Actor, things: Things) -> None:
    document = empty()
    for kind, written in things.items():
        document[kind] = {name: before for name, (before, _) in written.items() if before}
    wanted = Wanted(document, is_exact=True)
    plan = configuration.plan(wanted, Decisions(Choice.TAKE))
    configuration.refuse_impossible(plan)
    if any(entry.proposed for entry in plan.written):
        raise Conflict("What it changed now needs approvals. Change it back in change requests.")
    configuration.write(actor, plan)


class _Removal:
    """Deletes what the import created. Nothing else refers to it: ``undo`` has checked that."""

    def __init__(
        self, actor: Actor, things: Things, present: Document, features: Mapping[str, int]
    ) -> None:
        """``features``: the ids of those that the import created, by name."""
        self.actor = actor
        self.present = present
        self.features = features
        self.created = {
            kind: [name for name, (before, _) in written.items() if before is None]
            for kind, written in things.items()
        }

    def remove(self) -> None:
        self._tokens()
        self._features()
        self._each(Kind.DEFAULT_STRATEGIES, self._default_strategy)
        self._each(Kind.RELEASE_TEMPLATES, self._release_template)
        self._each(Kind.SEGMENTS, self._segment)
        self._projects()
        self._each(Kind.USERS, self._account)
        self._tags()
        self._each(Kind.TAG_TYPES, lambda name: tags.remove_type(self.actor, tags.get_type(name)))
        self._each(
            Kind.STRATEGY_TYPES,
            lambda name: custom.remove(self.actor, custom.get(name, for_change=True)),
        )
        self._each(
            Kind.CONTEXT_FIELDS,
            lambda name: context.remove(self.actor, context.get(name, for_change=True)),
        )
        self._environments()

    def _each(self, kind: Kind, remove: Callable[[str], object]) -> None:
        for name in self.created[kind]:
            remove(name)
        flush()

    def _tokens(self) -> None:
        for chunk in chunks(self.created[Kind.SDK_TOKENS]):
            found = list(db.session.scalars(sa.select(SdkToken).where(SdkToken.name.in_(chunk))))
            for token in found:
                db.session.delete(token)
            payloads = [EventPayload(project=None, pre_data=token.snapshot()) for token in found]
            events.record_all(self.actor, EventType.SDK_TOKEN_REVOKED, payloads)
        flush()

    def _features(self) -> None:
        deleting.delete([*self.features.values()])
        payloads = [
            EventPayload(
                project=self.present[Kind.FEATURES][name]["project"],
                feature_name=name,
                pre_data=recorded(self.present[Kind.FEATURES][name]),
            )
            for name in self.features
        ]
        events.record_all(self.actor, EventType.FEATURE_DELETED, payloads)

    def _default_strategy(self, name: str) -> None:
        item = self.present[Kind.DEFAULT_STRATEGIES][name]
        present = defaults.get_for_change(self.actor, item["project"], item["environment"])
        defaults.reset(self.actor, present)

    def _release_template(self, name: str) -> None:
        id = reading.template_ids([name])[name]
        templates.remove(self.actor, templates.get(self.actor, id, for_change=True))

    def _segment(self, name: str) -> None:
        segments.remove(self.actor, segments.named(self.actor, name, for_change=True))

    def _projects(self) -> None:
        ids = self.created[Kind.PROJECTS]
        payloads = []
        for id in ids:
            project = db.session.get_one(Project, id)
            payloads.append(EventPayload(project=id, pre_data=project.snapshot()))
        for model in (
            *(ProjectEnvironment, Approval, GroupProject, Member, Favourite, Visit, Selection),
            SdkTokenProject,
        ):
            _delete(model, model.project_id, ids)
        _delete(Project, Project.id, ids)
        events.record_all(self.actor, EventType.PROJECT_DELETED, payloads)
        db.session.expire_all()

    def _account(self, name: str) -> None:
        account = accounts.named(name)
        if account is not None:
            db.session.execute(sa.delete(SetupLink).where(SetupLink.account_id == account.id))
            before = account.snapshot()
            accounts.mark_deleted([account])
            events.record(self.actor, EventType.USER_DELETED, pre_data=before)

    def _tags(self) -> None:
        for chunk in chunks(self.created[Kind.TAGS], 500):
            found = tags.ids_of([TagName.read(name) for name in chunk])
            used = sa.select(FeatureTag.tag_id)
            gone = Tag.id.in_([*found.values()]), Tag.id.not_in(used)
            db.session.execute(sa.delete(Tag).where(*gone))

    def _environments(self) -> None:
        names = self.created[Kind.ENVIRONMENTS]
        payloads = [
            EventPayload(pre_data=db.session.get_one(Environment, name).snapshot())
            for name in names
        ]
        _delete(Environment, Environment.name, names)
        events.record_all(self.actor, EventType.ENVIRONMENT_DELETED, payloads)
        db.session.expire_all()


def _ids(names: Collection[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for chunk in chunks(names):
        query = sa.select(Feature.name, Feature.id).where(Feature.name.in_(chunk))
        found |= dict(db.session.execute(query).all())
    return found


def _delete(model: type[Model], column: Any, values: Sequence[str]) -> None:
    for chunk in chunks(values):
        db.session.execute(sa.delete(model).where(column.in_(chunk)))
