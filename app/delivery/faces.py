"""What this room shows to the others: applications and what they get."""

from app.catalogue.usage.models import (
    APPLICATIONS,
    INSTANCES,
    TOKEN_USES,
    UNKNOWN_FEATURES,
    VARIANTS,
)
from app.core.permissions import Permission
from app.delivery import reminders
from app.delivery.applications import api as applications_api
from app.delivery.applications import pages as applications_pages
from app.delivery.origins import api as cors_api
from app.delivery.origins import pages as cors_pages
from app.delivery.playground import api as playground_api
from app.delivery.playground import pages as playground_pages
from app.delivery.playground import pages_compare as comparing_pages
from app.delivery.sdk import api as sdk_api
from app.delivery.sdk import api_openapi as sdk_openapi
from app.delivery.webhooks import api as webhooks_api
from app.delivery.webhooks import pages as webhook_pages
from app.web.navigation import Entry, Heading
from app.web.rooms import Reminder, Room

ROOM = Room(
    keeps=(APPLICATIONS, INSTANCES, TOKEN_USES, UNKNOWN_FEATURES, VARIANTS),
    apis=(
        playground_api.bp,
        applications_api.bp,
        cors_api.bp,
        webhooks_api.bp,
    ),
    outside=(sdk_openapi.DESCRIBED,),
    pages=(
        playground_pages.bp,
        comparing_pages.bp,
        applications_pages.bp,
        cors_pages.bp,
        webhook_pages.bp,
    ),
    starts=(webhooks_api.init_app, sdk_api.init_app),
    entries=(
        Entry(Heading.EVERYONE, 6, "Playground", "playground_pages.index"),
        Entry(
            Heading.APPLICATIONS,
            3,
            "Browser origins",
            "browser_origin_pages.show",
            Permission.UPDATE_CORS,
        ),
        Entry(Heading.APPLICATIONS, 1, "Applications", "application_pages.index", also="/arrival"),
        Entry(
            Heading.INSTANCE,
            2,
            "Webhooks",
            "webhook_pages.index",
            Permission.ADMIN,
            also="/new-webhook",
        ),
    ),
    lists={
        "application_pages.index": "Applications",
    },
    reminders=(
        Reminder(
            6,
            "evaluation",
            "Features that can’t be evaluated",
            reminders.evaluation,
            "Show why",
            "help_pages.show",
            {"topic": "troubleshooting"},
        ),
        Reminder(
            8,
            "webhooks",
            "Webhooks that fail",
            reminders.failing_webhooks,
            "Open",
            "webhook_pages.show",
        ),
    ),
)
