"""Links to set a password, sent by mail where that is possible."""

from typing import NamedTuple

from app.accounts import links
from app.accounts.models import Account
from app.core.messages import Mail
from app.web.current import current_actor, current_settings
from app.web.mail import send_after

NEW = """\
{who} created an account for you on {place}.

Choose your password within 48 hours. The link works once:
{link}

You don’t expect this? Then you can ignore this mail.
"""
AGAIN = """\
{who} created a link for you to set a new password on {place}.

Use it within 48 hours. It works once:
{link}

You didn’t ask for this? Then tell {who}. Your password stays as it is until someone uses the link.
"""


class CreatedLink(NamedTuple):
    address: str
    is_sent: bool


def create_link(account: Account, *, is_new: bool, by_mail: bool = True) -> CreatedLink:
    """Create a link; send it if that is wanted, the person has an address, and mail is set up."""
    address = current_settings().address
    link = address(links.create(current_actor, account))
    if account.email is None or not by_mail:
        return CreatedLink(link, is_sent=False)
    text = (NEW if is_new else AGAIN).format(who=current_actor.username, place=address(), link=link)
    subject = "Your account on Flagstaff" if is_new else "Set a new password for Flagstaff"
    return CreatedLink(link, send_after(Mail(account.email, subject, text)))
