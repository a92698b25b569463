"""Sign-ons that are under way at the provider, kept in the signed cookie of the browser.

So an answer only counts in the browser that began the sign-on, and strangers who begin many
fill no table.
"""

import time
from dataclasses import asdict, dataclass
from enum import StrEnum

from flask import session

from app.access.sign_on.answers import AnswerRefused, Request
from app.access.sign_on.people import Person

SECONDS = 600.0
MAX_FLOWS = 3
"""Several tabs may each have one; more would be too long for a cookie."""
_FLOWS, _PERSON = "sign_on", "linking"


class Purpose(StrEnum):
    SIGN_IN = "sign in"
    CONFIRM = "confirm"
    LINK = "link"
    TRY = "try"


@dataclass(frozen=True, slots=True)
class Flow:
    """``session``: its id, if someone was signed in already. ``target``: path to continue at."""

    purpose: Purpose
    target: str
    nonce: str
    verifier: str
    started: int
    session: int | None


def begin_flow(
    request: Request, purpose: Purpose, target: str, session_id: int | None = None
) -> None:
    """Keep the request until its answer arrives. Drops the oldest beyond MAX_FLOWS."""
    flow = Flow(purpose, target, request.nonce, request.verifier, int(time.time()), session_id)
    known = [*session.get(_FLOWS, {}).items()][1 - MAX_FLOWS :]
    session[_FLOWS] = dict([*known, (request.state, asdict(flow))])


def take_flow(state: str) -> Flow:
    """Remove and return the flow that an answer belongs to, so that no answer counts twice.

    Raises:
        AnswerRefused: if this browser began none, or did so too long ago.

    """
    known = dict(session.get(_FLOWS, {}))
    found = known.pop(state, None)
    session[_FLOWS] = known
    flow = Flow(**found | {"purpose": Purpose(found["purpose"])}) if found else None
    if flow is None or not 0 <= time.time() - flow.started <= SECONDS:
        raise AnswerRefused(
            "This sign-in was not started in this browser, was used already, or took longer than "
            "10 minutes"
        )
    return flow


def put_person(person: Person) -> None:
    """Keep the person who just signed in at the provider, until they confirm the link."""
    session[_PERSON] = {
        "issuer": person.issuer,
        "subject": person.subject,
        "label": person.label,
        "at": int(time.time()),
    }


def pending_person() -> Person | None:
    """The person to link the account to; None if no one signed in there just now."""
    kept = session.get(_PERSON)
    if kept is None or not 0 <= time.time() - kept["at"] <= SECONDS:
        return None
    return Person(kept["issuer"], kept["subject"], kept["label"], None, None, None)


def drop_person() -> None:
    session.pop(_PERSON, None)
