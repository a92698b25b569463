"""Whether people can sign in with the provider or through the proxy, and no one else."""

from collections.abc import Iterator

from app.access.sign_on import checks
from app.core.config import Settings
from app.operations.upkeep.doctor.findings import Finding, fine, warning, wrong

ABOUT = "sign-on"


def check_sign_on(settings: Settings) -> Iterator[Finding]:
    """Check the provider and the proxy, without signing anyone in."""
    if settings.has_provider:
        from app.access.sign_on.provider import Provider  # noqa: PLC0415 - see answers.py

        for check in checks.of_provider(Provider(settings)):
            yield (
                fine(ABOUT, check.says) if check.is_fine else wrong(ABOUT, check.says, check.remedy)
            )
    for check in checks.of_passwords(settings):
        yield fine(ABOUT, check.says) if check.is_fine else warning(ABOUT, check.says, check.remedy)
    if settings.sign_on_header is not None and any(
        network.is_loopback for network in settings.trusted_proxy
    ):
        yield warning(
            ABOUT,
            f"Every system user of this machine can send {settings.sign_on_header}, and so sign in "
            "as anyone.",
            "Run no other services here, or have the proxy on a machine of its own.",
        )
