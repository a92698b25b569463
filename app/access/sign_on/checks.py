"""Checks of the single sign-on set-up, in words for Admins and operators."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.access.auth.service import may_use_password
from app.access.sign_on.answers import ALGORITHMS, ProviderError
from app.accounts import admins
from app.accounts import service as accounts
from app.core.config import Settings
from app.core.words import counted

if TYPE_CHECKING:
    from app.access.sign_on.provider import Provider


@dataclass(frozen=True, slots=True)
class Check:
    """A finding; one with a ``remedy`` is a problem."""

    says: str
    remedy: str = ""

    @property
    def is_fine(self) -> bool:
        return not self.remedy


def of_provider(provider: "Provider") -> Iterator[Check]:
    """Check the provider's metadata, keys and sign-in address. No one is signed in."""
    try:
        metadata = provider.metadata(renew=True)
        yield Check(f"The provider answers and calls itself {provider.issuer}.")
        keys = provider.keys(renew=True)
        yield Check(f"It publishes {counted(len(keys.keys), 'key')} to sign with.")
        provider.request()
        yield Check("It says where people sign in.")
    except ProviderError as error:
        yield Check(
            str(error),
            "Check FLAGSTAFF_OIDC_ISSUER, and that this machine reaches the provider and trusts "
            "its certificate (REQUESTS_CA_BUNDLE names a file with others).",
        )
        return
    offered = metadata.get("id_token_signing_alg_values_supported") or ["RS256"]
    if not set(offered) & set(ALGORITHMS):
        yield Check(
            f"It signs with {', '.join(map(str, offered))} only, which proves nothing.",
            "Have it sign ID tokens with RS256 or ES256.",
        )
    if "S256" not in (metadata.get("code_challenge_methods_supported") or ["S256"]):
        yield Check("It does not support PKCE with S256.", "Use a version of it that does.")
    if "end_session_endpoint" in metadata:
        yield Check("People can sign out there too.")
    else:
        yield Check(
            "People stay signed in there when they sign out here.",
            "Use a version of it with RP-initiated logout, or tell people to sign out there.",
        )


def of_passwords(settings: Settings) -> Iterator[Check]:
    """Whether someone can sign in while the provider is away."""
    if settings.password_sign_in or not settings.has_single_sign_on:
        return
    able = admins.who_can_sign_in()
    named = [account for name in settings.break_glass_admins if (account := accounts.named(name))]
    ready = [a for a in named if a.id in able and may_use_password(a.label, a.role, settings)]
    if ready:
        names = ", ".join(account.label for account in ready)
        yield Check(f"If the provider is away, {names} can sign in with a password.")
    else:
        yield Check(
            "If the provider is away, no one can sign in.",
            "Name an Admin with a password in FLAGSTAFF_BREAK_GLASS_ADMINS.",
        )
