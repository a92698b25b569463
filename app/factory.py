"""Build the Flask application from its rooms."""

from flask import Flask

from app.access.faces import ROOM as ACCESS
from app.accounts.faces import ROOM as ACCOUNTS
from app.catalogue.approvals import guard
from app.catalogue.faces import ROOM as CATALOGUE
from app.catalogue.releases import service as releases
from app.core import config, db, files
from app.core.config import Settings
from app.core.events import service as events
from app.delivery.faces import ROOM as DELIVERY
from app.exchange.faces import ROOM as EXCHANGE
from app.portal.faces import ROOM as PORTAL
from app.portal.help import pages_styleguide
from app.releases.faces import ROOM as RELEASES
from app.web import assets, exports, http, mail, refusals, rooms, routes, templating
from app.web.faces import ROOM as WEB

ROOMS = (ACCESS, CATALOGUE, RELEASES, DELIVERY, PORTAL, EXCHANGE, ACCOUNTS, WEB)


def create_app(settings: Settings) -> Flask:
    """The application, ready to serve. Its database must be migrated."""
    app = Flask("app", template_folder=str(files.TEMPLATES), static_folder=str(files.STATIC))
    app.config.from_mapping(config.for_flask(settings))
    db.init_app(app, check=_check, write_log=events.write)
    for part in (templating, http, refusals, assets, exports, mail):
        part.init_app(app)
    rooms.init_app(app, ROOMS)
    if app.debug:
        app.register_blueprint(pages_styleguide.bp)
    routes.check_every_route_is_guarded(app)
    return app


def _check() -> None:
    """Refuse what a transaction must not change; called before it commits."""
    releases.check()
    guard.check()
