"""What this room shows to the others: what a person sees across rooms."""

from app.core.permissions import Permission
from app.portal import reminders
from app.portal.display import api as display_api
from app.portal.display import pages as display_pages
from app.portal.event_log import api as event_log_api
from app.portal.event_log import pages as event_log_pages
from app.portal.help import api as docs_api
from app.portal.help import pages as docs_pages
from app.portal.help import pages_help as docs_pages_help
from app.portal.home import pages as home_pages
from app.portal.instance import api as instance_api
from app.portal.instance import api_statistics
from app.portal.instance import pages as instance_pages
from app.portal.notices import api as notices_api
from app.portal.notices import pages as notice_pages
from app.portal.notices import service as notices
from app.portal.saved_filters import api as saved_filters_api
from app.portal.saved_filters import pages as saved_filter_pages
from app.portal.search import api as search_api
from app.portal.search import pages as search_pages
from app.web.navigation import Action, Entry, Heading, needs
from app.web.rooms import Reminder, Room

ROOM = Room(
    apis=(
        search_api.bp,
        notices_api.bp,
        saved_filters_api.bp,
        display_api.bp,
        event_log_api.bp,
        event_log_api.search_bp,
        api_statistics.bp,
        docs_api.bp,
        instance_api.bp,
    ),
    pages=(
        home_pages.bp,
        search_pages.bp,
        notice_pages.bp,
        saved_filter_pages.bp,
        display_pages.bp,
        event_log_pages.bp,
        instance_pages.bp,
        docs_pages.bp,
        docs_pages_help.bp,
    ),
    entries=(
        Entry(Heading.EVERYONE, 1, "Home", "home_pages.index"),
        Entry(
            Heading.EVERYONE,
            2,
            "Notices",
            "notice_pages.index",
            number=notices.unread,
            counts="unread",
            icon="bell",
        ),
        Entry(Heading.AUDIT, 1, "Events", "event_pages.index", Permission.READ_LOGS),
        Entry(Heading.INSTANCE, 4, "Backups", "instance_pages.backups", Permission.ADMIN),
        Entry(Heading.INSTANCE, 5, "Settings", "instance_pages.settings", Permission.ADMIN),
        Entry(Heading.SUPPORT, 1, "Help", "help_pages.index", also="/api"),
    ),
    actions=(
        Action(
            15,
            "Export events…",
            "Events",
            "event_pages.index",
            needs(Permission.READ_LOGS),
            words="download csv json audit",
        ),
        Action(
            24,
            "Maintenance mode",
            "Settings",
            "instance_pages.maintenance",
            needs(Permission.ADMIN),
            words="read-only freeze lock",
        ),
        Action(25, "API reference", "Help", "docs_pages.api", words="openapi swagger rest"),
    ),
    lists={
        "event_pages.index": "Events",
        "event_pages.history": "History of {project_id}",
    },
    reminders=(
        Reminder(
            5,
            "backup",
            "Missing backups",
            reminders.backup,
            "Show how",
            "help_pages.show",
            {"topic": "operating"},
        ),
    ),
)
