"""How many SQL statements a request takes, counted in this process on SQLite."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from flask import Flask

from app.access.service_accounts import service as service_accounts
from app.catalogue.features.models import Feature, FeatureType
from app.catalogue.projects.models import Project
from app.core import migrations
from app.core.clock import utcnow
from app.core.config import from_environment
from app.core.db import db, insert_all, unit_of_work
from app.factory import create_app
from tests.bench.load import Job
from tests.bench.subject import LISTED, Subject
from tests.support.statements import statements

TURNS = 3
"""The first makes the tags that come, the second those that go, the third is counted."""


def count() -> dict[str, int]:
    """The statements of each request by its name, without those that begin a transaction."""
    subject = Subject((), secrets.token_urlsafe(40))
    counts: dict[str, int] = {}
    with TemporaryDirectory(prefix="flagstaff-bench-") as home, _instance(home, subject) as app:
        _send(app, subject.marking(), 0)
        with statements(app) as run:
            for turn in range(TURNS):
                for name, job in (subject.kinds() | subject.lists() | subject.bulk()).items():
                    run.clear()
                    _send(app, job, turn)
                    counts[name] = len(run)
    return counts


@contextmanager
def _instance(home: str, subject: Subject) -> Iterator[Flask]:
    """An application whose database holds the subject's features."""
    app = create_app(from_environment({"FLAGSTAFF_HOME": home}))
    with app.app_context():
        migrations.upgrade(db.engine)
        with unit_of_work(writes=True):
            service_accounts.bootstrap(subject.token)
            _fill(subject)
        engine = db.engine
    yield app
    engine.dispose()


def _fill(subject: Subject) -> None:
    db.session.add(Project(id=subject.project, name="B"))
    db.session.flush()
    common = {"project_id": subject.project, "type": FeatureType.RELEASE, "created_at": utcnow()}
    common |= {"stale": False, "impression_data": False}
    insert_all([{"name": subject.feature(n)} | common for n in range(LISTED)], Feature)


def _send(app: Flask, job: Job, number: int) -> None:
    headers = {"Authorization": job.token, "Content-Type": "application/json"}
    answer = app.test_client().open(
        job.path, method=job.method, headers=headers, data=job.body(number)
    )
    if answer.status_code >= 300:
        raise RuntimeError(f"{job.method} {job.path}: {answer.status} {answer.text}")
