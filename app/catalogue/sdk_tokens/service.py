"""SDK tokens: applications read features with them. They give no access to pages or admin API."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.accounts import admins
from app.accounts.tokens import secrets
from app.accounts.tokens.models import HINT_LENGTH, Issued, refuse_past, replaced
from app.accounts.tokens.secrets import TokenKind
from app.catalogue.environments.models import Environment
from app.catalogue.projects.models import Project
from app.catalogue.sdk_tokens.models import (
    ALL,
    SdkToken,
    SdkTokenProject,
    SdkTokenState,
    SdkTokenType,
)
from app.catalogue.usage.models import Application, TokenUse
from app.core.actor import COMMAND_LINE, Actor
from app.core.clock import utcnow
from app.core.config.kinds import SdkToken as ChosenToken
from app.core.db import contains, db, one_or_none, save
from app.core.errors import Invalid, NameExists, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.paging import Page, page_of
from app.core.secrets import digest

SOON = timedelta(days=30)
"""A token that expires within this time is about to."""
LONG = timedelta(days=90)
"""A token unused for this time is probably not needed."""
CUTS = ".:"
"""SDKs read the environment out of the token, up to the first of these."""


_note_use = (
    sa.update(SdkToken)
    .where(SdkToken.id == sa.bindparam("of_id"))
    .values(last_seen_at=sa.bindparam("at"))
)


def create(
    actor: Actor,
    *,
    token_name: str,
    type: SdkTokenType,
    environment: str,
    projects: Sequence[str] = (ALL,),
    expires_at: datetime | None = None,
) -> Issued[SdkToken]:
    """Create a token. Only the digest of its secret is stored."""
    _check_environment(environment)
    refuse_past(expires_at)
    chosen = sorted(set(projects))
    if ALL not in chosen:
        _check_projects(chosen)
    return _issue(actor, _token(token_name, type, environment, chosen, expires_at))


def name_for(application: str, environment: str) -> str:
    """The name of a token for an application: its own, with the environment if that is taken.

    Raises:
        NameExists: if the application has a token for this environment.

    """
    names = [application, f"{application} {environment}"]
    query = sa.select(SdkToken.name, SdkToken.environment).where(
        SdkToken.name.in_(names), SdkToken.revoked_at.is_(None)
    )
    taken = dict(db.session.execute(query).all())
    if environment in taken.values():
        raise NameExists(
            f"{application} already has a token in {environment}. Rotate it, or use another name.",
            field="tokenName",
        )
    return names[1] if application in taken else application


def take_over(
    actor: Actor,
    *,
    token_name: str,
    type: SdkTokenType,
    environment: str,
    projects: Sequence[str],
    expires_at: datetime | None,
    digest: bytes,
    hint: str,
) -> SdkToken:
    """Import a token of another server by its digest, so that its secret works here too."""
    token = _token(token_name, type, environment, projects, expires_at)
    token.digest, token.hint = digest, hint
    return _save(actor, token)


def bootstrap(chosen: Sequence[ChosenToken]) -> list[str]:
    """Take over the tokens that the operator chose, except those that are or were known here.

    Returns a sentence for each that can't be, because its project or environment doesn't exist.
    """
    admins.guard()  # several servers may start at once
    refused = []
    for token in chosen:
        by_secret = sa.select(SdkToken.id).where(SdkToken.digest == digest(token.secret))
        if db.session.scalar(by_secret) is not None:
            continue
        place, hint = f"{token.project}:{token.environment}", token.secret[-HINT_LENGTH:]
        try:
            _check_environment(token.environment)
            if token.project != ALL:
                _check_projects([token.project])
        except Invalid as error:
            why = " ".join(problem["message"] for problem in error.details or ())
            refused.append(f"The SDK token for {place} is not valid yet. {why}")
            continue
        take_over(
            COMMAND_LINE,
            token_name=f"bootstrap {place} ({hint})",
            type=SdkTokenType(token.type),
            environment=token.environment,
            projects=[token.project],
            expires_at=None,
            digest=digest(token.secret),
            hint=hint,
        )
    return refused


def search(
    *,
    limit: int,
    offset: int,
    project_id: str | None = None,
    name: str | None = None,
    text: str | None = None,
    environment: str | None = None,
    type: SdkTokenType | None = None,
    state: SdkTokenState | None = None,
) -> Page[SdkToken]:
    """A page of tokens that match and aren't revoked, sorted by name.

    ``project_id``: tokens for this project alone. ``text``: part of the name of the token or of an
    application that uses it, or the end of the secret.
    """
    query = sa.select(SdkToken).where(SdkToken.revoked_at.is_(None))
    if project_id is not None:
        query = query.where(SdkToken.id.in_(_only_for(project_id)))
    if name is not None:
        query = query.where(SdkToken.name == name)
    if text:
        users = (
            sa.select(TokenUse.token_id)
            .join(Application, Application.id == TokenUse.application_id)
            .where(contains(text, Application.name))
        )
        is_named = contains(text, SdkToken.name) | SdkToken.id.in_(users)
        query = query.where(is_named | (SdkToken.hint == text[-4:]))
    if environment is not None:
        query = query.where(SdkToken.environment == environment)
    if type is not None:
        query = query.where(SdkToken.type == type)
    if state is not None:
        query = query.where(_is_in(state))
    return page_of(query.order_by(SdkToken.name, SdkToken.id), limit=limit, offset=offset)


def expiring(*, before: datetime) -> list[SdkToken]:
    """Valid tokens that expire by that time, the earliest first."""
    query = sa.select(SdkToken).where(SdkToken.revoked_at.is_(None), _expires(before))
    return list(db.session.scalars(query.order_by(SdkToken.expires_at, SdkToken.id)))


def _is_in(state: SdkTokenState) -> sa.ColumnElement[bool]:
    now = utcnow()
    if state is SdkTokenState.EXPIRING:
        return _expires(now + SOON)
    last = sa.func.coalesce(SdkToken.last_seen_at, SdkToken.created_at)
    return last < now - LONG


def _expires(before: datetime) -> sa.ColumnElement[bool]:
    return SdkToken.expires_at.between(utcnow(), before)


def get(ref: str, *, project_id: str | None = None, for_change: bool = False) -> SdkToken:
    """A token that isn't revoked. ``ref``: its id, or the SHA-256 of its secret in hexadecimal.

    With ``project_id`` only one for this project alone is found; ``for_change`` locks its row.
    """
    by = SdkToken.digest == bytes.fromhex(ref) if len(ref) == 64 else SdkToken.id == int(ref)  # noqa: PLR2004 - two characters for each of 32 bytes
    query = sa.select(SdkToken).where(by, SdkToken.revoked_at.is_(None))
    if project_id is not None:
        query = query.where(SdkToken.id.in_(_only_for(project_id)))
    token = one_or_none(query, "SDK token", ref, project_id, for_change=for_change)
    if token is None:
        where = f" for project {project_id} alone" if project_id is not None else ""
        raise NotFound(f"There is no SDK token {ref}{where}.")
    return token


def is_readable(environment: str) -> bool:
    """Whether SDKs can read the environment out of a token."""
    return not any(sign in environment for sign in CUTS)


def set_expiry(actor: Actor, token: SdkToken, *, expires_at: datetime | None) -> bool:
    """Change the expiry of a token that ``get`` locked. Return whether it changed."""
    refuse_past(expires_at)
    before = token.snapshot()
    token.expires_at = expires_at
    after = token.snapshot()
    if after != before:
        events.record(
            actor, EventType.SDK_TOKEN_UPDATED, project=_home(token), pre_data=before, data=after
        )
    return after != before


def rotate(actor: Actor, old: SdkToken, *, overlap: timedelta) -> Issued[SdkToken]:
    """Replace a token that ``get`` locked; the old one stays valid for ``overlap``.

    The new one reads the same features. It gets the lifetime of the old one, from now on.
    """
    before = old.snapshot()
    new = SdkToken(
        name=old.name,
        type=old.type,
        environment=old.environment,
        all_projects=old.all_projects,
        limited_to=[SdkTokenProject(project_id=row.project_id) for row in old.limited_to],
        expires_at=old.next_end(),
    )
    # Names of valid tokens are unique, and the new token gets this one.
    old.name = replaced(old.name)
    old.end_after(overlap)
    db.session.flush()
    events.record(
        actor,
        EventType.SDK_TOKEN_ROTATED,
        project=_home(old),
        pre_data=before,
        data=old.snapshot(),
    )
    return _issue(actor, new)


def revoke(actor: Actor, token: SdkToken) -> None:
    """Revoke a token that ``get`` locked: applications that use it get no more changes."""
    token.revoke()
    events.record(
        actor, EventType.SDK_TOKEN_REVOKED, project=_home(token), pre_data=token.snapshot()
    )


def note_uses(used: Mapping[int, datetime]) -> None:
    """Store when tokens were last used, by their ids."""
    rows = [{"of_id": id, "at": at} for id, at in sorted(used.items())]
    if rows:
        db.session.connection().execute(_note_use, rows)


def _issue(actor: Actor, token: SdkToken) -> Issued[SdkToken]:
    secret = f"{token.project}:{token.environment}." + secrets.generate(TokenKind.SDK)
    token.keep(secret)
    return Issued(_save(actor, token), secret)


def _save(actor: Actor, token: SdkToken) -> SdkToken:
    taken = NameExists(f"An SDK token named {token.name!r} already exists.", field="tokenName")
    save(token, if_taken=taken)
    events.record(actor, EventType.SDK_TOKEN_CREATED, project=_home(token), data=token.snapshot())
    return token


def _token(
    name: str,
    type: SdkTokenType,
    environment: str,
    projects: Sequence[str],
    expires_at: datetime | None,
) -> SdkToken:
    """A token without its secret; not stored."""
    return SdkToken(
        name=name,
        type=type,
        environment=environment,
        all_projects=ALL in projects,
        limited_to=[SdkTokenProject(project_id=id) for id in projects if ALL not in projects],
        expires_at=expires_at,
    )


def _home(token: SdkToken) -> str | None:
    """The project whose history gets the token's events; None unless it is for one alone."""
    return token.project if token.project not in {ALL, "[]"} else None


def _only_for(project_id: str) -> sa.Select[int]:
    """The ids of tokens for this project and no other."""
    row = SdkTokenProject
    return (
        sa.select(row.token_id)
        .group_by(row.token_id)
        .having(sa.func.count() == 1, sa.func.min(row.project_id) == project_id)
    )


def _check_environment(name: str) -> None:
    if db.session.get(Environment, name) is None:
        raise Invalid.at("/environment", f"There is no environment {name!r}.")
    if not is_readable(name):
        raise Invalid.at(
            "/environment",
            f"SDKs can't read an environment with a dot in its name, like {name!r}. Create an "
            "environment without one.",
        )


def _check_projects(ids: Sequence[str]) -> None:
    if not ids:
        raise Invalid.at("/projects", 'Name at least one project, or "*" for all.')
    query = sa.select(Project.id).where(Project.id.in_(ids), Project.archived_at.is_(None))
    known = set(db.session.scalars(query))
    if unknown := [id for id in ids if id not in known]:
        raise Invalid.because(
            [
                {"path": "/projects", "message": f"There is no active project {id!r}."}
                for id in unknown
            ]
        )
