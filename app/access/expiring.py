"""Mail about tokens that expire within a week."""

from datetime import timedelta

import sqlalchemy as sa

from app.accounts.mails import service as mails
from app.accounts.mails.models import MailKind
from app.accounts.models import Account
from app.accounts.tokens import service as tokens
from app.catalogue.sdk_tokens import service as sdk_tokens
from app.core.clock import utcnow
from app.core.db import db
from app.core.permissions import Role

AHEAD = timedelta(days=7)


def queue_mails() -> None:
    """Write to the owner of each personal token; about all others, to the Admins. Once for each."""
    before = utcnow() + AHEAD
    admins = list(db.session.scalars(sa.select(Account.id).where(Account.role == Role.ADMIN)))
    for token in tokens.expiring(before=before):
        owner = db.session.get_one(Account, token.account_id)
        whose = "Your token" if owner.is_person else f"The token of {owner.called}"
        place = "/account" if owner.is_person else f"/service-accounts/{owner.id}"
        mails.queue(
            [owner.id] if owner.is_person else admins,
            MailKind.EXPIRY,
            subject=f"{whose} {token.description} expires on {token.expires_at:%d %b %Y}",
            path=place,
            about=f"token {token.id} until {token.expires_at:%Y-%m-%d}",
        )
    for sdk in sdk_tokens.expiring(before=before):
        where = f"in {sdk.environment} expires on {sdk.expires_at:%d %b %Y}"
        mails.queue(
            admins,
            MailKind.EXPIRY,
            subject=f"The SDK token {sdk.name} {where}",
            path="/sdk-tokens?state=expiring",
            about=f"SDK token {sdk.id} until {sdk.expires_at:%Y-%m-%d}",
        )
