from flask import current_app

from app.core.config import Settings


def current_key() -> str:
    """The operator's secret, which no database has."""
    return str(current_app.config["SECRET_KEY"])


def current_settings() -> Settings:
    """The settings of the application that is running."""
    settings: Settings = current_app.config["SETTINGS"]
    return settings
