"""The application for any WSGI server, with the settings of the environment."""

import sys
from functools import partial

from flask.helpers import get_debug_flag

from app.operations.cli.errors import message_for
from app.operations.server.application import application_for_any_server

try:
    app = application_for_any_server(announce=partial(print, file=sys.stderr, flush=True))
except Exception as error:
    if get_debug_flag():
        raise
    sys.exit(f"flagstaff: {' '.join(message_for(error).split())}")
