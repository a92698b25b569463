"""The application with all its pages and its API."""

from flask import Flask

from app.access.access_reviews import api as access_reviews_api
from app.access.access_reviews import pages as access_review_pages
from app.access.auth import identity
from app.access.auth import pages as auth_pages
from app.access.groups import api as groups_api
from app.access.groups import pages as groups_pages
from app.access.my_account import api as me_api
from app.access.my_account import pages as me_pages
from app.access.my_account import pages_authenticator as me_pages_authenticator
from app.access.scim import api as scim_api
from app.access.scim_tokens import api as scim_tokens_api
from app.access.scim_tokens import pages as scim_token_pages
from app.access.security_log import api as security_log_api
from app.access.security_log import pages as security_log_pages
from app.access.security_log import requests as security_log_requests
from app.access.service_accounts import api as service_accounts_api
from app.access.service_accounts import pages as service_accounts_pages
from app.access.sign_on import api as sign_on_api
from app.access.sign_on import pages as sign_on_pages
from app.access.sign_on import pages_linking as linking_pages
from app.access.sign_on import pages_settings as single_sign_on_pages
from app.access.users import api as users_api
from app.access.users import pages as users_pages
from app.access.users import pages_bulk as users_pages_bulk
from app.access.users import pages_inactive as users_pages_inactive
from app.accounts import pages as accounts_pages
from app.catalogue.archive import api as archive_api
from app.catalogue.archive import pages as archive_pages
from app.catalogue.constraints import api as constraints_api
from app.catalogue.context import api as context_api
from app.catalogue.context import pages as context_pages
from app.catalogue.environments import api as environments_api
from app.catalogue.environments import pages as environments_pages
from app.catalogue.favourites import api as favourites_api
from app.catalogue.favourites import pages as favourite_pages
from app.catalogue.features import api as features_api
from app.catalogue.features import api_all as all_features_api
from app.catalogue.features import pages as features_pages
from app.catalogue.features import pages_all as all_features_pages
from app.catalogue.features import pages_bulk as features_pages_bulk
from app.catalogue.features import pages_health as health_pages
from app.catalogue.features import pages_lifecycle as lifecycle_pages
from app.catalogue.features import pages_new as new_feature_pages
from app.catalogue.features import pages_settings as features_pages_settings
from app.catalogue.projects import api as projects_api
from app.catalogue.projects import pages as projects_pages
from app.catalogue.projects import pages_members as member_pages
from app.catalogue.sdk_tokens import api as sdk_tokens_api
from app.catalogue.sdk_tokens import pages as sdk_token_pages
from app.catalogue.sdk_tokens import pages_connect as connect_pages
from app.catalogue.segments import api as segments_api
from app.catalogue.segments import pages as segments_pages
from app.catalogue.strategies import api as strategies_api
from app.catalogue.strategies import pages as strategy_type_pages
from app.catalogue.tagging import api as tagging_api
from app.catalogue.tagging import api_tags as changing_tags_api
from app.catalogue.tagging import pages as tagging_pages
from app.catalogue.tagging import pages_tags as one_tag_pages
from app.catalogue.tags import api as tags_api
from app.catalogue.tags import pages as tags_pages
from app.catalogue.visits import requests as visits
from app.core import config, db, files
from app.core.config import Settings
from app.delivery.applications import api as applications_api
from app.delivery.applications import pages as applications_pages
from app.delivery.origins import api as cors_api
from app.delivery.origins import pages as cors_pages
from app.delivery.playground import api as playground_api
from app.delivery.playground import pages as playground_pages
from app.delivery.playground import pages_compare as comparing_pages
from app.delivery.sdk import api as delivery_api
from app.delivery.webhooks import api as webhooks_api
from app.delivery.webhooks import pages as webhook_pages
from app.exchange.unleash import api as transfer_api
from app.exchange.unleash import api_imports as imports_api
from app.exchange.unleash import pages as transfer_pages
from app.exchange.unleash import pages_imports as import_pages
from app.portal.display import api as display_api
from app.portal.display import pages as display_pages
from app.portal.event_log import api as event_log_api
from app.portal.event_log import pages as event_log_pages
from app.portal.help import api as docs_api
from app.portal.help import pages as docs_pages
from app.portal.help import pages_help as docs_pages_help
from app.portal.help import pages_styleguide as docs_pages_styleguide
from app.portal.home import pages as home_pages
from app.portal.notices import api as notices_api
from app.portal.notices import pages as notice_pages
from app.portal.saved_filters import api as saved_filters_api
from app.portal.saved_filters import pages as saved_filter_pages
from app.portal.search import api as search_api
from app.portal.search import pages as search_pages
from app.releases.change_requests import api as change_requests_api
from app.releases.change_requests import pages as change_requests_pages
from app.releases.change_requests import pages_archive as proposal_archive_pages
from app.releases.change_requests import pages_bulk as proposal_bulk_pages
from app.releases.change_requests import pages_proposing as proposal_pages
from app.releases.change_requests import pages_strategies as proposal_strategy_pages
from app.releases.switching import api as switching_api
from app.releases.switching import api_defaults as default_strategies_api
from app.releases.switching import api_segments as segments_of_strategies_api
from app.releases.switching import pages as switching_pages
from app.releases.switching import pages_bulk as switching_pages_bulk
from app.releases.switching import pages_copying as copying_pages
from app.releases.switching import pages_strategies as strategy_pages
from app.web import assets, exports, http, openapi, refusals, routes, templating
from app.web.health import api as health_api

APIS = (
    me_api.bp,
    service_accounts_api.bp,
    sdk_tokens_api.bp,
    users_api.bp,
    groups_api.bp,
    scim_tokens_api.bp,
    access_reviews_api.bp,
    projects_api.bp,
    features_api.bp,
    all_features_api.bp,
    switching_api.bp,
    default_strategies_api.bp,
    strategies_api.bp,
    segments_api.bp,
    segments_of_strategies_api.bp,
    playground_api.bp,
    search_api.bp,
    favourites_api.bp,
    notices_api.bp,
    saved_filters_api.bp,
    display_api.bp,
    tagging_api.bp,
    changing_tags_api.bp,
    transfer_api.bp,
    imports_api.bp,
    archive_api.bp,
    applications_api.bp,
    tags_api.bp,
    context_api.bp,
    constraints_api.bp,
    environments_api.bp,
    cors_api.bp,
    change_requests_api.bp,
    webhooks_api.bp,
    event_log_api.bp,
    security_log_api.bp,
    health_api.bp,
    docs_api.bp,
)
PAGES = (
    auth_pages.bp,
    sign_on_pages.bp,
    sign_on_api.bp,
    scim_api.bp,
    linking_pages.bp,
    single_sign_on_pages.bp,
    scim_token_pages.bp,
    home_pages.bp,
    accounts_pages.bp,
    projects_pages.bp,
    member_pages.bp,
    access_review_pages.bp,
    features_pages.bp,
    all_features_pages.bp,
    new_feature_pages.bp,
    features_pages_bulk.bp,
    features_pages_settings.bp,
    lifecycle_pages.bp,
    health_pages.bp,
    switching_pages.bp,
    switching_pages_bulk.bp,
    strategy_pages.bp,
    copying_pages.bp,
    tagging_pages.bp,
    one_tag_pages.bp,
    archive_pages.bp,
    transfer_pages.bp,
    import_pages.bp,
    change_requests_pages.bp,
    playground_pages.bp,
    search_pages.bp,
    favourite_pages.bp,
    notice_pages.bp,
    saved_filter_pages.bp,
    display_pages.bp,
    comparing_pages.bp,
    applications_pages.bp,
    me_pages.bp,
    me_pages_authenticator.bp,
    users_pages.bp,
    users_pages_bulk.bp,
    users_pages_inactive.bp,
    event_log_pages.bp,
    security_log_pages.bp,
    groups_pages.bp,
    service_accounts_pages.bp,
    tags_pages.bp,
    context_pages.bp,
    segments_pages.bp,
    strategy_type_pages.bp,
    environments_pages.bp,
    sdk_token_pages.bp,
    cors_pages.bp,
    connect_pages.bp,
    webhook_pages.bp,
    proposal_pages.bp,
    proposal_strategy_pages.bp,
    proposal_bulk_pages.bp,
    proposal_archive_pages.bp,
    docs_pages.bp,
    docs_pages_help.bp,
)


def create_app(settings: Settings) -> Flask:
    """The application, ready to serve a database that is migrated."""
    app = Flask("app", template_folder=str(files.TEMPLATES), static_folder=str(files.STATIC))
    app.config.from_mapping(config.for_flask(settings))
    db.init_app(app)
    http.init_app(app)
    refusals.init_app(app)
    assets.init_app(app)
    exports.init_app(app)
    templating.init_app(app)
    identity.init_app(app)
    security_log_requests.init_app(app)
    visits.init_app(app)
    auth_pages.init_app(app)
    sign_on_pages.init_app(app)
    scim_api.init_app(app)
    change_requests_pages.init_app(app)
    notice_pages.init_app(app)
    health_api.init_app(app)
    webhooks_api.init_app(app)
    proposal_pages.init_app(app)
    api = openapi.Api(app)
    for face in APIS:
        api.register_blueprint(face)
    for page in PAGES:
        app.register_blueprint(page)
    if app.debug:
        app.register_blueprint(docs_pages_styleguide.bp)
    routes.check_every_route_is_guarded(app)
    delivery_api.init_app(app)
    return app
