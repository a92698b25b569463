"""What this room shows to the others: whole instances and projects in and out."""

from app.core.permissions import Permission
from app.exchange.documents import api as configuration_api
from app.exchange.unleash import api as transfer_api
from app.exchange.unleash import api_imports as imports_api
from app.exchange.unleash import pages
from app.web.navigation import Entry, Heading
from app.web.rooms import Room

ROOM = Room(
    apis=(
        configuration_api.bp,
        transfer_api.bp,
        imports_api.bp,
    ),
    pages=(
        pages.export_bp,
        pages.bp,
    ),
    entries=(Entry(Heading.INSTANCE, 3, "Import", "import_pages.index", Permission.ADMIN),),
)
