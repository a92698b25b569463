"""Reads and applies imports in a background thread: both can take longer than a request may."""

import threading
import time
from collections.abc import Callable
from functools import partial

from flask import Flask, after_this_request, current_app, g
from werkzeug.wrappers import Response

from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db, transact
from app.core.errors import DomainError, NotFound
from app.core.logs import LOGGER
from app.exchange.unleash import client, imports, schemas_imports, unleash
from app.exchange.unleash.client import Unleash
from app.exchange.unleash.models import Import, ImportState

BEAT_SECONDS = 2.0
UNEXPECTED = "Something unexpected happened. The log of the server says what. Nothing was saved."

_live: dict[int, tuple[str, int]] = {}
"""Progress of the imports in this process: what is being done, and how many are done."""


def read(id: int, server: Unleash) -> None:
    """Read a running Unleash, and store its content for a plan."""
    _start(partial(_read, id, server))


def apply(id: int, digest: str) -> None:
    """Carry out the plan with this digest, as the actor of this request."""
    _start(partial(_apply, g.actor, id, digest))


def progress(found: Import) -> tuple[str, int]:
    """What an import is doing, and how many things are done."""
    stored = found.progress or {}
    return _live.get(found.id, (stored.get("what", ""), stored.get("done", 0)))


def _start(work: Callable[[], None]) -> None:
    """Start a thread after the response: the work needs what this request commits."""
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined] # noqa: SLF001 - Flask's own advice

    def run() -> None:
        with app.app_context():
            try:
                work()
            finally:
                db.session.remove()

    def begin(response: Response) -> Response:
        # A transaction that was retried has registered this again.
        if not g.pop("import_begun", False):
            g.import_begun = True
            threading.Thread(target=run, name="import", daemon=True).start()
        return response

    after_this_request(begin)


def _read(id: int, server: Unleash) -> None:
    beat = _Heartbeat(id)
    try:
        if transact(lambda: _state(id), writes=False) is not ImportState.READING:
            return
        found = client.read(server, lambda what, done, _all: beat.note(what, done))
        source = found.source
        translation = unleash.translate(found)
        wanted = schemas_imports.wanted(translation)
        transact(
            lambda: imports.store(imports.get(id), source, wanted, translation.notes), writes=True
        )
        plan = transact(lambda: imports.shown(imports.get(id)), writes=False)
        transact(lambda: imports.keep(imports.get(id), plan), writes=True)
    except DomainError as error:
        _fail(id, error.message)
    except Exception:  # noqa: BLE001 - whatever it is, the page has to say that it ended
        LOGGER.exception("import %s failed", id)
        _fail(id, UNEXPECTED)
    finally:
        _live.pop(id, None)


def _apply(actor: Actor, id: int, digest: str) -> None:
    try:
        if transact(lambda: _state(id), writes=False) is not ImportState.APPLYING:
            return

        def note(what: str, done: int, _all: int) -> None:
            _live[id] = what, done

        prepared = transact(lambda: imports.prepare(imports.get(id)), writes=False)
        transact(lambda: imports.apply(actor, id, digest, prepared, note), writes=True)
    except DomainError as error:
        _fail(id, error.message)
    except Exception:  # noqa: BLE001 - as above
        LOGGER.exception("import %s failed", id)
        _fail(id, UNEXPECTED)
    finally:
        _live.pop(id, None)


def _state(id: int) -> ImportState | None:
    """The state of an import; None if the request that created it was rolled back."""
    try:
        return imports.get(id).state
    except NotFound:
        return None


def _fail(id: int, why: str) -> None:
    transact(lambda: imports.fail(imports.get(id), why), writes=True)


class _Heartbeat:
    """Stores the progress every ``BEAT_SECONDS``, for other processes."""

    def __init__(self, id: int) -> None:
        self.id, self._next = id, 0.0

    def note(self, what: str, done: int) -> None:
        _live[self.id] = what, done
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + BEAT_SECONDS
        transact(partial(self._store, what, done), writes=True)

    def _store(self, what: str, done: int) -> None:
        found = imports.get(self.id)
        found.beat_at, found.progress = utcnow(), {"what": what, "done": done}
