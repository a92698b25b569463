"""Settings that work and are not safe, or do not fit each other."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import sqlalchemy as sa

from app.cli.doctor.findings import Finding, fine, warning, wrong
from app.config import Settings

SAFE_PASSWORD = 15
ENCRYPTED = {"require", "verify-ca", "verify-full"}
LOCAL = ("", "localhost", "127.0.0.1", "::1")


def safety(chosen: Settings) -> Iterator[Finding]:
    about = "settings"
    found = [
        *_transport(about, chosen),
        *_address(about, chosen),
        *_database(about, chosen),
    ]
    if chosen.password_min < SAFE_PASSWORD:
        found.append(
            warning(
                about,
                f"Passwords of {chosen.password_min} characters are taken.",
                f"Set FLAGSTAFF_PASSWORD_MIN to {SAFE_PASSWORD}, the default.",
            )
        )
    if chosen.bootstrap_token is not None:
        found.append(
            warning(
                about,
                "FLAGSTAFF_BOOTSTRAP_TOKEN is still set, where others may find it.",
                "Take it out of the environment; a token that was made by it stays valid.",
            )
        )
    yield from found or [fine(about, "Safe, and they fit each other.")]


def _transport(about: str, chosen: Settings) -> Iterator[Finding]:
    if not chosen.listens_on_loopback and not chosen.is_https:
        yield wrong(
            about,
            f"Passwords and tokens cross the network unencrypted ({chosen.base_url}).",
            "Put a reverse proxy with TLS in front (flagstaff example nginx) and set "
            "FLAGSTAFF_BASE_URL to its https address.",
        )
    if chosen.is_https and chosen.trusted_proxy is None:
        yield warning(
            about,
            "All requests seem to come from the proxy, so wrong passwords of one network slow "
            "everybody down.",
            "Set FLAGSTAFF_TRUSTED_PROXY to the proxy's address.",
        )


def _address(about: str, chosen: Settings) -> Iterator[Finding]:
    base = urlsplit(chosen.base_url)
    port = base.port or (443 if chosen.is_https else 80)
    if chosen.base_is_loopback and chosen.trusted_proxy is None and port != chosen.port:
        yield wrong(
            about,
            f"Links lead to port {port}, and the server listens on {chosen.port}.",
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
            f"What is said to the database at {url.host} need not be encrypted.",
            "Add ?sslmode=verify-full to FLAGSTAFF_DATABASE_URL.",
        )
    if chosen.secret_key is None:
        yield warning(
            about,
            "The secret key is in this machine's folder alone; other servers on this database "
            "would not know each other's sessions.",
            "With several servers set FLAGSTAFF_SECRET_KEY, the same on each.",
        )
