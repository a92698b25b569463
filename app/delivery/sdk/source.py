"""Tokens and states in memory, read again as soon as something was committed that changes them."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from app.catalogue.features.models import Feature
from app.catalogue.sdk_tokens.models import SdkToken, SdkTokenProject, SdkTokenType
from app.catalogue.tags.models import FeatureTag, Tag
from app.core.clock import utcnow
from app.core.commits import DataVersion, Version
from app.core.db import Begin, beginning, db, rows, transact
from app.core.errors import DomainError, Unavailable
from app.core.events.models import Event, EventHead
from app.core.logs import LOGGER
from app.delivery.origins import service as cors
from app.delivery.sdk import state
from app.delivery.sdk.engines import Engines
from app.delivery.sdk.payloads import Answers
from app.evaluation.evaluator import Evaluator

T = TypeVar("T")

LOOK_SECONDS = 0.5
"""How often PostgreSQL is asked whether something changed."""
RETRY_SECONDS = 1.0
WARN_SECONDS = 60.0
MOST_EVENTS = 200

_head = sa.select(EventHead.last_id, EventHead.digest)
_since = (
    sa.select(Event.id, Event.digest, Event.type)
    .where(Event.id >= sa.bindparam("last"))
    .order_by(Event.id)
    .limit(MOST_EVENTS)
)
_tokens = (
    sa.select(
        SdkToken.id,
        SdkToken.digest,
        SdkToken.type,
        SdkToken.environment,
        SdkToken.all_projects,
        SdkToken.expires_at,
        SdkTokenProject.project_id,
    )
    .outerjoin(SdkTokenProject, SdkTokenProject.token_id == SdkToken.id)
    .where(SdkToken.revoked_at.is_(None))
    .order_by(SdkToken.id, SdkTokenProject.project_id)
)


@dataclass(frozen=True, slots=True)
class Reader:
    """Whom a token lets read what; ``projects``: None for all."""

    token_id: int
    digest: bytes
    type: SdkTokenType
    environment: str
    projects: tuple[str, ...] | None
    expires_at: datetime | None

    @property
    def has_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= utcnow()


class _Head(NamedTuple):
    """Where the event log ends. After a restore, an id may come again, but not its digest."""

    id: int
    digest: bytes


class Source:
    """What SDKs may read, and what they get. ``context``: where the database can be used.

    ``note``: takes how many features can't be evaluated, whenever that is found out.

    Everything that changes delivery records an event. So what is in memory holds for as long as
    the event log has no new event that may have changed it.
    """

    def __init__(
        self,
        context: Callable[[], AbstractContextManager[object]],
        note: Callable[[int], object] = lambda _: None,
    ) -> None:
        self._context = context
        self._lock = threading.RLock()
        self._engine: sa.Engine | None = None
        self._watch = DataVersion()
        self._seen: Version | None = None
        self._looked_at = float("-inf")
        self._away_since: float | None = None
        self._warned_at = float("-inf")
        self._head: _Head | None = None
        self._readers: dict[bytes, Reader] | None = None
        self._origins: tuple[_Head | None, frozenset[str]] = None, frozenset()
        self._states: dict[str, tuple[int, Answers]] = {}
        self._generation = 0
        self._engines = Engines(note)

    @property
    def age(self) -> int | None:
        """For how many seconds the database has been away; None while it isn't."""
        since = self._away_since
        return None if since is None else int(time.monotonic() - since)

    def reader(self, digest: bytes) -> Reader | None:
        """Whom the token with this digest lets read; None if there is no such token.

        Raises:
            Unavailable: if the database is away and no tokens are known.

        """
        reader = self._known_readers().get(digest)
        if reader is None:
            self._look(again=True)  # it may be so new that PostgreSQL was not asked since
            reader = self._known_readers().get(digest)
        if reader is None and self._away_since is not None:
            raise Unavailable
        return reader

    def origins(self) -> frozenset[str]:
        """The origins whose pages may read features; ``*`` for all.

        Raises:
            Unavailable: if the database is away and they are not known.

        """
        self._known_readers()
        head, known = self._origins
        if head == self._head:
            return known
        try:
            with self._noticing_absence():
                now = self._head, frozenset(self._ask(cors.origins))
        except Unavailable:
            if head is None:
                raise
            return known
        self._origins = now
        return now[1]

    def evaluator(self, environment: str) -> Evaluator:
        """What evaluates the features of an environment, as they are in ``answers``.

        Raises:
            Unavailable: if they can't be read, or not evaluated.

        """
        return self._engines.of(self.answers(environment))

    def problems(self) -> dict[str, Mapping[str, str]]:
        """See ``Engines.problems``."""
        return self._engines.problems()

    def answers(self, environment: str) -> Answers:
        """The answers for an environment, no older than the reader that was asked for before.

        Raises:
            Unavailable: if the database is away and the environment was never asked for.

        """
        known = self._states.get(environment)
        if known is not None and known[0] == self._generation:
            return known[1]
        with self._lock:
            known = self._states.get(environment)
            generation = self._generation
            if known is not None and known[0] == generation:
                return known[1]  # another thread was faster
            try:
                with self._noticing_absence():
                    made = self._ask(lambda: state.read(environment), Begin.AS_READER)
            except Unavailable:
                if known is None:
                    raise
                return known[1]
            answers = Answers(made, self._tagged)
            self._states[environment] = (generation, answers)
            return answers

    def answers_at_hand(self, reader: Reader) -> Answers | None:
        """The answers for a reader's environment, if both still hold and that is known already.

        Waits for nothing, also when the database was not asked for a while.
        """
        if not self._is_as_seen(self._version()):
            return None
        known = self._states.get(reader.environment)
        is_known = self._readers is not None and self._readers.get(reader.digest) == reader
        if known is None or known[0] != self._generation or not is_known or reader.has_expired:
            return None
        return known[1]

    def _known_readers(self) -> dict[bytes, Reader]:
        self._look()
        readers = self._readers
        if readers is None:
            raise Unavailable
        return readers

    def _look(self, *, again: bool = False) -> None:
        """Find out whether something was committed that changes what SDKs get.

        ``again``: also if PostgreSQL was asked a moment ago.
        """
        if self._away_since is not None and time.monotonic() < self._looked_at + RETRY_SECONDS:
            return
        if not again and self._is_as_seen(self._version()):
            return
        with self._lock:
            seen = self._version()  # before it is read: a later commit counts the next time
            if not again and self._is_as_seen(seen):
                return  # another thread was faster
            try:
                with self._noticing_absence():
                    self._catch_up()
                    self._seen = seen
            except Unavailable:
                pass  # who asks gets what is known
            self._looked_at = time.monotonic()

    def _version(self) -> Version | None:
        if self._engine is None:
            with self._context():
                self._engine = db.engine
        try:
            return self._watch.version(self._engine)
        except sqlite3.Error:
            return None

    def _is_as_seen(self, version: Version | None) -> bool:
        if version is None or version != self._seen or self._away_since is not None:
            return False
        is_certain = version[1] > 0  # SQLite tells of the commits of others too
        return is_certain or time.monotonic() < self._looked_at + LOOK_SECONDS

    def _catch_up(self) -> None:
        head = _Head(*self._ask(lambda: rows(_head))[0])
        if self._readers is not None and head == self._head:
            return
        if self._head is None or self._has_changed_since(self._head):
            self._generation += 1
        self._readers = self._read_readers()
        self._head = head

    def _has_changed_since(self, head: _Head) -> bool:
        since = self._ask(lambda: rows(_since, last=head.id))
        if not since or (since[0].id, since[0].digest) != head or len(since) == MOST_EVENTS:
            return True  # another database, or more than is worth looking through
        return any(event.type.declared.touches_sdks for event in since[1:])

    def _read_readers(self) -> dict[bytes, Reader]:
        readers: dict[bytes, Reader] = {}
        for row in self._ask(lambda: rows(_tokens)):
            known = readers.get(row.digest)
            projects = None if row.all_projects else (row.project_id,)
            if known is not None and known.projects is not None:
                projects = (*known.projects, row.project_id)
            readers[row.digest] = Reader(
                row.id, row.digest, row.type, row.environment, projects, row.expires_at
            )
        return readers

    def _tagged(self, tags: Iterable[str]) -> set[str]:
        """The names of the features with one of the tags, which are ``type:value``."""
        pairs = [tuple(tag.split(":", 1)) for tag in tags if ":" in tag]
        query = (
            sa.select(Feature.name)
            .join(FeatureTag, FeatureTag.feature_id == Feature.id)
            .join(Tag, Tag.id == FeatureTag.tag_id)
            .where(sa.tuple_(Tag.type, Tag.value).in_(pairs))
        )
        with self._noticing_absence():
            return set(self._ask(lambda: db.session.scalars(query).all()))

    def _ask(self, read: Callable[[], T], begin: Begin = Begin.NOT_AT_ALL) -> T:
        with self._context(), beginning(begin):
            return transact(read, writes=False, snapshot=begin is Begin.AS_READER)

    @contextmanager
    def _noticing_absence(self) -> Iterator[None]:
        """Take note of whether the database answers, and say so in the log once a minute."""
        try:
            yield
        except (SQLAlchemyError, DomainError) as error:
            now = time.monotonic()
            self._away_since = self._away_since or now
            if now >= self._warned_at + WARN_SECONDS:
                self._warned_at = now
                LOGGER.warning("SDKs get what was known before the database was away: %s", error)
            raise Unavailable from error
        self._away_since = None
