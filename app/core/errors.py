"""What the domain says no with. One tree, one renderer (``core/http.py``)."""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

Detail = dict[str, str]
"""``{"path": JSON pointer into the request, "message": what is wrong and how to mend it}``"""

NAMES_SHOWN = 20
MAX_DETAILS = 1_000


class DomainError(Exception):
    """A refusal the caller can act on; ``field`` names the input it is about."""

    status: ClassVar[int] = 400
    name: ClassVar[str] = "ValidationError"
    keeps_changes: ClassVar[bool] = False
    """Whether what was done before is committed all the same: a wrong password stays counted."""

    def __init__(
        self, message: str, *, field: str | None = None, details: list[Detail] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.details = details
        self.headers: dict[str, str] = {}


class Invalid(DomainError):
    """The request does not match the rules; ``details`` has every problem."""

    @classmethod
    def because(cls, details: list[Detail]) -> Self:
        """Sum the problems up in one message, the first few in words; keep MAX_DETAILS of them."""
        shown = "; ".join(f"{d['path'] or 'body'}: {d['message']}" for d in details[:3])
        rest = f"; and {len(details) - 3} more" if len(details) > 3 else ""  # noqa: PLR2004 - as shown
        message = f"The request is not valid. {shown}{rest}"
        return cls(message, details=details[:MAX_DETAILS])

    @classmethod
    def at(cls, path: str, message: str) -> Self:
        """One problem, at this JSON pointer."""
        return cls.because([{"path": path, "message": message}])


class WrongPassword(Invalid):
    """Who is signed in was asked for his password again, and gave another."""

    keeps_changes = True


class NotAuthenticated(DomainError):
    """Missing, unknown, expired and revoked alike: a stranger learns nothing of which."""

    status = 401
    name = "AuthenticationRequired"

    def __init__(self) -> None:
        super().__init__(
            "You must send a valid API token in the Authorization header. "
            "This one is missing, unknown, expired or revoked."
        )
        self.headers = {"WWW-Authenticate": "Bearer"}


class NoAccess(DomainError):
    status = 403
    name = "NoAccessError"


class NotFound(DomainError):
    status = 404
    name = "NotFoundError"


class NameExists(DomainError):
    status = 409
    name = "NameExistsError"


class Conflict(DomainError):
    """A rule or the present state forbids it; nothing is wrong with the request's form."""

    status = 409
    name = "ConflictError"


class PreconditionFailed(DomainError):
    status = 412
    name = "PreconditionFailedError"


class UnsupportedContentType(DomainError):
    status = 415
    name = "ContentTypeerror"  # spelled so in the API's founding document

    def __init__(self) -> None:
        super().__init__(
            "A request with a body needs the header Content-Type: application/json (charset utf-8)."
        )


class TooManyRequests(DomainError):
    status = 429
    name = "RateLimitError"

    def __init__(self, *, seconds: int) -> None:
        super().__init__(f"Too many attempts just now; try again in {seconds} s.")
        self.headers = {"Retry-After": str(seconds)}


class Unavailable(DomainError):
    """The database is full, locked, read-only or gone. Nothing was changed; try again."""

    status = 503
    name = "UnavailableError"

    def __init__(self) -> None:
        super().__init__(
            "The database can't do this just now. Nothing was changed; try again soon."
        )
        self.headers = {"Retry-After": "2"}


def problems(messages: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """A schema's messages with JSON pointers: {"tags": {0: ["No."]}} -> ("/tags/0", "No.")."""
    if not isinstance(messages, dict):
        yield from ((path, str(message)) for message in messages)
        return
    for key, found in messages.items():
        step = str(key).replace("~", "~0").replace("/", "~1")
        yield from problems(found, path if key == "_schema" else f"{path}/{step}")


def listed(names: Iterable[str]) -> str:
    """``a, b and 3 more``: names for a message, cut where nobody reads on."""
    ordered = sorted(names)
    shown = ", ".join(ordered[:NAMES_SHOWN])
    rest = len(ordered) - NAMES_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown
