"""Flagstaff: the administration portal for feature toggles."""

from flask import Flask

from app import config
from app.accounts import api as accounts_api
from app.accounts import pages as accounts_pages
from app.archive import api as archive_api
from app.archive import pages as archive_pages
from app.auth import identity
from app.auth import pages as auth_pages
from app.config import Settings
from app.core import assets, blueprints, db, files, http, templating
from app.docs import api as docs_api
from app.docs import help as help_pages
from app.docs import pages as docs_pages
from app.docs import styleguide
from app.environments import api as environments_api
from app.environments import pages as environments_pages
from app.event_log import api as event_log_api
from app.event_log import pages as event_log_pages
from app.features import api as features_api
from app.features import pages as features_pages
from app.features import picker
from app.me import api as me_api
from app.me import authenticator
from app.me import pages as me_pages
from app.people import pages as people_pages
from app.people import review
from app.projects import api as projects_api
from app.projects import pages as projects_pages
from app.service_accounts import api as service_accounts_api
from app.service_accounts import pages as service_accounts_pages
from app.tags import api as tags_api
from app.tags import pages as tags_pages

APIS = (
    me_api.bp,
    service_accounts_api.bp,
    accounts_api.bp,
    projects_api.bp,
    features_api.bp,
    archive_api.bp,
    tags_api.bp,
    environments_api.bp,
    event_log_api.bp,
    docs_api.bp,
)
PAGES = (
    auth_pages.bp,
    accounts_pages.bp,
    projects_pages.bp,
    features_pages.bp,
    picker.bp,
    archive_pages.bp,
    me_pages.bp,
    authenticator.bp,
    people_pages.bp,
    review.bp,
    event_log_pages.bp,
    service_accounts_pages.bp,
    tags_pages.bp,
    environments_pages.bp,
    docs_pages.bp,
    help_pages.bp,
)


def create_app(settings: Settings) -> Flask:
    """The application, ready to serve a database that is migrated."""
    app = Flask(__name__, template_folder=str(files.TEMPLATES), static_folder=str(files.STATIC))
    app.config.from_mapping(config.for_flask(settings))
    db.init_app(app)
    http.init_app(app)
    assets.init_app(app)
    templating.init_app(app)
    identity.init_app(app)
    auth_pages.init_app(app)
    docs_api.init_app(app)
    api = blueprints.Api(app)
    for face in APIS:
        api.register_blueprint(face)
    for page in PAGES:
        app.register_blueprint(page)
    if app.debug:
        app.register_blueprint(styleguide.bp)
    blueprints.check_every_route_is_guarded(app)
    return app
