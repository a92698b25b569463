"""A person, as the provider’s claims or the proxy’s headers describe them."""

from typing import Any

from app.access.sign_on.answers import Claims
from app.access.sign_on.people import Person
from app.accounts.models import PROXY
from app.core.config import Settings
from app.core.logs import LOGGER

MOST_GROUPS = 2_000
LONGEST_EMAIL = 254


def by_provider(claims: Claims, settings: Settings) -> Person:
    verified = claims.values.get("email_verified")
    is_verified = verified is True or verified == "true"  # 1 equals True, but is no claim
    return Person(
        issuer=settings.oidc_issuer or "",
        subject=claims.subject,
        username=claims.text("preferred_username"),
        name=claims.text("name"),
        email=_email(claims.text("email", LONGEST_EMAIL)) if is_verified else None,
        groups=_groups(claims.values, settings.oidc_groups_claim),
    )


def by_proxy(
    subject: str, *, email: str | None, name: str | None, groups: list[str] | None
) -> Person:
    return Person(PROXY, subject, subject, name, _email(email), groups)


def _groups(values: Any, claim: str) -> list[str] | None:
    """The names of the groups; None if there are too many for the provider to name them.

    A claim that is missing means no groups: providers leave it out for people without any.
    """
    value = values.get(claim, [])
    # OpenID Connect Core, 5.6.2: a claim in _claim_names must be read from elsewhere.
    if claim not in values and claim in (values.get("_claim_names") or {}):
        LOGGER.warning(
            "the provider leaves out the groups of people who have many; their roles stay as they "
            "are. Have it send only the groups that are assigned to Flagstaff."
        )
        return None
    names = value if isinstance(value, list) else [value]
    return [name for name in names if isinstance(name, str) and name][:MOST_GROUPS]


def _email(text: str | None) -> str | None:
    if text is None or len(text) > LONGEST_EMAIL:
        return None
    local, at, domain = text.rpartition("@")
    return text if local and at and domain and not any(c.isspace() for c in text) else None
