"""What Admins see of the instance itself: its settings, and when it was backed up."""

import os

from flask import render_template

from app.core.config import every_setting, given_in
from app.core.events.event_types import EventType
from app.core.permissions import Permission
from app.portal import reminders
from app.web.routes import PageBlueprint

bp = PageBlueprint("instance_pages", __name__)

SHOWN = 20
"""Backups on the page."""


@bp.get("/backups", needs=Permission.ADMIN)
def backups() -> str:
    """Show when backups were created and restored, and how to do so."""
    return render_template(
        "portal/instance/backups.html",
        events=reminders.backups(SHOWN),
        created=EventType.BACKUP_CREATED,
        days=reminders.BACKUPS_EVERY.days,
    )


@bp.get("/settings", needs=Permission.ADMIN)
def settings() -> str:
    """Show the settings that the server was started with; of secrets only that they are set."""
    given = given_in(os.environ).values()
    return render_template(
        "portal/instance/settings.html",
        settings=[
            (name, setting, setting.kind.redact(found.text) if found.text else None)
            for (name, setting), found in zip(every_setting().items(), given, strict=True)
        ],
    )
