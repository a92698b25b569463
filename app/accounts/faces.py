"""What this room shows to the others: pictures of accounts."""

from app.accounts import pages as accounts_pages
from app.accounts.sessions.models import KEPT_FORMS
from app.web.rooms import Room

ROOM = Room(
    pages=(accounts_pages.bp,),
    keeps=(KEPT_FORMS,),
)
