"""Carries out a plan in one transaction, as one batch of events.

Most kinds have few things, which go through the services of their areas with all their rules and
events. Features are many, and written in bulk; see ``writing_features``.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from app.access.service_accounts import service as service_accounts
from app.accounts import service as accounts
from app.accounts.models import Account, AccountKind, key_of
from app.catalogue.archive import service as archive
from app.catalogue.context import service as context
from app.catalogue.environments import service as environments
from app.catalogue.environments.models import EnvironmentType
from app.catalogue.projects import members
from app.catalogue.projects import service as projects
from app.catalogue.projects.models import ProjectMode
from app.catalogue.sdk_tokens import service as sdk_tokens
from app.catalogue.sdk_tokens.models import SdkTokenType
from app.catalogue.segments import service as segments
from app.catalogue.segments.models import Segment
from app.catalogue.strategies import custom
from app.catalogue.tags import service as tags
from app.catalogue.tags.models import TagName
from app.core.actor import Actor
from app.core.clock import from_text
from app.core.db import chunks, db, flush
from app.core.errors import DomainError
from app.core.permissions import Role
from app.delivery.origins import service as cors
from app.exchange.documents import (
    proposing,
    reading,
    reading_features,
    releases,
    writing_features,
)
from app.exchange.documents.documents import Item, Kind
from app.exchange.documents.plans import Entry, Plan
from app.releases.switching import defaults
from app.releases.templates import service as templates
from app.releases.templates.steps import NewStep, Transition

Progress = Callable[[Kind, int], object]
"""Called with a kind, and how many things of it were written."""


@dataclass(slots=True)
class Result:
    """What carrying out a plan did, besides the plan. ``change_requests``: by their ids."""

    change_requests: list[int] = field(default_factory=list)


def write(actor: Actor, plan: Plan, progress: Progress, *, owns_new: bool) -> Result:
    """Write everything that the plan takes; in a transaction, all or nothing.

    ``owns_new``: make the actor the Owner of new projects for which the plan names no members.

    Raises:
        DomainError: what the service of a thing refuses, naming the thing.

    """
    db.session.expire_all()
    by_kind: defaultdict[Kind, list[Entry]] = defaultdict(list)
    for entry in plan.written:
        by_kind[entry.kind].append(entry)
    writer = _Writer(actor, by_kind, progress, owns_new=owns_new)
    writer.write()
    return Result(proposing.propose(actor, plan.written))


class _Writer:
    def __init__(
        self,
        actor: Actor,
        by_kind: defaultdict[Kind, list[Entry]],
        progress: Progress,
        *,
        owns_new: bool,
    ) -> None:
        self.actor, self.by_kind, self.progress = actor, by_kind, progress
        self.owns_new = owns_new
        self.loss_checks: list[Callable[[], None]] = []
        """Checks that nothing uses removed values of context fields, to run after everything."""

    def write(self) -> None:
        for kind, write in (
            (Kind.ENVIRONMENTS, self._environment),
            (Kind.CONTEXT_FIELDS, self._context_field),
            (Kind.STRATEGY_TYPES, self._strategy_type),
            (Kind.TAG_TYPES, self._tag_type),
        ):
            self._each(kind, self.by_kind[kind], write)
        names = [TagName(**entry.item) for entry in self.by_kind[Kind.TAGS] if entry.item]
        tags.make(names)
        self.progress(Kind.TAGS, len(names))
        self._each(Kind.USERS, self.by_kind[Kind.USERS], self._user)
        service = Kind.SERVICE_ACCOUNTS
        self._each(service, self.by_kind[service], self._service_account)
        self._each(Kind.PROJECTS, self.by_kind[Kind.PROJECTS], self._project)
        # New segments before features that use them, changed ones after features that stop using
        # them.
        new, old = _split(self.by_kind[Kind.SEGMENTS])
        self._each(Kind.SEGMENTS, new, self._segment)
        self._features()
        self._each(Kind.SEGMENTS, old, self._segment)
        default = Kind.DEFAULT_STRATEGIES
        self._each(default, self.by_kind[default], self._default_strategy)
        template = Kind.RELEASE_TEMPLATES
        self._each(template, self.by_kind[template], self._release_template)
        for entry in self.by_kind[Kind.PROJECTS]:
            self._archive_project(entry)  # late, since archived projects refuse changes
        for check in self.loss_checks:
            check()
        self._each(Kind.SDK_TOKENS, self.by_kind[Kind.SDK_TOKENS], self._sdk_token)
        origins = Kind.BROWSER_ORIGINS
        self._each(origins, self.by_kind[origins], self._origins)

    def _each(
        self, kind: Kind, entries: Sequence[Entry], write: Callable[[Item, Item | None], object]
    ) -> None:
        for entry in entries:
            try:
                write(entry.item or {}, entry.current)
            except DomainError as error:
                error.message = f"{kind.one.capitalize()} {entry.name}: {error.message}"
                raise
        flush()
        self.progress(kind, len(entries))

    def _environment(self, item: Item, current: Item | None) -> None:
        values = _snake(item) | {"type": EnvironmentType(item["type"])}
        deprecated = values.pop("deprecated")
        name = values.pop("name")
        if current is None:
            environments.create(self.actor, name=name, **values)
        if current is not None or deprecated:
            found = environments.get_for_change(name)
            environments.update(self.actor, found, **values, deprecated=deprecated)

    def _context_field(self, item: Item, current: Item | None) -> None:
        values = _snake(item)
        if current is None:
            context.create(self.actor, **values)
            return
        found = context.get(values.pop("name"), for_change=True)
        self.loss_checks.append(context.replace(self.actor, found, **values))

    def _strategy_type(self, item: Item, current: Item | None) -> None:
        values = dict(item)
        name, deprecated = values.pop("name"), values.pop("deprecated")
        if current is None:
            custom.create(self.actor, name=name, **values)
        found = custom.get(name, for_change=True)
        custom.update(self.actor, found, **values)
        custom.set_deprecated(self.actor, found, deprecated=deprecated)

    def _tag_type(self, item: Item, current: Item | None) -> None:
        values = dict(item)
        if current is None:
            tags.create_type(self.actor, **values)
        else:
            tags.update_type(self.actor, tags.get_type(values.pop("name")), **values)

    def _user(self, item: Item, current: Item | None) -> None:
        values = _snake(item) | {"root_role": Role[item["rootRole"].upper()]}
        if current is None:
            accounts.create(self.actor, **values)
        else:
            found = accounts.get_for_change(_account(current).id)
            accounts.update(self.actor, found, **values)

    def _service_account(self, item: Item, current: Item | None) -> None:
        values = _snake(item) | {"root_role": Role[item["rootRole"].upper()]}
        if current is None:
            service_accounts.create(self.actor, **values)
        else:
            id = _account(current).id
            found = accounts.get_for_change(id, kind=AccountKind.SERVICE)
            accounts.update(self.actor, found, **values)

    def _project(self, item: Item, current: Item | None) -> None:
        approvals = dict(item["approvals"])
        if current is not None:  # lowering them is proposed
            here = current["approvals"]
            approvals |= {name: here[name] for name in projects.lowered(current, item)}
        rules = [
            projects.ApprovalRule(name=name, required_approvals=most)
            for name, most in approvals.items()
        ]
        used = {"environments": item["environments"], "change_request_environments": rules}
        fields: Any = {
            "name": item["name"],
            "description": item["description"],
            "mode": ProjectMode(item["mode"]),
            "default_stickiness": item["defaultStickiness"],
        }
        if current is None:
            owned = self.owns_new and not item["members"]
            projects.create(self.actor, id=item["id"], owned=owned, **fields, **used)
        elif current["archived"]:
            projects.revive(self.actor, item["id"])
        found = projects.get_for_change(self.actor, item["id"])
        if current is not None:
            projects.update(self.actor, found, **fields)
            projects.set_environments(self.actor, found, **used)
        if current is None and not item["members"]:
            return
        roles = {
            _account_named(name).id: Role[role.upper()] for name, role in item["members"].items()
        }
        members.replace(self.actor, found, roles)

    def _archive_project(self, entry: Entry) -> None:
        if entry.item and entry.item["archived"]:
            found = projects.get_for_change(self.actor, entry.name)
            projects.archive(self.actor, found)

    def _segment(self, item: Item, current: Item | None) -> None:
        if current is None:
            segments.create(self.actor, **item)
        else:
            found = segments.named(self.actor, item["name"], for_change=True)
            segments.update(self.actor, found, **item)

    def _default_strategy(self, item: Item, _current: Item | None) -> None:
        values = dict(item)
        place = values.pop("project"), values.pop("environment")
        values["segments"] = _segment_ids(item["segments"])
        present = defaults.get_for_change(self.actor, *place)
        defaults.choose(self.actor, present, **values)

    def _release_template(self, item: Item, current: Item | None) -> None:
        name, fields = item["name"], {"description": item["description"]}
        steps = [_new_step(each) for each in item["milestones"]]
        if current is None:
            templates.create(
                self.actor, name=name, project=item["project"], milestones=steps, **fields
            )
        else:
            id = reading.template_ids([name])[name]
            found = templates.get(self.actor, id, for_change=True)
            templates.update(self.actor, found, milestones=steps, **fields)

    def _features(self) -> None:
        entries = self.by_kind[Kind.FEATURES]
        self._revive(entries)
        new, old = _split(entries)
        plain = [entry for entry in (*new, *old) if entry.item]
        releases.settle(self.actor, old)
        writing_features.write(
            self.actor, plain, lambda number: self.progress(Kind.FEATURES, number)
        )
        self._archive(old)

    def _revive(self, entries: Sequence[Entry]) -> None:
        """Revive features. That switches them off everywhere, so read them again."""
        found = [
            entry
            for entry in entries
            if entry.current and entry.item and entry.current["archived"] > entry.item["archived"]
        ]
        for project_id, names in _by_project(found).items():
            archive.revive(self.actor, project_id, names)
        now = dict(reading_features.features(names=[entry.name for entry in found]))
        for entry in found:
            entry.current = now[entry.name]

    def _archive(self, entries: Sequence[Entry]) -> None:
        found = [
            entry
            for entry in entries
            if entry.current
            and writing_features.direct(entry)["archived"] > entry.current["archived"]
        ]
        for project_id, names in _by_project(found).items():
            archive.archive(self.actor, project_id, names)

    def _sdk_token(self, item: Item, _current: Item | None) -> None:
        expires_at = item["expiresAt"]
        sdk_tokens.take_over(
            self.actor,
            token_name=item["name"],
            type=SdkTokenType(item["type"]),
            environment=item["environment"],
            projects=item["projects"],
            expires_at=from_text(expires_at) if expires_at else None,
            digest=bytes.fromhex(item["digest"]),
            hint=item["hint"],
        )

    def _origins(self, item: Item, _current: Item | None) -> None:
        cors.set_origins(self.actor, item["origins"])


def _split(entries: Sequence[Entry]) -> tuple[list[Entry], list[Entry]]:
    """Entries to create, and entries to change."""
    return [e for e in entries if e.current is None], [e for e in entries if e.current is not None]


def _by_project(entries: Sequence[Entry]) -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for entry in entries:
        found[(entry.current or {})["project"]].append(entry.name)
    return found


def _snake(item: Item) -> dict[str, Any]:
    """The fields with the names of the services’ arguments."""
    return {
        "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in key): value
        for key, value in item.items()
    }


def _account(item: Item) -> Account:
    return _account_named(item["username"] or item["email"])


def _account_named(name: str) -> Account:
    account = accounts.named(name)
    if account is None:
        raise LookupError(key_of(name))  # never: the plan has checked it
    return account


def _new_step(step: Item) -> NewStep:
    """A step as clients send it, with the ids of segments."""
    condition = step["transitionCondition"]
    return NewStep(
        name=step["name"],
        strategies=[
            {**each, "segments": _segment_ids(each["segments"])}  # type: ignore[typeddict-item] # checked by the schema
            for each in step["strategies"]
        ],
        transition_condition=condition
        and Transition(interval_minutes=condition["intervalMinutes"], manual=condition["manual"]),
    )


def _segment_ids(names: Sequence[str]) -> list[int]:
    found: list[int] = []
    for chunk in chunks(names):
        query = sa.select(Segment.id).where(Segment.name.in_(chunk)).order_by(Segment.name)
        found += db.session.scalars(query)
    return found
