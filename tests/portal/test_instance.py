"""What Admins see of the instance itself."""

from app.core.actor import COMMAND_LINE
from app.core.db import unit_of_work
from app.core.events import service as events
from app.core.events.event_types import EventType
from tests.support.browser import text_of


def test_backups_say_when_the_last_one_was_created(browser):
    page = browser.get("/backups")
    assert page.has("No backup of this instance has been created yet.")
    with browser.app.app_context(), unit_of_work(writes=True):
        events.record(COMMAND_LINE, EventType.BACKUP_CREATED, data={"rows": 1_234})
        events.record(COMMAND_LINE, EventType.BACKUP_RESTORED, data={"rows": 5})
    page = browser.get("/backups")
    assert page.has("The last backup was created just now.")
    [restored, created] = [text_of(row) for row in page.select("tbody tr")]
    assert "Created 1,234" in created
    assert "Restored 5" in restored


def test_settings_show_what_was_given_and_no_secret(browser, monkeypatch):
    monkeypatch.setenv("FLAGSTAFF_PASSWORD_MIN", "14")
    monkeypatch.setenv("FLAGSTAFF_SECRET_KEY", "a-secret-that-is-shown-to-no-one-at-all")
    page = browser.get("/settings")
    rows = {text_of(row.css_first("code")): text_of(row) for row in page.select("tbody tr")}
    assert rows["FLAGSTAFF_PASSWORD_MIN"].startswith("FLAGSTAFF_PASSWORD_MIN 14 ")
    assert "Default: 4242" in rows["FLAGSTAFF_PORT"]
    assert "…" in rows["FLAGSTAFF_SECRET_KEY"]
    assert "a-secret" not in page.text
