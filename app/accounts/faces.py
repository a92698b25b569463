"""What this room shows to the others: pictures of accounts."""

from app.accounts import pages as accounts_pages
from app.web.rooms import Room

ROOM = Room(
    pages=(accounts_pages.bp,),
)
