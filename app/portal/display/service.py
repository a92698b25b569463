"""What people choose not to see: columns of lists, and parts of their home page."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.db import db, insert_if_absent
from app.core.errors import Invalid, NotFound
from app.core.words import spoken
from app.portal.display.models import HiddenPart


@dataclass(frozen=True, slots=True)
class Choice:
    """The parts of a page that can be hidden, with their words. ``says``: what is chosen."""

    says: str
    parts: Mapping[str, str]


PAGES = {
    "home": Choice(
        "What Home shows",
        {
            "failed": "Schedules that failed",
            "to-approve": "Change requests that wait for your approval",
            "to-apply": "Change requests that can be applied",
            "rejected": "Your change requests that were rejected",
            "backup": "Missing backups",
            "evaluation": "Features that can’t be evaluated",
            "approvers": "Environments that no one can approve in",
            "webhooks": "Webhooks that fail",
            "tokens": "Tokens that expire",
            "unused": "Features that no one uses",
            "everywhere": "Features that have long been on for everyone",
            "inactive": "Inactive people",
            "ownerless": "Projects without an Owner",
            "access": "Projects whose access is to be reviewed",
            "tags": "Tags that are nearly alike",
            "projects": "Your projects",
            "favourites": "Favourite features",
            "visited": "Recently visited",
            "latest": "Latest changes",
        },
    ),
    "projects": Choice(
        "Columns of the list of projects",
        {
            "mode": "Mode",
            "features": "Features",
            "members": "Members",
            "owners": "Owners",
            "changed": "Changed",
        },
    ),
    "features": Choice(
        "Columns of the list of all features",
        {
            "type": "Type",
            "tags": "Tags",
            "state": "State",
            "lastSeen": "Last seen",
            "age": "Age",
        },
    ),
    "project-features": Choice(
        "Columns of the lists of a project’s features",
        {
            "type": "Type",
            "environments": "State in each environment",
            "tags": "Tags",
            "lastSeen": "Last seen",
            "age": "Age",
        },
    ),
    "users": Choice(
        "Columns of the list of users",
        {
            "username": "User name",
            "role": "Role",
            "lastSignIn": "Last sign-in",
            "created": "Created",
        },
    ),
}


def choice(page: str) -> Choice:
    if page not in PAGES:
        raise NotFound(f"{page!r} is no page with parts to hide. There are: {spoken(PAGES)}.")
    return PAGES[page]


def hidden(actor: Actor, page: str) -> set[str]:
    """The parts of the page that the actor chose not to see."""
    query = sa.select(HiddenPart.part).where(*_of(actor, page))
    return set(db.session.scalars(query))


def hide(actor: Actor, page: str, parts: Collection[str]) -> None:
    """Hide exactly these parts of the page from the actor."""
    known = choice(page).parts
    unknown = [part for part in parts if part not in known]
    if unknown:
        there = spoken(known, len(known))
        raise Invalid.at("/hidden", f"{spoken(unknown)} cannot be hidden. Choose from: {there}.")
    db.session.execute(sa.delete(HiddenPart).where(*_of(actor, page)))
    rows = [{"account_id": actor.account_id, "page": page, "part": part} for part in set(parts)]
    if rows:
        db.session.execute(insert_if_absent(HiddenPart), rows)  # two tabs may do it at once


def _of(actor: Actor, page: str) -> list[sa.ColumnElement[bool]]:
    return [HiddenPart.account_id == actor.id, HiddenPart.page == page]
