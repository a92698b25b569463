"""In-memory cache of SDK tokens and features, reloaded after each commit that changes them."""

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
from app.core.commits import DataVersion, Notifications, Version
from app.core.connections import Begin, beginning
from app.core.db import db, transact
from app.core.errors import DomainError, Unavailable
from app.core.events.models import Event, EventHead
from app.core.logs import LOGGER
from app.core.statements import Prepared
from app.delivery.origins import service as cors
from app.delivery.sdk import state
from app.delivery.sdk.engines import Engines
from app.delivery.sdk.payloads import Answers
from app.evaluation.evaluator import Evaluator

T = TypeVar("T")

RETRY_SECONDS = 1.0
"""Interval between two attempts to reach a database that is unavailable."""
WARN_SECONDS = 60.0
MOST_EVENTS = 200
"""If there are this many new events, reload everything without looking at their types."""

_head = Prepared(sa.select(EventHead.last_id, EventHead.digest))
_since = Prepared(
    sa.select(Event.id, Event.digest, Event.type)
    .where(Event.id >= sa.bindparam("last"))
    .order_by(Event.id)
    .limit(MOST_EVENTS)
)
_tokens = Prepared(
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
    """What an SDK token grants. ``projects``: None for all."""

    token_id: int
    digest: bytes
    type: SdkTokenType
    environment: str
    projects: tuple[str, ...] | None
    expires_at: datetime | None

    @property
    def has_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= utcnow()


class Head(NamedTuple):
    """End of the event log. After a restore an id can be used again, but never with its digest."""

    id: int
    digest: bytes


class Source:
    """Cache of what SDK tokens grant and what SDKs get.

    ``context``: opens the application context that the database needs. ``note``: called with the
    number of features that can't be evaluated.

    Every change to delivery records an event. So the cache is valid until the event log has a new
    event of a type that touches SDKs.
    """

    def __init__(
        self,
        context: Callable[[], AbstractContextManager[object]],
        note: Callable[[int], object] = lambda _: None,
    ) -> None:
        self._context = context
        self._lock = threading.RLock()
        self._engine: sa.Engine | None = None
        self.notifications = Notifications()
        self._watch = DataVersion(self.notifications)
        self._seen: Version | None = None
        self._checked_at = float("-inf")
        self._away_since: float | None = None
        self._warned_at = float("-inf")
        self._head: Head | None = None
        self._readers: dict[bytes, Reader] | None = None
        self._origins: tuple[Head | None, frozenset[str]] = None, frozenset()
        self._states: dict[str, tuple[int, Answers]] = {}
        self._generation = 0
        self._engines = Engines(note)

    @property
    def age(self) -> int | None:
        """Seconds since the database became unavailable; None while it is available."""
        since = self._away_since
        return None if since is None else int(time.monotonic() - since)

    def head(self) -> Head | None:
        """Return where the event log ends, as known after a look for what is new."""
        self._refresh()
        return self._head

    def grants(self, reader: Reader) -> bool:
        """Whether a token grants what it did, as known at the last look."""
        known = None if self._readers is None else self._readers.get(reader.digest)
        return known == reader and not reader.has_expired

    def reader(self, digest: bytes) -> Reader | None:
        """Return what the token with this digest grants; None if there is no such token.

        Raises:
            Unavailable: if the database is unavailable and the token isn't in memory.

        """
        reader = self._known_readers().get(digest)
        if reader is None:
            self._refresh(force=True)  # on PostgreSQL it may be newer than the last check
            reader = self._known_readers().get(digest)
        if reader is None and self._away_since is not None:
            raise Unavailable
        return reader

    def reader_with_id(self, token_id: int) -> Reader | None:
        """Return what the token with this id grants; None if there is none, or it has expired.

        Raises:
            Unavailable: if the database is unavailable and the tokens aren't in memory.

        """
        readers = self._known_readers().values()
        return next(
            (one for one in readers if one.token_id == token_id and not one.has_expired), None
        )

    def look_again(self) -> None:
        """Look for what is new even if the cache seems current, as it can on PostgreSQL."""
        self._refresh(force=True)

    def origins(self) -> frozenset[str]:
        """Return the origins whose pages can read features; ``*`` for all.

        Raises:
            Unavailable: if the database is unavailable and the origins aren't in memory.

        """
        self._known_readers()
        head, known = self._origins
        if head == self._head:
            return known
        try:
            with self._track_outage():
                now = self._head, frozenset(self._ask(cors.origins))
        except Unavailable:
            if head is None:
                raise
            return known
        self._origins = now
        return now[1]

    def evaluator(self, environment: str) -> Evaluator:
        """Return the evaluator for the features in ``answers``.

        Raises:
            Unavailable: if the features can't be read or evaluated.

        """
        return self._engines.of(self.answers(environment))

    def problems(self) -> dict[str, Mapping[str, str]]:
        """See ``Engines.problems``."""
        return self._engines.problems()

    def answers(self, environment: str) -> Answers:
        """Return the payloads of an environment, as recent as the last call of ``reader``.

        Raises:
            Unavailable: if the database is unavailable and the environment isn't in memory.

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
                with self._track_outage():
                    made = self._ask(lambda: state.read(environment), Begin.AS_READER)
            except Unavailable:
                if known is None:
                    raise
                return known[1]
            before = None if known is None else known[1]
            answers = before.followed_by(made) if before else Answers(made, self._tagged)
            self._states[environment] = (generation, answers)
            return answers

    def answers_at_hand(self, reader: Reader) -> Answers | None:
        """Return the cached payloads for a reader; None unless they and the reader are current.

        Doesn't wait for a reload: the loop that serves all connections calls it.
        """
        if not self._is_current(self._version()):
            return None
        known = self._states.get(reader.environment)
        if known is None or known[0] != self._generation or not self.grants(reader):
            return None
        return known[1]

    def _known_readers(self) -> dict[bytes, Reader]:
        self._refresh()
        readers = self._readers
        if readers is None:
            raise Unavailable
        return readers

    def _refresh(self, *, force: bool = False) -> None:
        """Reload if something was committed since the last check that changes what SDKs get.

        ``force``: check even if the cache seems current.
        """
        if self._away_since is not None and time.monotonic() < self._checked_at + RETRY_SECONDS:
            return
        if not force and self._is_current(self._version()):
            return
        with self._lock:
            seen = self._version()  # before reading, so that the next check notices later commits
            if not force and self._is_current(seen):
                return  # another thread was faster
            try:
                with self._track_outage():
                    self._reload()
                    self._seen = seen
            except Unavailable:
                pass  # callers get what is in memory
            self._checked_at = time.monotonic()

    def _version(self) -> Version | None:
        if self._engine is None:
            with self._context():
                self._engine = db.engine
        try:
            return self._watch.version(self._engine)
        except sqlite3.Error:
            return None

    def _is_current(self, version: Version | None) -> bool:
        if version is None or version != self._seen or self._away_since is not None:
            return False
        return time.monotonic() < self._checked_at + version.seconds

    def _reload(self) -> None:
        head = Head(*self._ask(_head.run)[0])
        if self._readers is not None and head == self._head:
            return
        if self._head is None or self._has_changed_since(self._head):
            self._generation += 1
        self._readers = self._read_readers()
        self._head = head

    def _has_changed_since(self, head: Head) -> bool:
        since = self._ask(lambda: _since.run(last=head.id))
        if not since or (since[0].id, since[0].digest) != head or len(since) == MOST_EVENTS:
            return True  # a restored database, or too many events to look at
        return any(event.type.declared.touches_sdks for event in since[1:])

    def _read_readers(self) -> dict[bytes, Reader]:
        readers: dict[bytes, Reader] = {}
        for row in self._ask(_tokens.run):
            known = readers.get(row.digest)
            projects = None if row.all_projects else (row.project_id,)
            if known is not None and known.projects is not None:
                projects = (*known.projects, row.project_id)
            readers[row.digest] = Reader(
                row.id, row.digest, row.type, row.environment, projects, row.expires_at
            )
        return readers

    def _tagged(self, tags: Iterable[str]) -> set[str]:
        """Return the names of features with any of the tags. ``tags``: as ``type:value``."""
        pairs = [tuple(tag.split(":", 1)) for tag in tags if ":" in tag]
        query = (
            sa.select(Feature.name)
            .join(FeatureTag, FeatureTag.feature_id == Feature.id)
            .join(Tag, Tag.id == FeatureTag.tag_id)
            .where(sa.tuple_(Tag.type, Tag.value).in_(pairs))
        )
        with self._track_outage():
            return set(self._ask(lambda: db.session.scalars(query).all()))

    def _ask(self, read: Callable[[], T], begin: Begin = Begin.NOT_AT_ALL) -> T:
        with self._context(), beginning(begin):
            return transact(read, writes=False, snapshot=begin is Begin.AS_READER)

    @contextmanager
    def _track_outage(self) -> Iterator[None]:
        """Record whether the database is available; log a warning once per WARN_SECONDS.

        Raises:
            Unavailable: instead of errors of the database.

        """
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
