"""What this room shows to the others: projects, features and all that they are made of."""

from app.catalogue import reminders
from app.catalogue.archive import api as archive_api
from app.catalogue.archive import pages as archive_pages
from app.catalogue.constraints import api as constraints_api
from app.catalogue.context import api as context_api
from app.catalogue.context import pages as context_pages
from app.catalogue.environments import api as environments_api
from app.catalogue.environments import pages as environments_pages
from app.catalogue.favourites import api as favourites_api
from app.catalogue.favourites import pages as favourite_pages
from app.catalogue.feature_types import api as feature_types_api
from app.catalogue.feature_types import pages as feature_type_pages
from app.catalogue.features import api as features_api
from app.catalogue.features import api_insights, api_search
from app.catalogue.features import pages as features_pages
from app.catalogue.features import pages_all as all_features_pages
from app.catalogue.features import pages_bulk as features_pages_bulk
from app.catalogue.features import pages_health as health_pages
from app.catalogue.features import pages_lifecycle as lifecycle_pages
from app.catalogue.features import pages_settings as features_pages_settings
from app.catalogue.projects import api as projects_api
from app.catalogue.projects import pages as projects_pages
from app.catalogue.projects import pages_members as member_pages
from app.catalogue.receipts import api as receipts_api
from app.catalogue.receipts import pages as receipt_pages
from app.catalogue.sdk_tokens import api as sdk_tokens_api
from app.catalogue.sdk_tokens import pages as sdk_token_pages
from app.catalogue.sdk_tokens import pages_connect as connect_pages
from app.catalogue.segments import api as segments_api
from app.catalogue.segments import pages as segments_pages
from app.catalogue.strategies import api as strategies_api
from app.catalogue.strategies import pages as strategy_type_pages
from app.catalogue.tagging import api as tagging_api
from app.catalogue.tagging import pages as tagging_pages
from app.catalogue.tagging import pages_tags as one_tag_pages
from app.catalogue.tags import api as tags_api
from app.catalogue.tags import pages as tags_pages
from app.catalogue.visits import requests as visits
from app.core.permissions import Permission
from app.web.navigation import Action, Entry, Heading, needs, needs_somewhere
from app.web.rooms import Choice, Reminder, Room

_may_create_segment = needs_somewhere(Permission.CREATE_SEGMENT, Permission.UPDATE_PROJECT_SEGMENT)

_ROOM_FOR_COLUMNS = (
    "States show on every screen. The others show where there is room: when they were last checked "
    "first, then type, age and tags. Hide one to make room for the next."
)

ROOM = Room(
    apis=(
        sdk_tokens_api.bp,
        projects_api.bp,
        projects_api.environments_bp,
        features_api.bp,
        features_api.all_bp,
        api_insights.bp,
        api_insights.everywhere_bp,
        api_search.bp,
        strategies_api.bp,
        segments_api.bp,
        segments_api.fields_bp,
        favourites_api.bp,
        tagging_api.bp,
        tagging_api.tags_bp,
        tagging_api.of_feature_bp,
        receipts_api.bp,
        archive_api.bp,
        archive_api.archived_bp,
        tags_api.bp,
        context_api.bp,
        constraints_api.bp,
        environments_api.bp,
        feature_types_api.bp,
    ),
    pages=(
        projects_pages.bp,
        member_pages.bp,
        features_pages.bp,
        all_features_pages.bp,
        all_features_pages.new_bp,
        features_pages_bulk.bp,
        features_pages_settings.bp,
        receipt_pages.bp,
        receipt_pages.arrival_bp,
        lifecycle_pages.bp,
        health_pages.bp,
        tagging_pages.bp,
        one_tag_pages.bp,
        archive_pages.bp,
        favourite_pages.bp,
        tags_pages.bp,
        context_pages.bp,
        segments_pages.bp,
        strategy_type_pages.bp,
        environments_pages.bp,
        feature_type_pages.bp,
        sdk_token_pages.bp,
        connect_pages.bp,
    ),
    starts=(visits.init_app, receipts_api.init_app, receipt_pages.init_app),
    entries=(
        Entry(Heading.EVERYONE, 3, "Projects", "project_pages.index", also="/new-project"),
        Entry(Heading.EVERYONE, 4, "Features", "all_feature_pages.index"),
        Entry(Heading.TARGETING, 1, "Segments", "segment_pages.index", also="/new-segment"),
        Entry(
            Heading.TARGETING, 2, "Context fields", "context_pages.index", also="/new-context-field"
        ),
        Entry(
            Heading.TARGETING,
            4,
            "Strategy types",
            "strategy_type_pages.index",
            also="/new-strategy-type",
        ),
        Entry(Heading.TARGETING, 3, "Tags", "tag_pages.index"),
        Entry(
            Heading.APPLICATIONS,
            2,
            "SDK tokens",
            "sdk_token_pages.index",
            Permission.READ_CLIENT_API_TOKEN,
            also="/connect",
        ),
        Entry(
            Heading.INSTANCE,
            1,
            "Environments",
            "environment_pages.index",
            also="/new-environment",
        ),
        Entry(Heading.INSTANCE, 1, "Feature types", "feature_type_pages.index"),
    ),
    actions=(
        Action(
            1,
            "New feature",
            "Features",
            "new_feature_pages.choose",
            needs_somewhere(Permission.CREATE_FEATURE),
            words="create add flag toggle",
        ),
        Action(
            2,
            "New project",
            "Projects",
            "project_pages.new",
            needs(Permission.CREATE_PROJECT),
            words="create add",
        ),
        Action(
            3,
            "Connect an application",
            "SDK tokens",
            "connect_pages.new",
            needs(Permission.CREATE_CLIENT_API_TOKEN),
            words="new sdk token api key create",
        ),
        Action(
            4,
            "New segment",
            "Segments",
            "segment_pages.new",
            _may_create_segment,
            words="create add audience",
        ),
        Action(
            7,
            "New context field",
            "Context fields",
            "context_pages.new",
            needs(Permission.CREATE_CONTEXT_FIELD),
            words="create add attribute",
        ),
        Action(
            8,
            "New strategy type",
            "Strategy types",
            "strategy_type_pages.new",
            needs(Permission.CREATE_STRATEGY),
            words="create add custom",
        ),
        Action(
            9,
            "New tag type",
            "Tags",
            "tag_pages.new_type",
            needs(Permission.CREATE_TAG_TYPE),
            words="create add label",
        ),
        Action(
            10,
            "New environment",
            "Environments",
            "environment_pages.new",
            needs(Permission.ADMIN),
            words="create add stage",
        ),
        Action(
            12,
            "Find tokens that expire soon",
            "SDK tokens",
            "sdk_token_pages.index",
            needs(Permission.READ_CLIENT_API_TOKEN),
            {"state": "expiring"},
            words="rotate expiring",
        ),
        Action(
            16,
            "Find features that look stale",
            "Features",
            "all_feature_pages.index",
            values={"staleProposal": "any"},
            words="unused remove clean up debt",
        ),
        Action(
            17,
            "Find archived features",
            "Features",
            "all_feature_pages.index",
            values={"archived": "true"},
            words="revive restore",
        ),
    ),
    lists={
        "project_pages.index": "Projects",
        "feature_pages.index": "Features of {project_id}",
        "all_feature_pages.index": "Features",
        "segment_pages.index": "Segments",
        "tag_pages.index": "Tags",
        "sdk_token_pages.index": "SDK tokens",
    },
    reminders=(
        Reminder(
            1,
            "arrival",
            "Changes that have not arrived",
            reminders.late_changes,
            "See where",
            "arrival_pages.index",
            one="receipt_pages.show",
        ),
        Reminder(
            7,
            "approvers",
            "Environments that no one can approve in",
            reminders.missing_approvers,
            "Add members",
            "member_pages.index",
        ),
        Reminder(
            9,
            "tokens",
            "Tokens that expire",
            reminders.expiring_tokens,
            "Review",
            "sdk_token_pages.index",
            {"state": "expiring"},
        ),
        Reminder(
            10,
            "unused",
            "Features that no one uses",
            reminders.unused,
            "Review",
            "all_feature_pages.index",
            {"staleProposal": "unused"},
        ),
        Reminder(
            11,
            "everywhere",
            "Features that have long been on for everyone",
            reminders.everywhere,
            "Review",
            "all_feature_pages.index",
            {"staleProposal": "everywhere"},
        ),
        Reminder(
            11,
            "lifetime",
            "Features past their lifetime",
            reminders.outlived,
            "Review",
            "all_feature_pages.index",
            {"staleProposal": "lifetime"},
        ),
        Reminder(
            13,
            "ownerless",
            "Projects without an Owner",
            reminders.ownerless_projects,
            "Review",
            "project_pages.index",
            {"membership": "ownerless"},
            one="member_pages.index",
            act=("Become its Owner", "member_pages.add"),
        ),
        Reminder(
            15,
            "tags",
            "Tags that are nearly alike",
            reminders.alike_tags,
            "Review",
            "tag_pages.index",
            {"_anchor": "alike"},
        ),
    ),
    choices={
        "projects": Choice(
            "Columns of the list of projects",
            {
                "mode": "Mode",
                "features": "Features",
                "onInProduction": "On in production",
                "members": "Members",
                "owners": "Owners",
                "changed": "Changed",
            },
        ),
        "features": Choice(
            "Columns of the list of all features",
            {
                "type": "Type",
                "state": "State in each environment",
                "tags": "Tags",
                "lastSeen": "Last checked",
                "age": "Age",
            },
            _ROOM_FOR_COLUMNS,
        ),
        "project-features": Choice(
            "Columns of the lists of a project’s features",
            {
                "type": "Type",
                "environments": "State in each environment",
                "tags": "Tags",
                "lastSeen": "Last checked",
                "age": "Age",
            },
            _ROOM_FOR_COLUMNS,
        ),
    },
)
