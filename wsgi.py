"""The application for any WSGI server; ``flagstaff serve`` is the one that is tested."""

from app.server.application import application

app = application()
