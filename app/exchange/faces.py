"""What this room shows to the others: whole instances and projects in and out."""

from app.exchange.unleash import api as transfer_api
from app.exchange.unleash import api_imports as imports_api
from app.exchange.unleash import pages
from app.web.rooms import Room

ROOM = Room(
    apis=(
        transfer_api.bp,
        imports_api.bp,
    ),
    pages=(
        pages.export_bp,
        pages.bp,
    ),
)
