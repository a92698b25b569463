"""Authenticates SDKs: finds what the token in a request grants."""

from app.accounts.tokens import secrets
from app.catalogue.sdk_tokens.models import SdkTokenType
from app.core.errors import NoAccess, NotAuthenticated
from app.core.secrets import digest
from app.delivery.sdk.reports import Reports
from app.delivery.sdk.source import Reader, Source

WRONG_TYPE = {
    SdkTokenType.CLIENT: (
        "This token is for browsers and phones. A server needs one of the type client."
    ),
    SdkTokenType.FRONTEND: (
        "This token is for servers. Browsers and phones need one of the type frontend: everyone "
        "who uses the application can read theirs."
    ),
}
"""Error messages for a token of another type, by the type that is needed."""


class Callers:
    """Finds what a token grants, and notes that the token was used."""

    def __init__(self, source: Source, reports: Reports) -> None:
        self._source, self._reports = source, reports

    def reader(self, sent: str, type: SdkTokenType | None = None) -> Reader:
        """Return what a token grants. ``sent``: with or without ``Bearer``. ``type``: None for any.

        Raises:
            NotAuthenticated: if the token is unknown or has expired.
            NoAccess: if the token is for another API or of another type.

        """
        secret = secrets.sent_in(sent)
        if secret.startswith(secrets.PREFIX):
            raise NoAccess(
                "This token is for the admin API. Applications read features with an SDK token: "
                "Applications, SDK tokens."
            )
        reader = self.known(secret)
        if reader is None:
            raise NotAuthenticated
        if type is not None and reader.type is not type:
            raise NoAccess(WRONG_TYPE[type])
        self._reports.note_use(reader.token_id)
        return reader

    def known(self, secret: str) -> Reader | None:
        """Return what a token grants; None if it is unknown or has expired."""
        if not 0 < len(secret) <= secrets.LONGEST:
            return None
        reader = self._source.reader(digest(secret))
        return None if reader is None or reader.has_expired else reader
