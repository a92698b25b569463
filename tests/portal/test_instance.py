"""What Admins see of the instance itself."""

from app.core import clock
from app.core.actor import COMMAND_LINE
from app.core.db import unit_of_work
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.portal.instance import service as instance
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


def serve_with(app, version):
    with app.app_context(), unit_of_work(writes=True):
        instance.note_version(version)


def upgrades(admin):
    found = admin.ok("GET", "/user/notices")["notices"]
    return [
        (one["event"]["preData"], one["event"]["data"])
        for one in found
        if one["event"]["type"] == "instance-upgraded"
    ]


def test_admins_get_a_notice_of_an_upgrade_that_leads_to_what_changed(app, admin, editor, browser):
    for version in ("0.1.0", "0.1.0", "0.2.0"):
        serve_with(app, version)
    assert upgrades(admin)[0] == ({"version": "0.1.0"}, {"version": "0.2.0"})
    assert upgrades(editor) == []
    page = browser.get("/notices")
    assert page.has("upgraded Flagstaff from 0.1.0 to 0.2.0")
    assert "/help/changes#v0.2.0" in page.links.values()


def test_going_back_and_forth_between_versions_is_recorded_each_time(app, admin):
    # Every time at the same moment: the order doesn't depend on the clock.
    with clock.at(clock.utcnow()):
        for version in ("0.2.0", "0.1.0", "0.2.0"):
            serve_with(app, version)
    assert [data["version"] for _, data in upgrades(admin)][:2] == ["0.2.0", "0.1.0"]


def test_the_first_version_that_serves_an_instance_is_no_upgrade(app, admin):
    serve_with(app, "0.2.0")
    assert upgrades(admin) == []
