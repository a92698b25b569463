"""The instance itself, for Admins: its settings, its backups, and maintenance mode."""

import os

from flask import flash, render_template, request, url_for
from flask.typing import ResponseReturnValue

from app.core.config import every_setting, given_in
from app.core.events.event_types import EventType
from app.core.maintenance import service
from app.core.permissions import Permission
from app.core.quotas import NOTHING
from app.portal import reminders
from app.web.current import current_actor
from app.web.forms import ReasonForm, show_form, submitted
from app.web.redirects import redirect_to
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


@bp.form("/maintenance", needs=Permission.ADMIN, keeps=NOTHING, even_in_maintenance=True)
def maintenance() -> ResponseReturnValue:
    """Say what maintenance mode does, and switch it on, or off with ``off``."""
    form, on = ReasonForm(), "off" not in request.form
    if submitted(form, lambda: service.switch(current_actor, on=on)):
        flash(f"Maintenance mode is {'on' if on else 'off'}.", "ok")
        return redirect_to(".maintenance")
    trail = [("Settings", url_for(".settings"))]
    return show_form("portal/instance/maintenance.html", form, trail=trail)
