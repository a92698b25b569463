"""Who may do what: one table of every route, written by hand, and every kind of caller."""

import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Generic, TypeVar

import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from app.accounts.tokens import secrets
from app.accounts.tokens.models import Token
from app.core.clock import utcnow
from app.core.db import db, unit_of_work
from tests.support.browser import Browser, Page
from tests.support.clients import ApiClient
from tests.support.people import People
from tests.support.roles import OF_ADMIN, OF_EDITOR, OF_MEMBER, ON_PROJECT

PUBLIC, TOKEN, SESSION = "everyone", "anyone with a token", "anyone signed in"
HISTORY = "READ_LOGS, or a role in the project"
PROJECT = "/api/admin/projects/<key:project_id>"
REVIEWS = PROJECT + "/access-reviews"
PAGES = "/projects/<key:project_id>"
SWITCH = PAGES + "/features/<key:name>/environments/<key:environment>"
PARENTS = PROJECT + "/features/<key:name>/dependencies"
PLACE = PROJECT + "/features/<key:name>/environments/<key:environment>"
PLANS = PLACE + "/release-plans"
PLAN = PLANS + "/<uuid:release>"
TEMPLATES = "/api/admin/release-plan-templates"
DEFAULT = PROJECT + "/environments/<key:environment>/default-strategy"
SEVERAL = PROJECT + "/bulk_features/environments/<key:environment>"
PROPOSING = PROJECT + "/environments/<key:environment>/change-requests"
PROPOSED = PROJECT + "/change-requests"
REQUEST = PROPOSED + "/<id:id>"
PERSON = "/users/<id:account_id>"
MACHINE = "/service-accounts/<id:account_id>"
SDK = "/sdk-tokens/<id:token_id>"
GROUPS = "/api/admin/groups"
ROBOTS = "/api/admin/service-account"
HOOKS = "/api/admin/webhooks"
HOOK = "/webhooks/<id:webhook_id>"
TAGS_OF = "/api/admin/features/<key:name>/tags"
OF_WEB = (PROJECT, TAGS_OF, "/api/admin/archive/")
"""How routes begin that act in the project ``web``, where the feature of their path is."""
VARIANTS = "UPDATE_FEATURE_ENVIRONMENT_VARIANTS"

NEEDS = {
    ("GET", "/health"): PUBLIC,
    ("GET", "/ready"): PUBLIC,
    ("GET", "/static/<path:filename>"): PUBLIC,
    ("GET", "/avatars/<string(maxlength=2):initials>.svg"): PUBLIC,
    ("GET", "/api/"): PUBLIC,
    ("GET", "/api/openapi.json"): PUBLIC,
    ("GET", "/api/try/swagger-ui.css"): PUBLIC,
    ("GET", "/api/try/swagger-ui-bundle.js"): PUBLIC,
    ("GET", "/metrics"): PUBLIC,  # from this machine; others: tests/web/health/test_metrics.py
    ("GET", "/.well-known/security.txt"): PUBLIC,
    ("GET", "/.well-known/change-password"): PUBLIC,
    ("GET", "/robots.txt"): PUBLIC,
    ("POST", "/arrival"): PUBLIC,  # with a proof of its own, as there
    ("POST", "/arrival/stream"): PUBLIC,
    ("GET", "/api/admin/user"): TOKEN,
    ("GET", "/api/admin/user/profile"): TOKEN,
    ("GET", "/api/admin/user/roles"): TOKEN,
    ("GET", "/api/admin/user/tokens"): TOKEN,
    ("POST", "/api/admin/user/tokens"): TOKEN,
    ("DELETE", "/api/admin/user/tokens/<id:token_id>"): TOKEN,
    ("POST", "/api/admin/user/change-password"): TOKEN,
    ("POST", "/api/admin/feedback"): TOKEN,
    ("GET", "/api/admin/feedback/<key:feedback_id>"): TOKEN,
    ("PUT", "/api/admin/feedback/<key:feedback_id>"): TOKEN,
    ("POST", "/api/admin/splash/<key:splash_id>"): TOKEN,
    ("GET", ROBOTS): "ADMIN",
    ("POST", ROBOTS): "ADMIN",
    ("GET", ROBOTS + "/<id:account_id>"): "ADMIN",
    ("PUT", ROBOTS + "/<id:account_id>"): "ADMIN",
    ("DELETE", ROBOTS + "/<id:account_id>"): "ADMIN",
    ("GET", ROBOTS + "/<id:account_id>/token"): "ADMIN",
    ("POST", ROBOTS + "/<id:account_id>/token"): "ADMIN",
    ("DELETE", ROBOTS + "/<id:account_id>/token/<id:token_id>"): "ADMIN",
    ("POST", ROBOTS + "/<id:account_id>/token/<id:token_id>/rotate"): "ADMIN",
    ("GET", REVIEWS): "PROJECT_USER_ACCESS_WRITE",
    ("POST", REVIEWS): "PROJECT_USER_ACCESS_WRITE",
    ("GET", REVIEWS + "/current"): "PROJECT_USER_ACCESS_WRITE",
    ("GET", REVIEWS + "/<id:review_id>"): "PROJECT_USER_ACCESS_WRITE",
    ("GET", "/api/admin/scim-tokens"): "ADMIN",
    ("POST", "/api/admin/scim-tokens"): "ADMIN",
    ("DELETE", "/api/admin/scim-tokens/<id:token_id>"): "ADMIN",
    ("POST", "/api/admin/scim-tokens/disconnect"): "ADMIN",
    ("GET", GROUPS): "ADMIN",
    ("POST", GROUPS): "ADMIN",
    ("GET", GROUPS + "/<id:group_id>"): "ADMIN",
    ("PUT", GROUPS + "/<id:group_id>"): "ADMIN",
    ("DELETE", GROUPS + "/<id:group_id>"): "ADMIN",
    ("POST", "/sign-in/back-channel"): PUBLIC,  # with a token of the provider: tests/access/sign_on
    ("GET", "/api/admin/user-admin"): "ADMIN",
    ("POST", "/api/admin/user-admin"): "ADMIN",
    ("GET", "/api/admin/user-admin/<id:account_id>"): "ADMIN",
    ("PUT", "/api/admin/user-admin/<id:account_id>"): "ADMIN",
    ("DELETE", "/api/admin/user-admin/<id:account_id>"): "ADMIN",
    ("POST", "/api/admin/user-admin/<id:account_id>/restore"): "ADMIN",
    ("POST", "/api/admin/user-admin/<id:account_id>/reactivate"): "ADMIN",
    ("POST", "/api/admin/user-admin/<id:account_id>/deactivate"): "ADMIN",
    ("POST", "/api/admin/user-admin/deactivate"): "ADMIN",
    ("POST", "/api/admin/user-admin/reactivate"): "ADMIN",
    ("GET", "/api/admin/user-admin/<id:account_id>/token"): "ADMIN",
    ("DELETE", "/api/admin/user-admin/<id:account_id>/token/<id:token_id>"): "ADMIN",
    ("GET", "/api/admin/user-admin/search"): "ADMIN",
    ("GET", "/api/admin/user-admin/access"): "ADMIN",
    ("GET", "/api/admin/user-admin/admin-count"): "ADMIN",
    ("DELETE", "/api/admin/user-admin/scim-users"): "ADMIN",
    ("POST", "/api/admin/user-admin/<id:account_id>/change-password"): "ADMIN",
    ("POST", "/api/admin/user-admin/reset-password"): "ADMIN",
    ("POST", "/api/admin/user-admin/validate-password"): TOKEN,
    ("GET", "/api/admin/instance-admin/statistics"): "ADMIN",
    ("GET", "/api/admin/instance-admin/statistics/csv"): "ADMIN",
    ("GET", "/api/admin/user-admin/inactive"): "ADMIN",
    ("POST", "/api/admin/user-admin/inactive/delete"): "ADMIN",
    ("GET", "/api/admin/projects"): TOKEN,
    ("POST", "/api/admin/projects"): "CREATE_PROJECT",
    ("GET", PROJECT): TOKEN,
    ("PUT", PROJECT): "UPDATE_PROJECT",
    ("DELETE", PROJECT): "DELETE_PROJECT",
    ("POST", PROJECT + "/restore"): "DELETE_PROJECT",
    ("POST", PROJECT + "/environments"): "UPDATE_PROJECT",
    ("DELETE", PROJECT + "/environments/<key:environment>"): "UPDATE_PROJECT",
    ("GET", "/api/admin/environments/project/<key:project_id>"): TOKEN,
    ("PATCH", PROJECT + "/features/<key:name>"): "UPDATE_FEATURE",
    ("DELETE", PROJECT + "/features/<key:name>"): "DELETE_FEATURE",
    ("POST", PROJECT + "/features/<key:name>/clone"): "CREATE_FEATURE",
    ("GET", PROJECT + "/features/<key:name>/parents"): TOKEN,
    ("GET", PROJECT + "/features/<key:name>/parent-variants"): TOKEN,
    ("PUT", PROJECT + "/features/<key:name>/variants-batch"): VARIANTS,
    ("PATCH", PLACE + "/variants"): VARIANTS,
    ("POST", PROJECT + "/revive"): "DELETE_FEATURE",
    ("POST", "/api/admin/archive/revive/<key:name>"): "DELETE_FEATURE",
    ("GET", PROJECT + "/dependencies"): TOKEN,
    ("GET", PROJECT + "/flag-creators"): TOKEN,
    ("GET", PROJECT + "/overview"): TOKEN,
    ("GET", PROJECT + "/health-report"): TOKEN,
    ("GET", PROJECT + "/insights"): TOKEN,
    ("GET", PROJECT + "/status"): TOKEN,
    ("GET", PROJECT + "/dora"): TOKEN,
    ("GET", PROJECT + "/applications"): TOKEN,
    ("GET", PROJECT + "/sdks/outdated"): TOKEN,
    ("GET", "/api/admin/lifecycle/count"): TOKEN,
    ("GET", "/api/admin/search/features"): TOKEN,
    ("GET", "/api/admin/search/events"): TOKEN,  # those that they may read
    ("GET", "/api/admin/events/<key:feature>"): TOKEN,  # as there
    ("GET", "/api/admin/event-creators"): "READ_LOGS",
    ("POST", "/api/admin/features/validate"): TOKEN,
    ("GET", TAGS_OF): TOKEN,
    ("POST", TAGS_OF): TOKEN,  # they read the body first: tests/catalogue/tagging
    ("PUT", TAGS_OF): TOKEN,  # they read the body first: tests/catalogue/tagging
    ("DELETE", TAGS_OF + "/<key:type>/<path:value>"): "UPDATE_FEATURE",
    ("POST", "/api/admin/tags"): "CREATE_TAG_TYPE",
    ("GET", "/api/admin/tags/<key:type>"): TOKEN,
    ("GET", "/api/admin/tags/<key:type>/<path:value>"): TOKEN,
    ("DELETE", "/api/admin/tags/<key:type>/<path:value>"): "DELETE_TAG_TYPE",
    ("POST", "/api/admin/tag-types/validate"): TOKEN,
    ("POST", "/api/admin/context/validate"): TOKEN,
    ("GET", "/api/admin/context/<key:name>/strategies"): TOKEN,
    ("GET", "/api/admin/segments/strategies/<uuid:strategy>"): TOKEN,
    ("PUT", "/api/admin/environments/sort-order"): "ADMIN",
    ("POST", "/api/admin/environments/<key:name>/on"): "ADMIN",
    ("POST", "/api/admin/environments/<key:name>/off"): "ADMIN",
    ("GET", "/api/admin/metrics/applications/<text:name>"): TOKEN,
    ("POST", "/api/admin/metrics/applications/<text:name>"): "ADMIN",
    ("GET", PROJECT + "/access"): TOKEN,
    ("PUT", PROJECT + "/access"): "PROJECT_USER_ACCESS_WRITE",
    ("POST", PROJECT + "/access"): "PROJECT_USER_ACCESS_WRITE",
    ("DELETE", PROJECT + "/access/<id:account_id>"): "PROJECT_USER_ACCESS_WRITE",
    ("PUT", PROJECT + "/environments"): "UPDATE_PROJECT",
    ("GET", "/api/admin/features"): TOKEN,
    ("GET", PROJECT + "/features"): TOKEN,
    ("POST", PROJECT + "/features"): "CREATE_FEATURE",
    ("GET", "/api/admin/feature-types"): TOKEN,
    ("PUT", "/api/admin/feature-types/<key:id>/lifetime"): "ADMIN",
    ("GET", PROJECT + "/features/<key:name>"): TOKEN,
    ("PUT", PROJECT + "/features/<key:name>"): "UPDATE_FEATURE",
    ("GET", PROJECT + "/features/<key:name>/lifecycle"): TOKEN,
    ("POST", PROJECT + "/features/<key:name>/link"): "UPDATE_FEATURE",
    ("PUT", PROJECT + "/features/<key:name>/link/<key:link_id>"): "UPDATE_FEATURE",
    ("DELETE", PROJECT + "/features/<key:name>/link/<key:link_id>"): "UPDATE_FEATURE",
    ("POST", PROJECT + "/features/<key:name>/lifecycle/complete"): "UPDATE_FEATURE",
    ("POST", PROJECT + "/features/<key:name>/lifecycle/uncomplete"): "UPDATE_FEATURE",
    ("POST", PARENTS): "UPDATE_FEATURE_DEPENDENCY",
    ("DELETE", PARENTS): "UPDATE_FEATURE_DEPENDENCY",
    ("DELETE", PARENTS + "/<key:parent>"): "UPDATE_FEATURE_DEPENDENCY",
    ("GET", PLACE): TOKEN,
    ("POST", PLACE + "/on"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", PLACE + "/off"): "UPDATE_FEATURE_ENVIRONMENT",
    ("GET", "/api/admin/releases"): TOKEN,
    ("GET", PLANS): TOKEN,
    ("POST", PLANS): "UPDATE_FEATURE_ENVIRONMENT",
    ("GET", PLAN): TOKEN,
    ("DELETE", PLAN): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", PLAN + "/milestones/<uuid:step>/start"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", PLAN + "/hold"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", PLAN + "/resume"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", PLAN + "/stop"): "UPDATE_FEATURE_ENVIRONMENT",
    ("PUT", PLACE + "/progressions/<uuid:step>"): "UPDATE_FEATURE_ENVIRONMENT",
    ("DELETE", PLACE + "/progressions/<uuid:step>"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", PLACE + "/progressions/<uuid:release>/resume"): "UPDATE_FEATURE_ENVIRONMENT",
    # One of a project needs UPDATE_PROJECT in it: tests/releases/templates/test_api.py
    ("GET", TEMPLATES): TOKEN,
    ("POST", TEMPLATES): "ADMIN",
    ("GET", TEMPLATES + "/<uuid:template>"): TOKEN,
    ("PUT", TEMPLATES + "/<uuid:template>"): TOKEN,
    ("DELETE", TEMPLATES + "/<uuid:template>"): TOKEN,
    ("GET", PROJECT + "/release-templates"): TOKEN,
    ("POST", PROJECT + "/release-templates"): "UPDATE_PROJECT",
    ("PUT", PROJECT + "/release-templates/<uuid:template>"): "UPDATE_PROJECT",
    ("GET", PLACE + "/receipts"): TOKEN,
    ("POST", PLACE + "/receipts/notify"): HISTORY,
    ("POST", PLACE + "/instances/mark-as-ended"): "UPDATE_FEATURE_ENVIRONMENT",
    ("GET", PLACE + "/strategies"): TOKEN,
    ("POST", PLACE + "/strategies"): "CREATE_FEATURE_STRATEGY",
    ("POST", PLACE + "/strategies/set-sort-order"): "UPDATE_FEATURE_STRATEGY",
    ("GET", PLACE + "/strategies/<uuid:strategy>"): TOKEN,
    ("PUT", PLACE + "/strategies/<uuid:strategy>"): "UPDATE_FEATURE_STRATEGY",
    ("DELETE", PLACE + "/strategies/<uuid:strategy>"): "DELETE_FEATURE_STRATEGY",
    ("POST", SEVERAL + "/on"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", SEVERAL + "/off"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", SEVERAL + "/on/plan"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", SEVERAL + "/off/plan"): "UPDATE_FEATURE_ENVIRONMENT",
    # What else it takes depends on the change, on its author and on its state:
    # tests/releases/change_requests/test_permissions.py
    ("POST", PROPOSING): TOKEN,
    ("PUT", PROPOSING + "/config"): "UPDATE_PROJECT",
    ("GET", PROPOSED): TOKEN,
    ("GET", PROPOSED + "/pending"): TOKEN,
    ("GET", PROPOSED + "/pending/<key:name>"): TOKEN,
    ("GET", PROPOSED + "/count"): TOKEN,
    ("GET", PROPOSED + "/config"): TOKEN,
    ("GET", PROPOSED + "/available-reviewers/<key:environment>"): TOKEN,
    ("GET", "/api/admin/search/change-requests"): TOKEN,
    ("GET", REQUEST): TOKEN,
    ("DELETE", REQUEST): TOKEN,
    ("GET", REQUEST + "/receipts"): TOKEN,
    ("PUT", REQUEST + "/state"): TOKEN,
    ("PUT", REQUEST + "/title"): TOKEN,
    ("PUT", REQUEST + "/approvers"): TOKEN,
    ("POST", REQUEST + "/comments"): TOKEN,
    ("PUT", REQUEST + "/changes/<id:change>"): TOKEN,
    ("DELETE", REQUEST + "/changes/<id:change>"): TOKEN,
    ("POST", REQUEST + "/plan"): TOKEN,
    ("POST", REQUEST + "/reverse"): TOKEN,
    ("PUT", PROJECT + "/tags"): "UPDATE_FEATURE",
    ("POST", PROJECT + "/stale"): "UPDATE_FEATURE",
    ("POST", PROJECT + "/type"): "UPDATE_FEATURE",
    ("POST", PROJECT + "/archive/validate"): "DELETE_FEATURE",
    ("POST", PROJECT + "/archive/plan"): "DELETE_FEATURE",
    ("POST", PROJECT + "/archive"): "DELETE_FEATURE",
    ("POST", PROJECT + "/revive-features"): "DELETE_FEATURE",
    ("POST", PROJECT + "/delete"): "DELETE_FEATURE",
    ("GET", PLACE + "/variants"): TOKEN,
    ("PUT", PLACE + "/variants"): "UPDATE_FEATURE_ENVIRONMENT_VARIANTS",
    ("PATCH", PLACE + "/strategies/<uuid:strategy>"): "UPDATE_FEATURE_STRATEGY",
    ("GET", DEFAULT): TOKEN,
    ("POST", DEFAULT): "UPDATE_PROJECT",
    ("DELETE", DEFAULT): "UPDATE_PROJECT",
    ("GET", "/api/admin/strategies"): TOKEN,
    ("POST", "/api/admin/strategies"): "CREATE_STRATEGY",
    ("GET", "/api/admin/strategies/<key:name>"): TOKEN,
    ("PUT", "/api/admin/strategies/<key:name>"): "UPDATE_STRATEGY",
    ("DELETE", "/api/admin/strategies/<key:name>"): "DELETE_STRATEGY",
    ("POST", "/api/admin/strategies/<key:name>/deprecate"): "UPDATE_STRATEGY",
    ("POST", "/api/admin/strategies/<key:name>/reactivate"): "UPDATE_STRATEGY",
    # What else it takes depends on the segment's project:
    # tests/catalogue/segments/test_permissions.py
    ("GET", "/api/admin/segments"): TOKEN,
    ("POST", "/api/admin/segments"): TOKEN,
    ("POST", "/api/admin/segments/validate"): TOKEN,
    ("POST", "/api/admin/segments/strategies"): TOKEN,
    ("GET", "/api/admin/segments/<id:id>"): TOKEN,
    ("PUT", "/api/admin/segments/<id:id>"): TOKEN,
    ("DELETE", "/api/admin/segments/<id:id>"): TOKEN,
    ("GET", "/api/admin/segments/<id:id>/strategies"): TOKEN,
    ("GET", "/api/admin/arrival"): TOKEN,
    ("GET", "/api/admin/metrics/applications"): TOKEN,
    ("GET", "/api/admin/metrics/applications/<text:name>/overview"): TOKEN,
    ("DELETE", "/api/admin/metrics/applications/<text:name>"): "ADMIN",
    ("GET", "/api/admin/metrics/instances/<path:name>/environment/<key:environment>"): TOKEN,
    ("GET", "/api/admin/metrics/unknown-flags"): TOKEN,
    ("GET", "/api/admin/metrics/sdks/outdated"): TOKEN,
    ("GET", "/api/admin/client-metrics/features/<key:name>"): TOKEN,
    ("GET", "/api/admin/client-metrics/features/<key:name>/raw"): TOKEN,
    ("GET", "/api/admin/tags"): TOKEN,
    ("POST", "/api/admin/tags/rename"): "UPDATE_TAG_TYPE",
    ("POST", "/api/admin/tags/merge"): "UPDATE_TAG_TYPE",
    ("POST", "/api/admin/tags/undo"): "UPDATE_TAG_TYPE",
    ("POST", "/api/admin/tags/delete"): "DELETE_TAG_TYPE",
    ("GET", "/api/admin/tag-types"): TOKEN,
    ("POST", "/api/admin/tag-types"): "CREATE_TAG_TYPE",
    ("GET", "/api/admin/tag-types/<key:name>"): TOKEN,
    ("PUT", "/api/admin/tag-types/<key:name>"): "UPDATE_TAG_TYPE",
    ("DELETE", "/api/admin/tag-types/<key:name>"): "DELETE_TAG_TYPE",
    ("GET", "/api/admin/context"): TOKEN,
    ("POST", "/api/admin/context"): "CREATE_CONTEXT_FIELD",
    ("GET", "/api/admin/context/<key:name>"): TOKEN,
    ("PUT", "/api/admin/context/<key:name>"): "UPDATE_CONTEXT_FIELD",
    ("DELETE", "/api/admin/context/<key:name>"): "DELETE_CONTEXT_FIELD",
    ("POST", "/api/admin/context/<key:name>/legal-values"): "UPDATE_CONTEXT_FIELD",
    ("DELETE", "/api/admin/context/<key:name>/legal-values/<path:value>"): "UPDATE_CONTEXT_FIELD",
    ("POST", "/api/admin/constraints/validate"): TOKEN,
    ("POST", "/api/admin/playground"): TOKEN,
    ("POST", "/api/admin/playground/advanced"): TOKEN,
    ("GET", "/api/admin/search"): TOKEN,
    ("GET", "/api/admin/user/favorites"): TOKEN,
    ("POST", "/api/admin/tags/rename-type"): "UPDATE_TAG_TYPE",
    ("POST", "/api/admin/features-batch/export"): TOKEN,
    ("POST", "/api/admin/features-batch/validate"): TOKEN,
    ("POST", "/api/admin/features-batch/import"): TOKEN,
    ("GET", "/api/admin/configuration"): "ADMIN",
    ("POST", "/api/admin/configuration/plan"): "ADMIN",
    ("POST", "/api/admin/configuration/apply"): "ADMIN",
    ("GET", "/api/admin/imports"): "ADMIN",
    ("POST", "/api/admin/imports"): "ADMIN",
    ("GET", "/api/admin/imports/<id:id>"): "ADMIN",
    ("PATCH", "/api/admin/imports/<id:id>"): "ADMIN",
    ("POST", "/api/admin/imports/<id:id>/apply"): "ADMIN",
    ("POST", "/api/admin/imports/<id:id>/undo"): "ADMIN",
    ("GET", "/api/admin/user/display"): TOKEN,
    ("GET", "/api/admin/user/mail"): TOKEN,
    ("PUT", "/api/admin/user/mail"): TOKEN,
    ("DELETE", "/api/admin/archive/<key:name>"): "DELETE_FEATURE",
    ("GET", "/api/admin/maintenance"): "ADMIN",
    ("POST", "/api/admin/maintenance"): "ADMIN",
    ("GET", "/api/admin/user/time-zone"): TOKEN,
    ("PUT", "/api/admin/user/time-zone"): TOKEN,
    ("GET", "/api/admin/user/display/<key:page>"): TOKEN,
    ("PUT", "/api/admin/user/display/<key:page>"): TOKEN,
    ("GET", "/api/admin/user/filters"): TOKEN,
    ("POST", "/api/admin/user/filters"): TOKEN,
    ("GET", "/api/admin/user/filters/<id:id>"): TOKEN,
    ("PUT", "/api/admin/user/filters/<id:id>"): TOKEN,
    ("DELETE", "/api/admin/user/filters/<id:id>"): TOKEN,
    ("GET", "/api/admin/user/notices"): TOKEN,
    ("PUT", "/api/admin/user/notices/read"): TOKEN,
    ("GET", "/api/admin/duplicate-tags"): TOKEN,
    ("GET", PROJECT + "/health"): TOKEN,
    ("POST", PROJECT + "/favorites"): TOKEN,
    ("DELETE", PROJECT + "/favorites"): TOKEN,
    ("POST", PROJECT + "/features/<key:name>/favorites"): TOKEN,
    ("DELETE", PROJECT + "/features/<key:name>/favorites"): TOKEN,
    ("GET", "/api/admin/environments"): TOKEN,
    ("POST", "/api/admin/environments"): "ADMIN",
    ("GET", "/api/admin/environments/<key:name>"): TOKEN,
    ("PUT", "/api/admin/environments/<key:name>"): "ADMIN",
    ("GET", "/api/admin/api-tokens"): "READ_CLIENT_API_TOKEN",
    # For those of browsers CREATE_FRONTEND_API_TOKEN too: tests/catalogue/sdk_tokens/test_api.py
    ("POST", "/api/admin/api-tokens"): "CREATE_CLIENT_API_TOKEN",
    ("GET", "/api/admin/api-tokens/<path:name>"): "READ_CLIENT_API_TOKEN",
    ("GET", "/api/admin/sdk-tokens/<ref:ref>"): "READ_CLIENT_API_TOKEN",
    ("PUT", "/api/admin/api-tokens/<ref:ref>"): "UPDATE_CLIENT_API_TOKEN",
    ("DELETE", "/api/admin/api-tokens/<ref:ref>"): "DELETE_CLIENT_API_TOKEN",
    ("POST", "/api/admin/api-tokens/<ref:ref>/rotate"): "UPDATE_CLIENT_API_TOKEN",
    ("GET", PROJECT + "/api-tokens"): "READ_PROJECT_API_TOKEN",
    ("POST", PROJECT + "/api-tokens"): "CREATE_PROJECT_API_TOKEN",
    ("DELETE", PROJECT + "/api-tokens/<ref:ref>"): "DELETE_PROJECT_API_TOKEN",
    ("POST", PROJECT + "/api-tokens/<ref:ref>/rotate"): "CREATE_PROJECT_API_TOKEN",
    ("GET", "/api/admin/ui-config"): TOKEN,
    ("POST", "/api/admin/ui-config/cors"): "UPDATE_CORS",
    ("GET", HOOKS): "ADMIN",
    ("POST", HOOKS): "ADMIN",
    ("GET", HOOKS + "/<id:id>"): "ADMIN",
    ("PUT", HOOKS + "/<id:id>"): "ADMIN",
    ("DELETE", HOOKS + "/<id:id>"): "ADMIN",
    ("POST", HOOKS + "/<id:id>/rotate"): "ADMIN",
    ("POST", HOOKS + "/<id:id>/test"): "ADMIN",
    ("GET", HOOKS + "/<id:id>/deliveries"): "ADMIN",
    ("POST", HOOKS + "/<id:id>/deliveries/<id:delivery_id>/send-again"): "ADMIN",
    ("GET", "/api/admin/events"): "READ_LOGS",
    ("POST", "/api/admin/events/<id:event_id>/undo"): TOKEN,
    ("GET", "/api/admin/security-log"): "ADMIN",
}

PAGES_NEED = {
    ("GET", "/"): SESSION,
    ("GET", "/api/try"): SESSION,
    ("POST", "/api/try"): SESSION,
    ("GET", "/help"): PUBLIC,
    ("GET", "/help/<topic>"): PUBLIC,
    ("GET", "/sign-in"): PUBLIC,
    ("POST", "/sign-in"): PUBLIC,
    ("POST", "/sign-in/code"): PUBLIC,
    ("POST", "/sign-out"): SESSION,
    ("GET", "/first-admin/<secret>"): PUBLIC,
    ("POST", "/first-admin/<secret>"): PUBLIC,
    ("GET", "/projects"): SESSION,
    ("GET", "/features"): SESSION,
    ("GET", "/features/export"): SESSION,
    ("GET", "/features/paste"): SESSION,
    ("POST", "/features/paste"): SESSION,
    ("POST", "/features/selection"): SESSION,
    ("GET", "/features/selected"): SESSION,
    ("POST", "/features/selected"): SESSION,
    ("GET", "/new-feature"): SESSION,
    ("GET", "/search"): SESSION,
    ("GET", "/search/hits"): SESSION,
    ("GET", PAGES + "/health"): SESSION,
    ("POST", PAGES + "/favourite"): SESSION,
    ("GET", "/display/<key:page>"): SESSION,
    ("POST", "/display/<key:page>"): SESSION,
    ("GET", PAGES + "/export"): SESSION,
    ("GET", "/imports"): "ADMIN",
    ("GET", "/imports/new"): "ADMIN",
    ("POST", "/imports/new"): "ADMIN",
    ("GET", "/imports/<id:import_id>"): "ADMIN",
    ("GET", "/imports/<id:import_id>/plan.json"): "ADMIN",
    ("GET", "/imports/<id:import_id>/choose"): "ADMIN",
    ("POST", "/imports/<id:import_id>/choose"): "ADMIN",
    ("POST", "/imports/<id:import_id>/decide"): "ADMIN",
    ("POST", "/imports/<id:import_id>/apply"): "ADMIN",
    ("GET", "/imports/<id:import_id>/undo"): "ADMIN",
    ("POST", "/imports/<id:import_id>/undo"): "ADMIN",
    ("GET", "/tags/types/<key:name>/rename"): "UPDATE_TAG_TYPE",
    ("POST", "/tags/types/<key:name>/rename"): "UPDATE_TAG_TYPE",
    ("POST", "/tags/types/<key:name>/rename/<key:to>"): "UPDATE_TAG_TYPE",
    ("GET", "/account/filters"): SESSION,
    ("GET", "/account/filters/<id:id>"): SESSION,
    ("POST", "/account/filters/<id:id>"): SESSION,
    ("POST", "/account/filters/<id:id>/delete"): SESSION,
    ("GET", "/new-saved-filter"): SESSION,
    ("POST", "/new-saved-filter"): SESSION,
    ("GET", "/saved-filters/<key:key>"): SESSION,
    ("GET", "/notices"): SESSION,
    ("POST", "/notices/read"): SESSION,
    ("POST", "/account/mail"): SESSION,
    ("POST", "/account/time-zone"): SESSION,
    ("GET", "/segments/<id:id>/history"): SESSION,
    ("GET", "/users/<id:account_id>/history"): "ADMIN",
    ("GET", "/service-accounts/<id:account_id>/history"): "ADMIN",
    ("GET", "/events/check"): "ADMIN",
    ("GET", "/backups"): "ADMIN",
    ("GET", "/settings"): "ADMIN",
    ("GET", "/maintenance"): "ADMIN",
    ("POST", "/maintenance"): "ADMIN",
    ("POST", PAGES + "/features/<key:name>/favourite"): SESSION,
    ("GET", "/playground"): SESSION,
    ("POST", "/playground"): SESSION,
    ("GET", "/playground/compare"): SESSION,
    ("GET", "/new-project"): "CREATE_PROJECT",
    ("POST", "/new-project"): "CREATE_PROJECT",
    ("GET", PAGES): SESSION,
    ("GET", PAGES + "/settings"): SESSION,
    ("POST", PAGES + "/settings"): "UPDATE_PROJECT",
    ("POST", PAGES + "/settings/archive"): "DELETE_PROJECT",
    ("POST", PAGES + "/settings/propose"): "UPDATE_PROJECT",
    ("POST", SWITCH + "/propose/settings"): "UPDATE_FEATURE",
    ("POST", PAGES + "/settings/propose/archive"): "DELETE_PROJECT",
    ("POST", PAGES + "/settings/revive"): "DELETE_PROJECT",
    ("GET", PAGES + "/members"): SESSION,
    ("POST", PAGES + "/members"): "PROJECT_USER_ACCESS_WRITE",
    ("POST", PAGES + "/members/add"): "PROJECT_USER_ACCESS_WRITE",
    ("GET", PAGES + "/new-feature"): "CREATE_FEATURE",
    ("POST", PAGES + "/new-feature"): "CREATE_FEATURE",
    ("GET", "/feature-types"): SESSION,
    ("POST", "/feature-types"): "ADMIN",
    ("GET", PAGES + "/features/<key:name>"): SESSION,
    ("GET", PAGES + "/features/<key:name>/settings"): SESSION,
    ("POST", PAGES + "/features/<key:name>/settings"): "UPDATE_FEATURE",
    ("GET", PAGES + "/features/<key:name>/links"): "UPDATE_FEATURE",
    ("POST", PAGES + "/features/<key:name>/links"): "UPDATE_FEATURE",
    ("GET", PAGES + "/features/<key:name>/complete"): "UPDATE_FEATURE",
    ("POST", PAGES + "/features/<key:name>/complete"): "UPDATE_FEATURE",
    ("POST", PAGES + "/features/<key:name>/uncomplete"): "UPDATE_FEATURE",
    ("GET", PAGES + "/features/<key:name>/tags"): SESSION,
    ("POST", PAGES + "/features/<key:name>/tags"): "UPDATE_FEATURE_DEPENDENCY",
    ("POST", SWITCH + "/on"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", SWITCH + "/off"): "UPDATE_FEATURE_ENVIRONMENT",
    ("GET", "/releases"): SESSION,
    ("GET", "/releases/ended"): SESSION,
    ("GET", "/releases/templates"): SESSION,
    ("GET", "/releases/templates/new"): SESSION,
    ("POST", "/releases/templates/new"): SESSION,
    ("GET", "/releases/templates/<uuid:template>"): SESSION,
    ("POST", "/releases/templates/<uuid:template>"): SESSION,
    ("POST", "/releases/templates/<uuid:template>/delete"): SESSION,
    ("GET", SWITCH + "/new-release"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", SWITCH + "/new-release"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", SWITCH + "/new-release/review"): SESSION,
    ("GET", SWITCH + "/propose/release"): SESSION,
    ("POST", SWITCH + "/propose/release"): SESSION,
    ("POST", SWITCH + "/propose/releases/<uuid:release>/next"): SESSION,
    ("GET", SWITCH + "/releases/<uuid:release>"): SESSION,
    ("POST", SWITCH + "/releases/<uuid:release>/hold"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", SWITCH + "/releases/<uuid:release>/resume"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", SWITCH + "/releases/<uuid:release>/stop"): "UPDATE_FEATURE_ENVIRONMENT",
    ("GET", SWITCH + "/releases/<uuid:release>/next"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", SWITCH + "/releases/<uuid:release>/next"): "UPDATE_FEATURE_ENVIRONMENT",
    ("GET", SWITCH + "/releases/<uuid:release>/leave"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", SWITCH + "/releases/<uuid:release>/leave"): "UPDATE_FEATURE_ENVIRONMENT",
    ("GET", SWITCH + "/receipts"): SESSION,
    ("POST", SWITCH + "/receipts/notify"): HISTORY,
    ("POST", SWITCH + "/receipts/mark-as-ended"): "UPDATE_FEATURE_ENVIRONMENT",
    ("GET", SWITCH + "/copy"): "CREATE_FEATURE_STRATEGY",
    ("POST", SWITCH + "/copy"): "CREATE_FEATURE_STRATEGY",
    ("POST", SWITCH + "/propose/on"): SESSION,
    ("POST", SWITCH + "/propose/off"): SESSION,
    ("POST", SWITCH + "/propose/parent"): "UPDATE_FEATURE_DEPENDENCY",
    ("GET", SWITCH + "/propose/copy"): "CREATE_FEATURE_STRATEGY",
    ("POST", SWITCH + "/propose/copy"): "CREATE_FEATURE_STRATEGY",
    ("GET", SWITCH + "/propose/strategies/new"): SESSION,
    ("POST", SWITCH + "/propose/strategies/new"): SESSION,
    ("GET", SWITCH + "/propose/strategies/<uuid:strategy>"): SESSION,
    ("POST", SWITCH + "/propose/strategies/<uuid:strategy>"): SESSION,
    ("POST", SWITCH + "/propose/strategies/<uuid:strategy>/delete"): SESSION,
    ("GET", PAGES + "/switch/propose"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", PAGES + "/switch/propose"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", PAGES + "/environments/<key:environment>/propose/archive"): "DELETE_FEATURE",
    ("POST", PAGES + "/environments/<key:environment>/propose/segments/<id:id>"): SESSION,
    ("GET", SWITCH + "/strategies/new"): "CREATE_FEATURE_STRATEGY",
    ("POST", SWITCH + "/strategies/new"): "CREATE_FEATURE_STRATEGY",
    ("GET", SWITCH + "/strategies/<uuid:strategy>"): "UPDATE_FEATURE_STRATEGY",
    ("POST", SWITCH + "/strategies/<uuid:strategy>"): "UPDATE_FEATURE_STRATEGY",
    ("POST", SWITCH + "/strategies/<uuid:strategy>/delete"): "DELETE_FEATURE_STRATEGY",
    ("GET", PAGES + "/switch"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", PAGES + "/switch"): "UPDATE_FEATURE_ENVIRONMENT",
    ("GET", PAGES + "/switch/done"): "UPDATE_FEATURE_ENVIRONMENT",
    ("GET", PAGES + "/switch/undo"): "UPDATE_FEATURE_ENVIRONMENT",
    ("POST", PAGES + "/switch/undo"): "UPDATE_FEATURE_ENVIRONMENT",
    ("GET", PAGES + "/paste"): "UPDATE_FEATURE",
    ("POST", PAGES + "/paste"): "UPDATE_FEATURE",
    ("POST", PAGES + "/selection"): "UPDATE_FEATURE",
    ("GET", PAGES + "/tags"): "UPDATE_FEATURE",
    ("POST", PAGES + "/tags"): "UPDATE_FEATURE",
    ("GET", PAGES + "/tags/review"): "UPDATE_FEATURE",
    ("POST", PAGES + "/tags/review"): "UPDATE_FEATURE",
    ("GET", PAGES + "/tags/done"): "UPDATE_FEATURE",
    ("GET", PAGES + "/tags/undo"): "UPDATE_FEATURE",
    ("POST", PAGES + "/tags/undo"): "UPDATE_FEATURE",
    ("GET", PAGES + "/archive"): "DELETE_FEATURE",
    ("POST", PAGES + "/archive"): "DELETE_FEATURE",
    ("GET", PAGES + "/archive/delete"): "DELETE_FEATURE",
    ("POST", PAGES + "/archive/delete"): "DELETE_FEATURE",
    ("GET", PAGES + "/archived"): "DELETE_FEATURE",
    ("GET", PAGES + "/bulk"): "UPDATE_FEATURE",
    ("GET", PAGES + "/bulk/review"): "UPDATE_FEATURE",
    ("POST", PAGES + "/bulk/review"): "UPDATE_FEATURE",
    ("GET", PAGES + "/bulk/done"): "UPDATE_FEATURE",
    ("GET", PAGES + "/bulk/undo"): "UPDATE_FEATURE",
    ("POST", PAGES + "/bulk/undo"): "UPDATE_FEATURE",
    ("POST", PAGES + "/revive"): "DELETE_FEATURE",
    ("GET", "/tags"): SESSION,
    ("GET", "/tags/<id:tag_id>"): SESSION,
    ("POST", "/tags/<id:tag_id>"): "UPDATE_TAG_TYPE",
    ("GET", "/tags/<id:tag_id>/replace"): "UPDATE_TAG_TYPE",
    ("POST", "/tags/<id:tag_id>/replace"): "UPDATE_TAG_TYPE",
    ("POST", "/tags/<id:tag_id>/delete"): "DELETE_TAG_TYPE",
    ("GET", "/tags/changes/<key:batch>"): "UPDATE_TAG_TYPE",
    ("POST", "/tags/changes/<key:batch>/undo"): "UPDATE_TAG_TYPE",
    ("GET", "/tags/new-type"): "CREATE_TAG_TYPE",
    ("POST", "/tags/new-type"): "CREATE_TAG_TYPE",
    ("GET", "/tags/types/<key:name>"): SESSION,
    ("POST", "/tags/types/<key:name>"): "UPDATE_TAG_TYPE",
    ("GET", "/tags/types/<key:name>/delete"): "DELETE_TAG_TYPE",
    ("POST", "/tags/types/<key:name>/delete"): "DELETE_TAG_TYPE",
    ("GET", PAGES + "/environments/<key:environment>/default-strategy"): "UPDATE_PROJECT",
    ("POST", PAGES + "/environments/<key:environment>/default-strategy"): "UPDATE_PROJECT",
    ("POST", PAGES + "/environments/<key:environment>/default-strategy/reset"): "UPDATE_PROJECT",
    ("POST", PAGES + "/strategy-sentence"): SESSION,
    ("GET", "/arrival"): SESSION,
    ("GET", "/applications"): SESSION,
    ("GET", "/applications/<path:name>"): SESSION,
    ("POST", "/applications/<path:name>/delete"): "ADMIN",
    ("GET", PAGES + "/features/<key:name>/usage"): SESSION,
    # What each button takes besides: tests/releases/change_requests/test_pages.py
    ("GET", "/change-requests"): SESSION,
    ("GET", PAGES + "/change-requests"): SESSION,
    ("GET", PAGES + "/change-requests/<id:id>"): SESSION,
    ("POST", PAGES + "/change-requests/<id:id>"): SESSION,
    ("GET", "/segments"): SESSION,
    ("GET", "/new-segment"): SESSION,
    ("POST", "/new-segment"): SESSION,
    ("GET", "/segments/<id:id>"): SESSION,
    ("POST", "/segments/<id:id>"): SESSION,
    ("POST", "/segments/<id:id>/delete"): SESSION,
    ("GET", "/context-fields"): SESSION,
    ("GET", "/new-context-field"): "CREATE_CONTEXT_FIELD",
    ("POST", "/new-context-field"): "CREATE_CONTEXT_FIELD",
    ("GET", "/context-fields/<key:name>"): SESSION,
    ("POST", "/context-fields/<key:name>"): "UPDATE_CONTEXT_FIELD",
    ("POST", "/context-fields/<key:name>/delete"): "DELETE_CONTEXT_FIELD",
    ("GET", "/strategy-types"): SESSION,
    ("GET", "/new-strategy-type"): "CREATE_STRATEGY",
    ("POST", "/new-strategy-type"): "CREATE_STRATEGY",
    ("GET", "/strategy-types/<key:name>"): SESSION,
    ("POST", "/strategy-types/<key:name>"): "UPDATE_STRATEGY",
    ("POST", "/strategy-types/<key:name>/deprecate"): "UPDATE_STRATEGY",
    ("POST", "/strategy-types/<key:name>/reactivate"): "UPDATE_STRATEGY",
    ("POST", "/strategy-types/<key:name>/delete"): "DELETE_STRATEGY",
    ("GET", "/sdk-tokens"): "READ_CLIENT_API_TOKEN",
    ("GET", SDK + "/contact"): "READ_CLIENT_API_TOKEN",
    ("GET", SDK + "/rotate"): "UPDATE_CLIENT_API_TOKEN",
    ("POST", SDK + "/rotate"): "UPDATE_CLIENT_API_TOKEN",
    ("GET", SDK + "/revoke"): "DELETE_CLIENT_API_TOKEN",
    ("POST", SDK + "/revoke"): "DELETE_CLIENT_API_TOKEN",
    ("GET", "/browser-origins"): "UPDATE_CORS",
    ("POST", "/browser-origins"): "UPDATE_CORS",
    ("GET", "/connect"): "CREATE_CLIENT_API_TOKEN",
    ("POST", "/connect"): "CREATE_CLIENT_API_TOKEN",
    ("GET", PAGES + "/sdk-tokens"): "READ_PROJECT_API_TOKEN",
    ("GET", PAGES + SDK + "/contact"): "READ_PROJECT_API_TOKEN",
    ("GET", PAGES + SDK + "/rotate"): "CREATE_PROJECT_API_TOKEN",
    ("POST", PAGES + SDK + "/rotate"): "CREATE_PROJECT_API_TOKEN",
    ("GET", PAGES + SDK + "/revoke"): "DELETE_PROJECT_API_TOKEN",
    ("POST", PAGES + SDK + "/revoke"): "DELETE_PROJECT_API_TOKEN",
    ("GET", PAGES + "/connect"): "CREATE_PROJECT_API_TOKEN",
    ("POST", PAGES + "/connect"): "CREATE_PROJECT_API_TOKEN",
    ("GET", "/webhooks"): "ADMIN",
    ("GET", "/new-webhook"): "ADMIN",
    ("POST", "/new-webhook"): "ADMIN",
    ("GET", HOOK): "ADMIN",
    ("GET", HOOK + "/edit"): "ADMIN",
    ("POST", HOOK + "/edit"): "ADMIN",
    ("GET", HOOK + "/rotate"): "ADMIN",
    ("POST", HOOK + "/rotate"): "ADMIN",
    ("GET", HOOK + "/delete"): "ADMIN",
    ("POST", HOOK + "/delete"): "ADMIN",
    ("POST", HOOK + "/test"): "ADMIN",
    ("POST", HOOK + "/deliveries/<id:delivery_id>/send-again"): "ADMIN",
    ("GET", "/environments"): SESSION,
    ("GET", "/new-environment"): "ADMIN",
    ("POST", "/new-environment"): "ADMIN",
    ("GET", "/environments/<key:name>"): SESSION,
    ("POST", "/environments/<key:name>"): "ADMIN",
    ("POST", "/environments/<key:name>/deprecate"): "ADMIN",
    ("POST", "/environments/<key:name>/reinstate"): "ADMIN",
    ("GET", "/users"): "ADMIN",
    ("GET", "/users/new"): "ADMIN",
    ("POST", "/users/new"): "ADMIN",
    ("GET", "/users/deleted"): "ADMIN",
    ("GET", "/users/bulk"): "ADMIN",
    ("POST", "/users/bulk"): "ADMIN",
    ("POST", "/users/bulk/apply"): "ADMIN",
    ("GET", "/users/inactive"): "ADMIN",
    ("POST", "/users/inactive"): "ADMIN",
    ("POST", "/users/inactive/delete"): "ADMIN",
    ("GET", "/users/inactive/removed"): "ADMIN",
    ("POST", "/users/inactive/removed"): "ADMIN",
    ("GET", PERSON): "ADMIN",
    ("POST", PERSON): "ADMIN",
    ("GET", PERSON + "/delete"): "ADMIN",
    ("POST", PERSON + "/delete"): "ADMIN",
    ("GET", PERSON + "/link"): "ADMIN",
    ("POST", PERSON + "/link"): "ADMIN",
    ("POST", PERSON + "/second-step/off"): "ADMIN",
    ("POST", PERSON + "/restore"): "ADMIN",
    ("POST", PERSON + "/reactivate"): "ADMIN",
    ("POST", "/users/deactivate"): "ADMIN",
    ("POST", PERSON + "/sign-out"): "ADMIN",
    ("GET", PERSON + "/tokens/<id:token_id>/revoke"): "ADMIN",
    ("POST", PERSON + "/tokens/<id:token_id>/revoke"): "ADMIN",
    ("POST", PERSON + "/single-sign-on/<id:identity_id>/unlink"): "ADMIN",
    ("GET", "/sign-in/provider"): PUBLIC,
    ("GET", "/sign-in/callback"): PUBLIC,
    ("GET", "/sign-in/confirm"): SESSION,
    ("GET", "/account/single-sign-on"): SESSION,
    ("POST", "/account/single-sign-on"): SESSION,
    ("GET", "/account/single-sign-on/begin"): SESSION,
    ("GET", "/single-sign-on"): "ADMIN",
    ("GET", "/single-sign-on/try"): "ADMIN",
    ("GET", PAGES + "/access-review"): "PROJECT_USER_ACCESS_WRITE",
    ("POST", PAGES + "/access-review"): "PROJECT_USER_ACCESS_WRITE",
    ("GET", PAGES + "/access-reviews"): "PROJECT_USER_ACCESS_WRITE",
    ("GET", PAGES + "/access-reviews/<id:review_id>"): "PROJECT_USER_ACCESS_WRITE",
    ("GET", "/scim-tokens"): "ADMIN",
    ("GET", "/scim-tokens/disconnect"): "ADMIN",
    ("POST", "/scim-tokens/disconnect"): "ADMIN",
    ("GET", "/scim-tokens/new"): "ADMIN",
    ("POST", "/scim-tokens/new"): "ADMIN",
    ("GET", "/scim-tokens/<id:token_id>/revoke"): "ADMIN",
    ("POST", "/scim-tokens/<id:token_id>/revoke"): "ADMIN",
    ("GET", "/groups"): "ADMIN",
    ("GET", "/new-group"): "ADMIN",
    ("POST", "/new-group"): "ADMIN",
    ("GET", "/groups/<id:group_id>"): "ADMIN",
    ("POST", "/groups/<id:group_id>"): "ADMIN",
    ("GET", "/groups/<id:group_id>/delete"): "ADMIN",
    ("POST", "/groups/<id:group_id>/delete"): "ADMIN",
    ("GET", "/service-accounts"): "ADMIN",
    ("GET", "/service-accounts/new"): "ADMIN",
    ("POST", "/service-accounts/new"): "ADMIN",
    ("GET", "/service-accounts/find-token"): "ADMIN",
    ("POST", "/service-accounts/find-token"): "ADMIN",
    ("GET", MACHINE): "ADMIN",
    ("POST", MACHINE): "ADMIN",
    ("GET", MACHINE + "/delete"): "ADMIN",
    ("POST", MACHINE + "/delete"): "ADMIN",
    ("GET", MACHINE + "/tokens/new"): "ADMIN",
    ("POST", MACHINE + "/tokens/new"): "ADMIN",
    ("GET", MACHINE + "/tokens/<id:token_id>/rotate"): "ADMIN",
    ("POST", MACHINE + "/tokens/<id:token_id>/rotate"): "ADMIN",
    ("GET", MACHINE + "/tokens/<id:token_id>/revoke"): "ADMIN",
    ("POST", MACHINE + "/tokens/<id:token_id>/revoke"): "ADMIN",
    ("GET", "/account"): SESSION,
    ("GET", "/account/password"): SESSION,
    ("POST", "/account/password"): SESSION,
    ("GET", "/account/second-step"): SESSION,
    ("POST", "/account/second-step"): SESSION,
    ("POST", "/account/second-step/confirm"): SESSION,
    ("POST", "/account/second-step/codes"): SESSION,
    ("POST", "/account/second-step/off"): SESSION,
    ("GET", "/account/permissions"): SESSION,
    ("GET", "/account/security"): SESSION,
    ("GET", "/account/sessions"): SESSION,
    ("POST", "/account/sessions"): SESSION,
    ("POST", "/account/theme"): SESSION,
    ("GET", "/account/tokens/new"): SESSION,
    ("POST", "/account/tokens/new"): SESSION,
    ("GET", "/account/tokens/<id:token_id>/revoke"): SESSION,
    ("POST", "/account/tokens/<id:token_id>/revoke"): SESSION,
    ("GET", "/events"): "READ_LOGS",
    ("POST", "/events/undo"): SESSION,
    ("POST", "/events/<id:event_id>/undo"): SESSION,
    ("GET", "/security-log"): "ADMIN",
    ("GET", PAGES + "/history"): HISTORY,
    ("GET", PAGES + "/features/<key:name>/history"): HISTORY,
    ("GET", "/account/mail/stop/<secret>"): PUBLIC,
    ("POST", "/account/mail/stop/<secret>"): PUBLIC,
    ("GET", "/set-up/<secret>"): PUBLIC,
    ("POST", "/set-up/<secret>"): PUBLIC,
}

ANYWHERE = {"Admin": ON_PROJECT | OF_EDITOR | OF_ADMIN, "Editor": OF_EDITOR, "Viewer": set()}
IN_PROJECT = {"Owner": ON_PROJECT, "Member": OF_MEMBER}

# Parts of a path other than ids: objects of the project "web".
FILLED = {
    "project_id": "web",
    "name": "child",
    "child": "child",
    "environment": "production",
    "strategy": "5f8cf0a5-6bd4-4d5c-9f3c-7d1d6c3a2b10",
    "parent": "parent",
    "release": "5f8cf0a5-6bd4-4d5c-9f3c-7d1d6c3a2b11",
    "step": "5f8cf0a5-6bd4-4d5c-9f3c-7d1d6c3a2b12",
    "template": "5f8cf0a5-6bd4-4d5c-9f3c-7d1d6c3a2b13",
    "filename": "css/base.css",
    "initials": "AB",
}
STRANGERS = ("none", "malformed", "unknown", "expired", "revoked")


Client = TypeVar("Client", ApiClient, Browser)


@dataclass(frozen=True)
class Caller(Generic[Client]):
    """A client, and by which roles it is to be judged; without a role it is no one."""

    client: Client
    role: str | None = None
    projects: dict[str, str] = field(default_factory=dict)

    def may(self, needs: str, project: str | None) -> bool:
        if needs == PUBLIC:
            return True
        if self.role is None:
            return False
        if needs in {TOKEN, SESSION} or needs in ANYWHERE[self.role]:
            return True
        if needs == HISTORY:
            return project in self.projects or self.may("READ_LOGS", project)
        return project is not None and needs in IN_PROJECT.get(self.projects.get(project, ""), ())


@pytest.fixture
def callers(app: Flask, people: People) -> dict[str, Caller[ApiClient]]:
    with_role = {
        f"{kind} {role}": Caller(
            ApiClient(app, people.token(make(f"{kind}-{role}", role=role))), role
        )
        for kind, make in (("person", people.person), ("service account", people.service_account))
        for role in ANYWHERE
    }
    admin = with_role["person Admin"].client
    for id in ("web", "other"):
        admin.ok("POST", "/projects", {"id": id, "name": id})
    for name in ("parent", "child"):
        admin.ok("POST", "/projects/web/features", {"name": name})
    admin.ok("POST", "/projects/web/features/child/dependencies", {"feature": "parent"})
    with_project_role = {
        f"{role} of {project}": Caller(
            people.member(f"{role}-{project}", project, role), "Viewer", {project: role}
        )
        for role in IN_PROJECT
        for project in ("web", "other")
    }
    strangers = {name: Caller(client) for name, client in unwelcome(app, people).items()}
    return strangers | with_role | with_project_role


def unwelcome(app: Flask, people: People) -> dict[str, ApiClient]:
    """Clients without access; the last two had an Admin's token once."""
    ended = people.person("ended", role="Admin")
    expired, revoked = people.token(ended, "expired"), people.token(ended, "revoked")
    with app.app_context(), unit_of_work(writes=True):
        for token in db.session.scalars(sa.select(Token).where(Token.account_id == ended)):
            past = utcnow() - timedelta(seconds=1)
            setattr(token, f"{token.description}_at".replace("expired", "expires"), past)
    unknown = secrets.generate(secrets.TokenKind.PERSONAL)
    tokens = (None, "fst_pat_nonsense", unknown, expired, revoked)
    return dict(zip(STRANGERS, (ApiClient(app, token) for token in tokens), strict=True))


def bystander(people: People, name: str) -> dict[str, int]:
    """An account that is none of the callers, and its token, for the numbers in a path."""
    is_program = ROBOTS in name or MACHINE in name
    make = people.service_account if is_program else people.person
    account_id = make(name)
    people.token(account_id)
    with people.app.app_context():
        token_id = db.session.scalars(sa.select(Token.id).where(Token.account_id == account_id))
        return {"account_id": account_id, "token_id": token_id.one()}


def path_of(rule: str, **ids: int) -> str:
    """A path of that rule; what is not named here or in FILLED is of no importance."""

    def fill(match: re.Match[str]) -> str:
        converter, name = match.groups()
        return (
            str(ids.get(name, 1)) if converter in {"id", "ref"} else FILLED.get(name, "something")
        )

    return re.sub(r"<(?:(\w+)(?:\(.*?\))?:)?(\w+)>", fill, rule)


def call(client: ApiClient, method: str, path: str) -> TestResponse:
    """An empty object as the body: most routes answer 400 to callers who may use them."""
    body: dict[str, Any] | None = {} if method in {"POST", "PUT"} else None
    return client.request(method, f"http://localhost{path}", json=body, buffered=True)


def told(answer: TestResponse) -> tuple[object, ...]:
    """All that an answer tells: what differs from request to request is left out."""
    headers = [(k, v) for k, v in answer.headers if k not in {"X-Request-Id", "Date"}]
    return answer.status_code, headers, [kv for kv in answer.get_json().items() if kv[0] != "id"]


@pytest.fixture
def visitors(
    app: Flask, people: People, callers: dict[str, Caller[ApiClient]]
) -> dict[str, Caller[Browser]]:
    """Browsers: of the people among the callers, of a visitor, and of a deleted user."""
    people.person("gone")
    gone = Browser(app).sign_in("gone")
    admin = callers["person Admin"].client
    id = next(u["id"] for u in admin.ok("GET", "/user-admin")["users"] if u["username"] == "gone")
    admin.ok("DELETE", f"/user-admin/{id}")
    found = {"visitor": Caller(Browser(app)), "deleted": Caller(gone)}
    for role in ANYWHERE:
        found[f"person {role}"] = Caller(Browser(app).sign_in(f"person-{role}"), role)
    for role in IN_PROJECT:
        for project in ("web", "other"):
            browser = Browser(app).sign_in(f"{role}-{project}")
            found[f"{role} of {project}"] = Caller(browser, "Viewer", {project: role})
    return found


def visit(browser: Browser, method: str, path: str) -> Page:
    return browser.get(path) if method == "GET" else browser.post(path)
