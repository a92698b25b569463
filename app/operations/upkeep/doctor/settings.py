"""Settings that are insecure or contradict each other."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import sqlalchemy as sa

from app.core.config import Settings, every_setting
from app.operations.upkeep.doctor.findings import Finding, fine, warning, wrong

ENCRYPTED = {"require", "verify-ca", "verify-full"}
LOCAL = ("", "localhost", "127.0.0.1", "::1")


def check_settings(chosen: Settings) -> Iterator[Finding]:
    about = "settings"
    found = [
        *_transport(about, chosen),
        *_address(about, chosen),
        *_database(about, chosen),
    ]
    advised = str(every_setting()["FLAGSTAFF_PASSWORD_MIN"].default)
    if chosen.password_min < int(advised):
        found.append(
            warning(
                about,
                f"Passwords can be as short as {chosen.password_min} characters.",
                f"Set FLAGSTAFF_PASSWORD_MIN to {advised}, the default.",
            )
        )
    if chosen.bootstrap_token is not None:
        found.append(
            warning(
                about,
                "FLAGSTAFF_BOOTSTRAP_TOKEN is still set, and others could read it there.",
                "Remove it from the environment. The token itself stays valid.",
            )
        )
    yield from found or [fine(about, "Secure and consistent.")]


def _transport(about: str, chosen: Settings) -> Iterator[Finding]:
    if not chosen.listens_on_loopback and not chosen.is_https:
        yield wrong(
            about,
            f"Passwords and tokens are sent unencrypted ({chosen.base_url}).",
            "Put a reverse proxy with TLS in front (flagstaff example nginx) and set "
            "FLAGSTAFF_BASE_URL to its https address.",
        )
    if chosen.is_https and not chosen.trusted_proxy:
        yield warning(
            about,
            "All requests seem to come from the proxy, so wrong passwords from one network slow "
            "down sign-in for everyone.",
            "Set FLAGSTAFF_TRUSTED_PROXY to the proxy's IP address.",
        )


def _address(about: str, chosen: Settings) -> Iterator[Finding]:
    base = urlsplit(chosen.base_url)
    port = base.port or (443 if chosen.is_https else 80)
    if chosen.base_is_loopback and not chosen.trusted_proxy and port != chosen.port:
        yield wrong(
            about,
            f"Links lead to port {port}, but the server listens on {chosen.port}.",
            f"Set FLAGSTAFF_BASE_URL to http://{base.hostname}:{chosen.port}",
        )


def _database(about: str, chosen: Settings) -> Iterator[Finding]:
    url = sa.make_url(chosen.database_url)
    if url.get_backend_name() != "postgresql":
        return
    is_local = (url.host or "") in LOCAL
    if not is_local and url.query.get("sslmode") not in ENCRYPTED:
        yield warning(
            about,
            f"The connection to the database at {url.host} might not be encrypted.",
            "Add ?sslmode=verify-full to FLAGSTAFF_DATABASE_URL.",
        )
    if chosen.secret_key is None:
        yield warning(
            about,
            "The secret key is only in this machine's folder, so other servers on this database "
            "would not accept its sessions.",
            "If several servers use this database, set FLAGSTAFF_SECRET_KEY to the same value on "
            "each.",
        )
