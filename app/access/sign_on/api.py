"""Back-Channel Logout: the provider calls it when someone signs out there."""

from flask import Blueprint, Response, request

from app.access.security_log import service as security_log
from app.access.security_log.models import SecurityKind
from app.access.security_log.service import LogEntry
from app.access.sign_on.answers import LogoutToken, ProviderAway, ProviderError
from app.access.sign_on.pages import current_provider
from app.accounts import identities
from app.accounts import service as accounts
from app.core.db import transact
from app.core.errors import Invalid, Unavailable
from app.core.logs import LOGGER
from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.web.routes import Routes, no_body


class _BackChannel(Routes, Blueprint):  # type: ignore[misc] # route() asks for more
    """A form that a server sends: the token in it is the proof, and there is no cookie."""

    answers_json = True


bp = _BackChannel("back_channel", __name__)


@bp.route(
    "/sign-in/back-channel",
    methods=["POST"],
    needs=Access.PUBLIC,
    keeps=NOTHING,
    writes=True,
    in_steps=True,
    even_in_maintenance=True,
)
def end_sessions() -> Response:
    """End the sessions of someone who signed out at the provider, or was signed out there."""
    try:
        token = current_provider().logout_token(request.form.get("logout_token", ""))
    except ProviderAway as error:
        LOGGER.warning("back-channel logout: %s", error)
        raise Unavailable from None
    except ProviderError as error:
        LOGGER.warning("back-channel logout refused: %s", error)
        raise Invalid(str(error)) from None
    transact(lambda: _end(token), writes=True)
    answer = no_body()
    answer.cache_control.no_store = True
    return answer


def _end(token: LogoutToken) -> None:
    issuer = current_provider().issuer
    ended = identities.end_sessions(
        issuer, token.subject, token.session, begun_before=token.begun_before
    )
    for account_id in ended:
        account = accounts.get(account_id)
        security_log.record(
            LogEntry(
                SecurityKind.SIGN_OUT,
                request.remote_addr,
                account.id,
                account.label,
                detail="at the single sign-on provider",
            )
        )
