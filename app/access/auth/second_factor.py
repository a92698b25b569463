"""The second step of signing in: a TOTP code (RFC 6238) or a recovery code.

The database alone isn't enough to compute either: both depend on the operator's secret key.
"""

import hmac
import re
from base64 import b32encode
from secrets import token_bytes

import pyotp
import sqlalchemy as sa
from pyotp.exceptions import OTPVerificationError

from app.access.auth.models import RecoveryCode, SecondFactor
from app.accounts import service as accounts
from app.accounts.models import Account
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db, insert_all, locked, save
from app.core.errors import Conflict, Invalid
from app.core.events import service as events
from app.core.events.event_types import EventType

ISSUER = "Flagstaff"
SALT_BYTES = 20
STEPS_OF_GRACE = 1
"""How many periods of 30 seconds a phone's clock may be off."""

RECOVERY_CODES = 10
RECOVERY_BYTES = 10

_is_code = re.compile(r"[0-9]{6}").fullmatch
_separators = re.compile(r"[\s-]+")


def of(account_id: int) -> SecondFactor | None:
    """The account's second factor, confirmed or not; None without one."""
    return db.session.get(SecondFactor, account_id)


def is_on(account_id: int) -> bool:
    found = of(account_id)
    return found is not None and found.confirmed_at is not None


def codes_left(account_id: int) -> int:
    query = sa.select(sa.func.count()).where(RecoveryCode.account_id == account_id)
    return db.session.scalar(query) or 0


def begin(actor: Actor) -> None:
    """Create a secret for an authenticator; two-step sign-in starts with ``confirm``."""
    # The lock makes two concurrent calls run one after the other.
    accounts.get_for_change(actor.account_id)
    if is_on(actor.account_id):
        raise Conflict("Two-step sign-in is already on. Turn it off before you set it up again.")
    _forget(actor.account_id)
    save(SecondFactor(account_id=actor.account_id, salt=token_bytes(SALT_BYTES), last_step=0))


def secret(factor: SecondFactor, key: str) -> str:
    """The TOTP secret in base32. ``key``: the operator's secret key."""
    message = b"authenticator of %d: " % factor.account_id + factor.salt
    # SHA-1 gives 160 bits, the length that RFC 4226 recommends for a secret.
    return b32encode(hmac.digest(key.encode(), message, "sha1")).decode()


def address(factor: SecondFactor, key: str, name: str) -> str:
    """The otpauth:// address for the QR code."""
    return pyotp.TOTP(secret(factor, key)).provisioning_uri(name=name, issuer_name=ISSUER)


def confirm(actor: Actor, code: str, key: str) -> list[str]:
    """Turn two-step sign-in on with a first code; returns the recovery codes.

    Raises:
        Invalid: if the code is wrong.

    """
    factor = of(actor.account_id)
    if factor is None or factor.confirmed_at is not None:
        raise Conflict("There is nothing to confirm. Start setting up two-step sign-in again.")
    if not _is_of_authenticator(factor, _separators.sub("", code), key):
        raise Invalid.at(
            "/code", "This code is wrong. Enter the next one, and check your phone’s clock."
        )
    factor.confirmed_at = utcnow()
    _record_event(actor, EventType.SECOND_FACTOR_TURNED_ON, actor.account_id, actor.username)
    return _new_codes(actor.account_id, key)


def new_codes(actor: Actor, key: str) -> list[str]:
    """New recovery codes; the old ones stop working."""
    if not is_on(actor.account_id):
        raise Conflict("Two-step sign-in is off. Turn it on before you create recovery codes.")
    _record_event(actor, EventType.RECOVERY_CODES_MADE, actor.account_id, actor.username)
    return _new_codes(actor.account_id, key)


def turn_off(actor: Actor, account: Account) -> None:
    """Turn two-step sign-in off."""
    if not is_on(account.id):
        raise Conflict(f"Two-step sign-in is already off for {account.label}.")
    _forget(account.id)
    _record_event(actor, EventType.SECOND_FACTOR_TURNED_OFF, account.id, account.label)


def accepts(actor: Actor, code: str, key: str) -> bool:
    """Whether a code from the authenticator or for recovery is correct; no code works twice."""
    query = sa.select(SecondFactor).where(SecondFactor.account_id == actor.account_id)
    factor = db.session.scalar(locked(query))  # or two at once could use one code
    if factor is None or factor.confirmed_at is None:
        return False
    tidy = _separators.sub("", code)
    if _is_code(tidy):
        return _is_of_authenticator(factor, tidy, key)
    used = (
        sa.delete(RecoveryCode)
        .where(RecoveryCode.digest == _digest(actor.account_id, tidy.upper(), key))
        .returning(RecoveryCode.id)
    )
    if db.session.execute(used).first() is None:
        return False
    _record_event(actor, EventType.RECOVERY_CODE_USED, actor.account_id, actor.username)
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
    codes = [b32encode(token_bytes(RECOVERY_BYTES)).decode() for _ in range(RECOVERY_CODES)]
    digests = [
        {"account_id": account_id, "digest": _digest(account_id, code, key)} for code in codes
    ]
    insert_all(digests, RecoveryCode)
    return ["-".join(re.findall("....", code.lower())) for code in codes]


def _digest(account_id: int, code: str, key: str) -> bytes:
    return hmac.digest(key.encode(), f"recovery of {account_id}: {code}".encode(), "sha256")


def _forget(account_id: int) -> None:
    for model in (RecoveryCode, SecondFactor):
        db.session.execute(sa.delete(model).where(model.account_id == account_id))


def _record_event(actor: Actor, type: EventType, account_id: int, name: str) -> None:
    events.record(actor, type, data={"id": account_id, "name": name})
