"""The application for any WSGI server; ``flagstaff serve`` is the one that is tested."""

from app.cli.instance import application

app = application()
