"""Mail to people, in the background: no one waits for a mail server.

It has links that work as passwords, so it is not kept in the database as other mail is.
"""

from concurrent.futures import ThreadPoolExecutor

from flask import Flask, Response, current_app, g

from app.core import messages
from app.core.config import Settings
from app.core.logs import LOGGER
from app.core.messages import Mail
from app.web.current import current_settings

AT_ONCE = 2


def init_app(app: Flask) -> None:
    app.extensions["flagstaff.mail"] = ThreadPoolExecutor(AT_ONCE, "mail")
    app.after_request(_send_what_waits)


def send_after(mail: Mail) -> bool:
    """Send a mail once this request has succeeded. A failure is in the log.

    False if the operator set no mail server.
    """
    if current_settings().mail_url is None:
        return False
    g.mail = mail  # in the place of an earlier try's, if the transaction was repeated
    return True


def _send_what_waits(response: Response) -> Response:
    mail: Mail | None = g.pop("mail", None)
    if mail is not None and response.status_code < 400 and not g.get("is_dry_run"):  # noqa: PLR2004 - a success
        pool: ThreadPoolExecutor = current_app.extensions["flagstaff.mail"]
        pool.submit(_send, mail, current_settings())
    return response


def _send(mail: Mail, settings: Settings) -> None:
    assert settings.mail_url is not None  # see send_after  # noqa: S101
    outcome = messages.send_mail(settings.mail_url, mail, sender=settings.address())
    if outcome.error is not None:
        LOGGER.warning("a mail was not sent: %s", outcome.error)
