"""Every error for clients: its status and name, and the texts of its page and of the help.

``app/web/refusals.py`` renders them.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, ClassVar, Self

from app.core.words import counted

Detail = dict[str, str]
"""``{"path": JSON pointer into the request, "message": what is wrong and how to correct it}``"""

MAX_DETAILS = 1_000


class DomainError(Exception):
    """An error that the caller can act on. ``field``: the input at fault."""

    status: int = 400
    name: str = "ValidationError"
    title: ClassVar[str] = "There’s a problem with this request"
    """The heading of its page."""
    when: ClassVar[str]
    """When it happens."""
    remedy: ClassVar[str]
    """What to do about it."""
    only_on_pages: ClassVar[bool] = False
    commits: bool = False
    """Whether to commit earlier changes all the same: a wrong password must be counted."""

    def __init__(
        self, message: str, *, field: str | None = None, details: list[Detail] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.details = details
        self.headers: dict[str, str] = {}

    @property
    def on_page(self) -> str:
        """The message for people."""
        return self.message

    def caused_by(self, error: BaseException) -> Self:
        """Set the cause that the log names. Return this error."""
        self.__cause__ = error
        return self

    def body(self, id: str) -> dict[str, Any]:
        """JSON body for the client. ``id``: of the request, also in the log."""
        body: dict[str, Any] = {"id": id, "name": self.name, "message": self.message}
        return body if self.details is None else body | {"details": self.details}


class Invalid(DomainError):
    """The request breaks the rules; ``details`` has every problem."""

    when = (
        "The request is not valid. details lists every problem with its place as a JSON pointer, "
        "such as /tags/addedTags/0/value."
    )
    remedy = "Correct what the message names. Unknown fields are refused, because most are typos."

    @classmethod
    def because(cls, details: list[Detail]) -> Self:
        """Put the first few problems into the message; keep MAX_DETAILS of them."""
        shown = "; ".join(f"{d['path'] or 'body'}: {d['message']}" for d in details[:3])
        rest = f"; and {len(details) - 3} more" if len(details) > 3 else ""  # noqa: PLR2004 - as shown
        message = f"The request is not valid. {shown}{rest}"
        return cls(message, details=details[:MAX_DETAILS])

    @classmethod
    def at(cls, path: str, message: str) -> Self:
        """One problem, at this JSON pointer."""
        return cls.because([{"path": path, "message": message}])

    def moved(self, start: str, to: str) -> Self:
        """Copy with paths that begin with ``to`` instead of ``start``."""
        details: list[Detail] = [
            {**detail, "path": detail["path"].replace(start, to, 1)}
            if detail["path"].startswith(start)
            else detail
            for detail in self.details or []
        ]
        return self.because(details)


class WrongPassword(Invalid):
    """The signed-in person was asked for their password again and entered a wrong one."""

    commits = True


class AuthenticationRequired(DomainError):
    """The caller is not known."""

    status = 401
    name = "AuthenticationRequired"
    title = "Sign in to continue"
    when = "The token is missing, unknown, expired or revoked. On pages: the session has ended."
    remedy = (
        "Send Authorization: TOKEN. On the page of a service account, an Admin sees when its "
        "tokens expire; “Check a leaked token” tells what a secret is."
    )


class NotAuthenticated(AuthenticationRequired):
    """The token is not valid. The message never says why, so that strangers learn nothing.

    ``message``: only for problems that are visible in the token itself.
    """

    def __init__(
        self,
        message: str = "You must send a valid API token in the Authorization header. "
        "This one is missing, unknown, expired or revoked.",
    ) -> None:
        super().__init__(message)
        self.headers = {"WWW-Authenticate": "Bearer"}


class NoAccess(DomainError):
    status = 403
    name = "NoAccessError"
    title = "You don’t have access"
    when = "You lack the permission that the message names."
    remedy = (
        "Ask an Admin or an Owner of the project to give it to you. “My permissions” shows which "
        "role gives what."
    )

    def __init__(self, message: str, *, on_page: str | None = None) -> None:
        """``on_page``: the message for people, if that is another."""
        super().__init__(message)
        self._on_page = on_page

    @property
    def on_page(self) -> str:
        return self._on_page or self.message


class NeedsApprovals(NoAccess):
    """Applications would get something else, and that needs approvals.

    ``place``: the project and environment of a change request that can cover it; None if no single
    one can.
    """

    place: tuple[str, str] | None = None


class NotFound(DomainError):
    status = 404
    name = "NotFoundError"
    title = "Page not found"
    when = (
        "It does not exist, was deleted, or you do not have access: a private project looks as if "
        "it does not exist."
    )
    remedy = "Check the address, or ask an Owner of the project for access."


class MethodNotAllowed(DomainError):
    status = 405
    name = "MethodNotAllowedError"
    title = "This address doesn’t accept that"
    when = "The address does not accept this method."
    remedy = "Use one of the methods in the Allow header. Open pages by their links."

    def __init__(self, allowed: str) -> None:
        super().__init__("This address does not accept this method. The Allow header lists others.")
        self.headers = {"Allow": allowed}


class NameExists(DomainError):
    status = 409
    name = "NameExistsError"
    title = "This name is taken"
    when = "Something else has this name, maybe something archived."
    remedy = "Choose another name, or revive what has this one."


class Conflict(DomainError):
    """A rule or the present state prevents it; the request itself is valid."""

    status = 409
    name = "ConflictError"
    title = "This can’t be done right now"
    when = (
        "The present state prevents it: a parent still has children, the project is archived, "
        "it is the last Admin, or facts have changed since a review."
    )
    remedy = "Resolve what the message names, then try again."


class ChangedSinceReview(Conflict):
    """The changes would differ from those that the review showed, so none were made."""

    def __init__(self) -> None:
        super().__init__(
            "Something changed since your review, so nothing was done. Review the changes again, "
            "then confirm."
        )


class PreconditionFailed(DomainError):
    status = 412
    name = "PreconditionFailedError"
    title = "Someone else changed this first"
    when = "It has changed since you read it, and If-Match was sent to prevent just that."
    remedy = "Read it again, then send your change with the new ETag."


class PayloadTooLarge(DomainError):
    status = 413
    name = "PayloadTooLargeError"
    title = "Request too large"
    when = "The body of the request is larger than FLAGSTAFF_MAX_REQUEST_BYTES."
    remedy = (
        "Send it in parts. If the proxy refuses it, raise the limit there: see flagstaff doctor "
        "--proxy."
    )

    def __init__(self, limit: int | None) -> None:
        super().__init__(
            f"The request is larger than the limit of this server ({limit} bytes). Send it in "
            "parts, or raise FLAGSTAFF_MAX_REQUEST_BYTES there."
        )


class UnsupportedContentType(DomainError):
    status = 415
    name = "ContentTypeerror"  # spelled so in the API's founding document
    title = "Unsupported content type"
    when = "The body is not declared as JSON."
    remedy = "Send Content-Type: application/json."

    def __init__(self) -> None:
        super().__init__(
            "A request with a body needs the header Content-Type: application/json (charset utf-8)."
        )


class TooManyRequests(DomainError):
    status = 429
    name = "RateLimitError"
    title = "Too many attempts"
    when = "Too many passwords or codes were tried."
    remedy = "Wait as long as the message says (Retry-After has the seconds). No lock is permanent."

    def __init__(self, *, seconds: int) -> None:
        super().__init__(f"Too many attempts. Try again in {counted(seconds, 'second')}.")
        self.headers = {"Retry-After": str(seconds)}


class TooManyStreams(DomainError):
    """SDKs take this status as the advice to ask at intervals."""

    status = 429
    name = "TooManyStreamsError"
    title = "Too many streams"
    when = "The server keeps as many streams open as it can, for this token, or for this address."
    remedy = "Ask for features at intervals. SDKs do so by themselves after this answer."

    def __init__(self) -> None:
        super().__init__("Too many streams are open. Ask for features at intervals.")
        self.headers = {"Retry-After": "60"}


class NotOffered(DomainError):
    status = 501
    name = "NotImplementedError"
    title = "Not offered by this server"
    when = "Streams were asked for where another server than Flagstaff’s own runs it."
    remedy = "Ask for features at intervals, or run flagstaff serve. SDKs do the former."


class Failure(DomainError):
    """A fault of Flagstaff itself."""

    status = 500
    name = "InternalError"
    title = "Something went wrong on our side"
    when = "Flagstaff has a fault. Nothing was saved."
    remedy = (
        "Give the id to the people who run this Flagstaff. The server’s log has the cause under "
        "the same id."
    )

    def __init__(self) -> None:
        super().__init__("Something went wrong on our side. Nothing was saved.")


class Unavailable(DomainError):
    """The database is full, locked, read-only or gone, or ``InMaintenance``."""

    status = 503
    name = "UnavailableError"
    title = "Temporarily unavailable"
    when = (
        "The database is full, locked, read-only or gone, a newer version has migrated it, or "
        "maintenance mode is on. Nothing was saved, unless the message says otherwise."
    )
    remedy = "Try again in a moment. If that does not help, run flagstaff doctor on the server."

    def __init__(
        self,
        why: str = "The database is unavailable.",
        *,
        result: str = "Nothing was saved. Try again in a moment.",
    ) -> None:
        super().__init__(f"{why} {result}")
        self.headers = {"Retry-After": "2"}


class InMaintenance(Unavailable):
    """An Admin has switched on maintenance mode."""

    title = "Nothing can be changed right now"
    remedy = (
        "Try again when maintenance mode has ended. What you typed is still there if you go back "
        "in your browser."
    )

    def __init__(self, since: datetime) -> None:
        super().__init__(
            f"An Admin switched on maintenance mode on {since:%Y-%m-%d at %H:%M} UTC.",
            result="Nothing can be changed until it ends. Reading and applications go on.",
        )
        self.headers = {"Retry-After": "60"}


def all_errors() -> list[type[DomainError]]:
    """One class for each name, ordered by status and name."""
    found: dict[str, type[DomainError]] = {}
    classes = [DomainError]
    for kind in classes:
        classes += kind.__subclasses__()
        if hasattr(kind, "when"):
            found.setdefault(kind.name, kind)
    return sorted(found.values(), key=lambda kind: (kind.status, kind.name))


def problems(messages: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """A schema's messages with JSON pointers: {"tags": {0: ["No."]}} -> ("/tags/0", "No.")."""
    if not isinstance(messages, dict):
        yield from ((path, str(message)) for message in messages)
        return
    for key, found in messages.items():
        step = str(key).replace("~", "~0").replace("/", "~1")
        yield from problems(found, path if key == "_schema" else f"{path}/{step}")
