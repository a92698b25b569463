"""The second step of signing in: a code of an authenticator (RFC 6238), or a recovery code.

Neither can be made from what the database holds: the operator's secret key is part of both.
"""

import hmac
import re
from base64 import b32encode
from secrets import token_bytes

import pyotp
import sqlalchemy as sa
from pyotp.exceptions import OTPVerificationError

from app.accounts.models import Account
from app.auth.models import RecoveryCode, SecondFactor
from app.core.actor import Actor
from app.core.db import db, insert_all, save, utcnow
from app.core.errors import Conflict, Invalid
from app.events import service as events
from app.events.models import EventType

ISSUER = "Flagstaff"
SALT_BYTES = 20
STEPS_OF_GRACE = 1
"""So many periods of 30 seconds may the clock of a phone be wrong."""

RECOVERY_CODES = 10
RECOVERY_BYTES = 10

_is_code = re.compile(r"[0-9]{6}").fullmatch
_apart = re.compile(r"[\s-]+")


def of(account_id: int) -> SecondFactor | None:
    """The account's second factor, confirmed or not yet; None when there is none."""
    return db.session.get(SecondFactor, account_id)


def is_on(account_id: int) -> bool:
    found = of(account_id)
    return found is not None and found.confirmed_at is not None


def codes_left(account_id: int) -> int:
    query = sa.select(sa.func.count()).where(RecoveryCode.account_id == account_id)
    return db.session.scalar(query) or 0


def begin(actor: Actor) -> None:
    """Make what an authenticator is to hold; it counts once a code of it was given."""
    # Who begins twice at once does so one after the other.
    db.session.get_one(Account, actor.account_id, with_for_update=True)
    if is_on(actor.account_id):
        raise Conflict("Two-step sign-in is on already; turn it off to set it up anew.")
    _forget(actor.account_id)
    save(SecondFactor(account_id=actor.account_id, salt=token_bytes(SALT_BYTES), last_step=0))


def secret(factor: SecondFactor, key: str) -> str:
    """What the authenticator holds, in base32. ``key`` is the operator's."""
    facts = b"authenticator of %d: " % factor.account_id + factor.salt
    return b32encode(hmac.digest(key.encode(), facts, "sha1")).decode()


def address(factor: SecondFactor, key: str, name: str) -> str:
    """The otpauth:// address that authenticators read, usually as a QR code."""
    return pyotp.TOTP(secret(factor, key)).provisioning_uri(name=name, issuer_name=ISSUER)


def confirm(actor: Actor, code: str, key: str) -> list[str]:
    """Turn it on for who shows that his authenticator works; his recovery codes.

    Raises:
        Invalid: when the code is not right.

    """
    factor = of(actor.account_id)
    if factor is None or factor.confirmed_at is not None:
        raise Conflict("There is nothing to confirm; begin anew.")
    if not _is_of_authenticator(factor, _apart.sub("", code), key):
        raise Invalid.at(
            "/code", "This code is not right. Try the next one; is the phone’s clock right?"
        )
    factor.confirmed_at = utcnow()
    _tell(actor, EventType.SECOND_FACTOR_TURNED_ON, actor.account_id, actor.username)
    return _new_codes(actor.account_id, key)


def new_codes(actor: Actor, key: str) -> list[str]:
    """Recovery codes in place of those that there were."""
    if not is_on(actor.account_id):
        raise Conflict("Two-step sign-in is off, so there is nothing to recover.")
    _tell(actor, EventType.RECOVERY_CODES_MADE, actor.account_id, actor.username)
    return _new_codes(actor.account_id, key)


def turn_off(actor: Actor, account: Account) -> None:
    """Let the password be enough again."""
    if not is_on(account.id):
        raise Conflict(f"Two-step sign-in of {account.label} is off already.")
    _forget(account.id)
    _tell(actor, EventType.SECOND_FACTOR_TURNED_OFF, account.id, account.label)


def fits(actor: Actor, code: str, key: str) -> bool:
    """Whether a code is right, of the authenticator or for recovery; none is right twice."""
    query = sa.select(SecondFactor).where(SecondFactor.account_id == actor.account_id)
    factor = db.session.scalar(query.with_for_update())
    if factor is None or factor.confirmed_at is None:
        return False
    tidy = _apart.sub("", code)
    if _is_code(tidy):
        return _is_of_authenticator(factor, tidy, key)
    used = (
        sa.delete(RecoveryCode)
        .where(RecoveryCode.digest == _digest(actor.account_id, tidy.upper(), key))
        .returning(RecoveryCode.id)
    )
    if db.session.execute(used).first() is None:
        return False
    _tell(actor, EventType.RECOVERY_CODE_USED, actor.account_id, actor.username)
    return True


def _is_of_authenticator(factor: SecondFactor, code: str, key: str) -> bool:
    totp = pyotp.TOTP(secret(factor, key))
    try:
        step = totp.verify_and_get_timecode(code, for_time=utcnow(), valid_window=STEPS_OF_GRACE)
    except OTPVerificationError:
        return False
    if step <= factor.last_step:
        return False
    factor.last_step = step
    return True


def _new_codes(account_id: int, key: str) -> list[str]:
    db.session.execute(sa.delete(RecoveryCode).where(RecoveryCode.account_id == account_id))
    made = [b32encode(token_bytes(RECOVERY_BYTES)).decode() for _ in range(RECOVERY_CODES)]
    digests = [
        {"account_id": account_id, "digest": _digest(account_id, code, key)} for code in made
    ]
    insert_all(digests, RecoveryCode)
    return ["-".join(re.findall("....", code.lower())) for code in made]


def _digest(account_id: int, code: str, key: str) -> bytes:
    return hmac.digest(key.encode(), f"recovery of {account_id}: {code}".encode(), "sha256")


def _forget(account_id: int) -> None:
    for model in (RecoveryCode, SecondFactor):
        db.session.execute(sa.delete(model).where(model.account_id == account_id))


def _tell(actor: Actor, type: EventType, account_id: int, name: str) -> None:
    events.record(actor, type, data={"id": account_id, "name": name})
