"""Mail with the link to set a password."""

from app.accounts.models import Account
from app.core.actor import Actor
from app.core.messages import Mail

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


def of_link(actor: Actor, account: Account, link: str, *, place: str, is_new: bool) -> Mail | None:
    """The mail with the link; None if the person has no address. ``place``: of this server."""
    if account.email is None:
        return None
    text = (NEW if is_new else AGAIN).format(who=actor.username, place=place, link=link)
    subject = "Your account on Flagstaff" if is_new else "Set a new password for Flagstaff"
    return Mail(account.email, subject, text)
