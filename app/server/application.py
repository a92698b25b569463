"""The application that the server and other WSGI servers run."""

from flask import Flask

from app.factory import create_app
from app.server.instance import set_up_home


def application() -> Flask:
    """The application with the settings of the environment."""
    return create_app(set_up_home())
