"""Every page and every state of a page that a person can meet, each with the way to it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.request import Request, urlopen

import pyotp
from playwright.sync_api import Locator, Page, expect

from tests.journeys.instance import ADMIN, CHECKOUT, COLLEAGUE, PASSWORD, VIEWER, Instance, names
from tests.journeys.usage import Polling, project_of_its_own, report
from tests.journeys.written import await_written

Way = Callable[[Page, Instance], object]


@dataclass(frozen=True)
class Place:
    """``heading``: what its h1 begins with, to know that one is there.

    ``has_own_window``: the way to it changes cookies, which would disturb the next place.
    """

    name: str
    heading: str
    way: Way
    who: str | None = ADMIN
    has_own_window: bool = False


CATALOGUE = "/projects/catalogue/features"
KIM = "context.userId=1042&context.plan=plus"
SOON = (datetime.now(UTC) + timedelta(days=9)).isoformat()
PLACES: dict[str, Place] = {}


def place(
    heading: str, who: str | None = ADMIN, *, has_own_window: bool = False
) -> Callable[[Way], Way]:
    def note(way: Way) -> Way:
        name = way.__name__.replace("_", "-")
        PLACES[name] = Place(name, heading, way, who, has_own_window)
        return way

    return note


def _at(path: str) -> Way:
    return lambda page, _: page.goto(path)


for name, path, heading in (
    ("home", "/", "Home"),
    ("notices", "/notices", "Notices"),
    ("export", f"{CHECKOUT}/export", "Export features"),
    ("imports", "/imports", "Imports"),
    ("import-new", "/imports/new", "Import from Unleash"),
    ("import-plan", "/imports/1", "Import from Unleash"),
    ("import-choose", "/imports/1/choose", "Choose features"),
    ("import-result", "/imports/2", "Import from Unleash"),
    ("import-undo", "/imports/2/undo", "Undo this import"),
    ("import-failed", "/imports/3", "Import from Unleash"),
    ("help-moving-in", "/help/moving-in", "From Unleash to here in an hour"),
    ("help-configuration", "/help/configuration", "Configuration as a file"),
    ("tag-type-rename", "/tags/types/team/rename", "Rename tag type team"),
    ("display-home", "/display/home", "What Home shows"),
    ("display-features", "/display/project-features?back=/projects/checkout", "Columns of"),
    ("saved-filters", "/account/filters", "My account"),
    ("saved-filter-new", "/new-saved-filter?address=/features?stale=true", "Save filters"),
    ("saved-filter-edit", "/account/filters/1", "Rename saved filters"),
    ("features-saved", "/features?type=experiment", "Features"),
    ("notices-wrong-page", "/notices?before=soon", "Notices"),
    ("projects", "/projects", "Projects"),
    ("projects-sorted", "/projects?sort=-featureCount&membership=mine", "Projects"),
    ("projects-none-match", "/projects?text=nothing-like-it&mode=open", "Projects"),
    ("projects-wrong-filter", "/projects?mode=secret&limit=0", "Projects"),
    ("projects-archived", "/projects?archived=true", "Archived projects"),
    ("project-new", "/new-project", "New project"),
    ("playground-empty", "/playground", "Playground"),
    ("playground", f"/playground?{KIM}&project=checkout", "Playground"),
    ("playground-page-2", f"/playground?{KIM}&offset=25", "Playground"),
    ("playground-several", "/playground?context.userId=1,2,3,4", "Playground"),
    ("playground-wrong", "/playground?context.currentTime=soon&only=none", "Playground"),
    ("playground-compare-empty", "/playground/compare", "Playground"),
    ("playground-compare", f"/playground/compare?{KIM}&other.userId=2", "Playground"),
    ("features", CHECKOUT, "Checkout"),
    ("features-of-all", "/features", "Features"),
    ("features-of-all-chosen", "/features?limit=20&all=1&state=off:production", "Features"),
    ("features-of-all-paste", "/features/paste", "Paste a list"),
    ("backups", "/backups", "Backups"),
    ("instance-settings", "/settings", "Settings"),
    ("maintenance", "/maintenance", "Maintenance mode"),
    ("events-check", "/events/check", "Check of the event log"),
    ("segment-history", "/segments/1/history", "History of"),
    ("user-history", "/users/2/history?show=about", "History of"),
    ("features-all-chosen", f"{CHECKOUT}?limit=20&all=1", "Checkout"),
    ("features-page-2", f"{CHECKOUT}?limit=20&offset=20", "Checkout"),
    ("features-filtered", f"{CHECKOUT}?tag=risk:high&stale=false&sort=createdAt", "Checkout"),
    ("features-none-match", f"{CHECKOUT}?text=nothing-like-it", "Checkout"),
    ("features-archived", f"{CHECKOUT}?archived=true", "Checkout"),
    ("features-archived-none", "/projects/empty?archived=true", "Empty"),
    ("features-none", "/projects/empty", "Empty"),
    ("features-of-an-archived-project", "/projects/retired", "Retired"),
    ("feature-new", f"{CHECKOUT}/new-feature", "New feature"),
    ("members", f"{CHECKOUT}/members", "Checkout"),
    ("health", f"{CHECKOUT}/health", "Checkout"),
    ("health-of-nothing", "/projects/empty/health", "Empty"),
    ("settings", f"{CHECKOUT}/settings", "Checkout"),
    ("settings-of-an-archived-project", "/projects/retired/settings", "Retired"),
    ("paste", f"{CHECKOUT}/paste", "Paste a list"),
    ("search-start", "/search", "Search"),
    ("search", "/search?q=checkout", "Search"),
    ("search-one-kind", "/search?q=checkout&in=features", "Search"),
    ("search-in-state", "/search?q=on:production", "Search"),
    ("search-actions", "/search?q=%3E", "Search"),
    ("search-nothing", "/search?q=chekcuot", "Search"),
    ("search-wrong", "/search?q=x&in=secrets", "Search"),
    ("tags", "/tags", "Tags"),
    ("tags-none-match", "/tags?text=nothing-like-it", "Tags"),
    ("feature-types", "/feature-types", "Feature types"),
    ("tag-type-new", "/tags/new-type", "New tag type"),
    ("tag-type", "/tags/types/team", "Tag type team"),
    ("tag-type-delete-used", "/tags/types/team/delete", "Delete tag type team"),
    ("tag-type-delete-simple", "/tags/types/simple/delete", "Delete tag type simple"),
    ("help", "/help", "Help"),
    ("help-about", "/help/about", "About Flagstaff"),
    ("help-licences", "/help/licences", "Licences"),
    ("help-roles", "/help/roles", "Roles and permissions"),
    ("help-operating", "/help/operating", "Operating"),
    ("context-fields", "/context-fields", "Context fields"),
    ("context-field-new", "/new-context-field", "New context field"),
    ("context-field", "/context-fields/country", "Context field country"),
    ("context-field-built-in", "/context-fields/userId", "Context field userId"),
    ("strategy-types", "/strategy-types", "Strategy types"),
    ("strategy-type-new", "/new-strategy-type", "New strategy type"),
    ("strategy-type", "/strategy-types/near-store", "Strategy type near-store"),
    ("applications-none-match", "/applications?query=nothing-like-it", "Applications"),
    ("releases", "/releases", "Releases"),
    ("releases-none-match", "/releases?text=nothing-like-it", "Releases"),
    ("releases-ended", "/releases/ended", "Releases"),
    ("release-templates", "/releases/templates", "Releases"),
    ("release-template-new", "/releases/templates/new", "New template"),
    ("release-running", f"{CATALOGUE}/catalogue.search-synonyms", "catalogue.search-synonyms"),
    ("release-held", f"{CATALOGUE}/catalogue.size-advice", "catalogue.size-advice"),
    ("release-waiting", f"{CATALOGUE}/catalogue.video-previews", "catalogue.video-previews"),
    ("release-stopped", f"{CATALOGUE}/catalogue.typo-tolerance", "catalogue.typo-tolerance"),
    ("release-done", f"{CATALOGUE}/catalogue.gift-filter", "catalogue.gift-filter"),
    (
        "release-start",
        f"{CATALOGUE}/catalogue.gift-filter/environments/staging/new-release",
        "Start a release in staging",
    ),
    (
        "release-propose",
        f"{CHECKOUT}/features/checkout.basket.ab-test/environments/production/propose/release",
        "Propose a release in production",
    ),
    ("segments", "/segments", "Segments"),
    ("segments-none-match", "/segments?text=nothing-like-it", "Segments"),
    ("segment-new", "/new-segment", "New segment"),
    ("segment", "/segments/1", "Beta testers"),
    (
        "default-strategy",
        f"{CHECKOUT}/environments/production/default-strategy",
        "Default strategy in production",
    ),
    ("browser-origins", "/browser-origins", "Browser origins"),
    ("sdk-tokens-none", "/projects/empty/sdk-tokens", "SDK tokens"),
    ("sdk-tokens-none-match", "/sdk-tokens?text=nothing-like-it", "SDK tokens"),
    ("connect", "/connect", "Connect an application"),
    ("feature-new-anywhere", "/new-feature?name=checkout.expres", "New feature checkout.expres"),
    ("connect-in-project", f"{CHECKOUT}/connect", "Connect an application"),
    ("help-connect", "/help/connect", "Connect an application"),
    ("help-arrival", "/help/arrival", "Has it arrived?"),
    ("arrival", "/arrival", "Applications"),
    ("help-lifecycle", "/help/lifecycle", "Lifecycle of a feature"),
    ("features-proposed", f"{CHECKOUT}?staleProposal=any", "Checkout"),
    ("features-of-all-proposed", "/features?staleProposal=any", "Features"),
    ("change-requests", "/change-requests", "Change requests"),
    ("change-requests-own", "/change-requests?show=own", "Change requests"),
    ("change-requests-scheduled", "/change-requests?show=scheduled", "Change requests"),
    ("change-requests-done", "/change-requests?show=done", "Change requests"),
    ("change-requests-none-match", "/change-requests?text=nothing-like-it", "Change requests"),
    ("change-requests-wrong", "/change-requests?show=nothing&limit=0", "Change requests"),
    ("change-requests-of-project", f"{CHECKOUT}/change-requests", "Checkout"),
    ("change-requests-of-project-none", "/projects/empty/change-requests", "Empty"),
    ("help-change-requests", "/help/change-requests", "Change requests"),
    ("webhooks-none", "/webhooks?offset=1000", "Webhooks"),
    ("webhook-new", "/new-webhook", "New webhook"),
    ("help-webhooks", "/help/webhooks", "Webhooks"),
    ("environments", "/environments", "Environments"),
    ("environment-new", "/new-environment", "New environment"),
    ("environment", "/environments/production", "Environment production"),
    ("groups", "/groups", "Groups"),
    ("groups-none-match", "/groups?text=nothing-like-it", "Groups"),
    ("group-new", "/new-group", "New group"),
    ("single-sign-on", "/single-sign-on", "Single sign-on"),
    ("directories", "/scim-tokens", "Directories"),
    ("scim-token-new", "/scim-tokens/new", "New SCIM token"),
    ("access-review", f"{CHECKOUT}/access-review", "Checkout"),
    ("access-reviews-none", f"{CHECKOUT}/access-reviews", "Checkout"),
    ("account-single-sign-on", "/account/single-sign-on", "My account"),
    ("help-single-sign-on", "/help/single-sign-on", "Single sign-on"),
    ("users", "/users", "Users"),
    ("users-filtered", "/users?text=a&rootRole=2&sort=-seenAt", "Users"),
    ("users-none-match", "/users?text=nothing-like-it&rootRole=9", "Users"),
    ("user-new", "/users/new", "New user"),
    ("users-edit", "/users/bulk?id=1&id=2", "Edit 2 users"),
    ("inactive", "/users/inactive", "Users"),
    ("inactive-never", "/users/inactive?away=never", "Users"),
    ("service-accounts", "/service-accounts", "Service accounts"),
    ("service-accounts-none-match", "/service-accounts?text=nothing", "Service accounts"),
    ("service-account-new", "/service-accounts/new", "New service account"),
    ("find-token", "/service-accounts/find-token", "Check a leaked token"),
    ("account", "/account", "My account"),
    ("account-permissions", "/account/permissions?may=UPDATE_PROJECT", "My account"),
    ("account-security", "/account/security", "My account"),
    ("account-password", "/account/password", "Change password"),
    ("account-token-new", "/account/tokens/new", "New personal token"),
    ("events", "/events", "Events"),
    ("events-of-one-project", "/events?project=checkout&limit=20&from=2026-01-01", "Events"),
    ("events-none-match", "/events?text=nothing-like-it&type=nonsense", "Events"),
    ("security-log", "/security-log", "Security log"),
    ("security-log-none-match", "/security-log?ip=none&kind=nonsense", "Security log"),
    ("api", "/api/", ""),
    ("not-found", "/no-such-page", "Page not found"),
    ("not-found-project", "/projects/no-such-project", "Page not found"),
):
    PLACES[name] = Place(name, heading, _at(path))

for name, path, heading in (
    ("viewer-projects", "/projects", "Projects"),
    ("viewer-features", CHECKOUT, "Checkout"),
    ("viewer-members", f"{CHECKOUT}/members", "Checkout"),
    ("viewer-settings", f"{CHECKOUT}/settings", "Checkout"),
    ("viewer-tags", "/tags", "Tags"),
    ("viewer-feature-types", "/feature-types", "Feature types"),
    ("viewer-tag-type", "/tags/types/team", "Tag type team"),
    ("viewer-context-field", "/context-fields/country", "Context field country"),
    ("viewer-strategy-type", "/strategy-types/near-store", "Strategy type near-store"),
    ("viewer-segment", "/segments/1", "Beta testers"),
    ("viewer-environments", "/environments", "Environments"),
    ("viewer-environment", "/environments/production", "Environment production"),
    ("saved-filters-none", "/account/filters", "My account"),
    ("viewer-notices", "/notices", "Notices"),
    ("viewer-change-requests", "/change-requests", "Change requests"),
    ("viewer-permissions", "/account/permissions?may=UPDATE_FEATURE&project=checkout", "My acc"),
    ("viewer-forbidden-users", "/users", "You don’t have access"),
    ("viewer-forbidden", f"{CHECKOUT}/paste", "You don’t have access"),
    ("viewer-forbidden-project", "/new-project", "You don’t have access"),
):
    PLACES[name] = Place(name, heading, _at(path), VIEWER)

for name, path, heading in (
    ("sign-in", "/sign-in", "Sign in"),
    ("sign-in-first", "/projects/checkout", "Sign in"),
    ("stranger-api", "/api/", ""),
    ("stranger-not-found", "/no-such-page", "Page not found"),
    ("stranger-no-link", "/set-up/no-such-link", "This link has expired"),
):
    PLACES[name] = Place(name, heading, _at(path), None)


@place("Try the API")
def api_try(page: Page, _: Instance) -> None:
    page.goto("/api/try#/projects/projectsCreate")
    page.get_by_role("button", name="Execute").click()
    expect(page.get_by_text("x-dry-run: true")).to_be_visible()


def request_in(state: str, project: str, *, is_outdated: bool = False) -> Callable[[Instance], str]:
    """The path of a change request of the demo."""

    def path(instance: Instance) -> str:
        found = instance.api("GET", f"/projects/{project}/change-requests?state={state}")
        for row in found["changeRequests"]:
            one = instance.api("GET", f"/projects/{project}/change-requests/{row['id']}")
            if one["isOutdated"] is is_outdated:
                return f"/projects/{project}/change-requests/{row['id']}"
        raise AssertionError(f"no change request {state} in {project}")

    return path


REQUESTS = (
    ("review", "In%20review", "checkout"),
    ("approved", "Approved", "payments"),
    ("scheduled", "Scheduled", "mobile-app"),
    ("applied", "Applied", "checkout"),
    ("rejected", "Rejected", "checkout"),
)
for name, state, project in REQUESTS:
    find = request_in(state, project)
    way = partial(lambda find, page, instance: page.goto(find(instance)), find)
    PLACES[f"change-request-{name}"] = Place(f"change-request-{name}", "", way)
outdated = request_in("In%20review", "checkout", is_outdated=True)


@place("")
def change_request_outdated(page: Page, instance: Instance) -> None:
    page.goto(outdated(instance))


@place("A smaller share for now")
def change_request_draft(page: Page, _: Instance) -> None:
    page.goto("/change-requests?show=own")
    page.get_by_role("link", name="A smaller share for now").click()


@place("")
def change_request_rejected_in_vain(page: Page, instance: Instance) -> None:
    page.goto(request_in("In%20review", "checkout")(instance))
    press(page.locator("#vote").page, "Reject…")


@place("Discard draft")
def change_request_discard(page: Page, _: Instance) -> None:
    page.goto("/change-requests?show=own")
    page.get_by_role("link", name="A smaller share for now").click()
    press(page, "Discard draft…")


@place("")
def change_request_own(page: Page, instance: Instance) -> None:
    """Sent by its author, where too few people can approve."""
    project = instance.project(
        1,
        environments=["production"],
        changeRequestEnvironments=[{"name": "production", "requiredApprovals": 4}],
    )
    [name] = names(1, project)
    change = {"feature": name, "action": "updateEnabled", "payload": {"enabled": True}}
    base = f"/projects/{project}"
    made = instance.api("POST", f"{base}/environments/production/change-requests", change)
    path = f"{base}/change-requests/{made['id']}"
    instance.api("PUT", f"{path}/state", {"state": "In review"})
    page.goto(path)


@place("Start a release in 2 steps")
def change_request_release(page: Page, instance: Instance) -> None:
    """A draft that starts a release, with the steps of it."""
    project, (_, feature, _) = _guarded(instance)
    steps = [
        {
            "name": name,
            "strategies": [{"name": "flexibleRollout", "parameters": {"rollout": share}}],
        }
        for name, share in (("Some", "25"), ("Everyone", "100"))
    ]
    change = {"feature": feature, "action": "addReleasePlan", "payload": {"milestones": steps}}
    place = f"/projects/{project}/environments/production/change-requests"
    number = instance.api("POST", place, change)["id"]
    instance.api(
        "PUT", f"/projects/{project}/change-requests/{number}/state", {"state": "In review"}
    )
    page.goto(f"/projects/{project}/change-requests/{number}")


@place("catalogue.video-previews")
def release_next(page: Page, _: Instance) -> None:
    page.goto(f"{CATALOGUE}/catalogue.video-previews")
    page.get_by_role("link", name="Start 50% now…").click()
    page.get_by_role("region", name="Start step 3 now?").wait_for()


@place("catalogue.search-synonyms")
def release_leave(page: Page, _: Instance) -> None:
    page.goto(f"{CATALOGUE}/catalogue.search-synonyms")
    page.get_by_role("link", name="leave the release…").click()
    page.get_by_role("button", name="Leave release").wait_for()


@place("catalogue.typo-tolerance")
def release_ended(page: Page, _: Instance) -> None:
    """A page of its own, where people find it once that of the feature shows it no longer."""
    page.goto("/releases/ended")
    page.get_by_role("link", name="catalogue.typo-tolerance").first.click()
    page.get_by_role("region", name="Release in production").wait_for()


@place("Start a release in staging")
def release_start_refused(page: Page, _: Instance) -> None:
    page.goto(f"{CATALOGUE}/catalogue.gift-filter/environments/staging/new-release")
    page.locator("#step-1-share").fill("5")
    page.get_by_label("At a time").check()
    press(page, "Start release")
    expect(page.locator("#errors")).to_be_focused()


@place("Edit template Careful")
def release_template(page: Page, _: Instance) -> None:
    page.goto("/releases/templates")
    page.get_by_role("link", name="Careful", exact=True).click()


@place("Switched feature")
def receipts(page: Page, instance: Instance) -> None:
    """Of an instance that is silent since the change."""
    project = project_of_its_own(instance)
    [name], polling = names(1, project), Polling(instance, project, interval=1)
    switched = f"/projects/{project}/features/{name}/environments/{polling.environment}"
    instance.api("POST", f"{switched}/on")
    await_written(lambda: instance.api("GET", f"{switched}/receipts")["silent"])
    page.goto(f"{switched}/receipts")


def _of_several_projects(page: Page, instance: Instance, button: str) -> None:
    chosen = [names(1, instance.project(1))[0] for _ in range(2)]
    page.goto("/features/paste")
    page.get_by_label("Feature names").fill("\n".join([*chosen, "checkout.expres"]))
    press(page, button)


@place("Edit the tags of 2 features")
def several_projects_tag(page: Page, instance: Instance) -> None:
    _of_several_projects(page, instance, "Edit tags")
    page.get_by_label("Tags to add").fill("team:payments")
    press(page, "Review")


@place("Archive 2 features")
def several_projects_archive(page: Page, instance: Instance) -> None:
    _of_several_projects(page, instance, "Archive…")


@place("Edit type and state of 2 features")
def several_projects_settings(page: Page, instance: Instance) -> None:
    _of_several_projects(page, instance, "Edit type and state…")


@place("Sign in", None)
def sign_in_refused(page: Page, _: Instance) -> None:
    page.goto("/sign-in")
    page.get_by_label("User name or e-mail").fill("no.such.user")
    page.get_by_label("Password", exact=True).fill("not the right one")
    press(page, "Sign in")


@place("Sign in", None)
def signed_out(page: Page, instance: Instance) -> None:
    page.goto(instance.link("jonas.weber"))
    page.get_by_label("New password").fill(PASSWORD)
    press(page, "Set password")
    press(page, "Sign out")


@place("Sign in", has_own_window=True)
def session_ended(page: Page, _: Instance) -> None:
    page.goto("/new-project")
    page.get_by_label("Name").fill("Night shop")
    page.context.clear_cookies()
    press(page, "Create project")


@place("This form had expired", has_own_window=True)
def form_expired(page: Page, _: Instance) -> None:
    page.goto("/new-project")
    page.evaluate("document.querySelector('main [name=csrf_token]').value = 'of another sign-in'")
    press(page, "Create project")


@place("Set your password", None)
def set_up(page: Page, instance: Instance) -> None:
    page.goto(instance.link("priya.raman"))


@place("Set your password", None)
def set_up_refused(page: Page, instance: Instance) -> None:
    set_up(page, instance)
    page.get_by_label("New password").fill("short")
    press(page, "Set password")


@place("New project")
def project_new_refused(page: Page, _: Instance) -> None:
    page.goto("/new-project")
    page.get_by_label("Project id").fill("not an id")
    page.get_by_label("Needs approvals in production").check()
    page.get_by_label("Approvals needed in production").fill("")
    page.get_by_label("Default stickiness").fill("")
    press(page, "Create project")


@place("Checkout")
def settings_refused(page: Page, _: Instance) -> None:
    page.goto(f"{CHECKOUT}/settings")
    page.get_by_label("Name").fill("")
    for box in page.locator("[name=environments]:visible").all():
        box.uncheck()
    press(page, "Save")


@place("Review the settings")
def settings_review(page: Page, _: Instance) -> None:
    page.goto(f"{CHECKOUT}/settings")
    page.get_by_role("radio", name="Private").check()
    page.get_by_label("Approvals needed in production").fill("1")
    page.get_by_label("Description").fill("From the basket to the order, for members only.")
    press(page, "Save")


@place("Two changes to")
def settings_conflict(page: Page, instance: Instance) -> None:
    id = instance.project()
    page.goto(f"/projects/{id}/settings")
    theirs = {"name": "Night market", "description": "Open from ten to six.", "mode": "open"}
    instance.api("PUT", f"/projects/{id}", theirs)
    page.get_by_label("Name").fill("All-night shop")
    press(page, "Save")


@place("Checkout")
def members_refused(page: Page, _: Instance) -> None:
    page.goto(f"{CHECKOUT}/members")
    page.get_by_label("Name, user name or e-mail").fill("no.such.person")
    press(page, "Add member")


@place("Night shop")
def members_conflict(page: Page, instance: Instance) -> None:
    id = instance.project()
    page.goto(f"/projects/{id}/members")
    members = instance.api("GET", f"{CHECKOUT}/access")["members"]
    rows = [{"id": member["id"], "roleId": member["roleId"]} for member in members]
    instance.api("PUT", f"/projects/{id}/access", {"members": rows})
    page.get_by_label("Role of").first.select_option("remove")
    press(page, "Save members")


@place("New feature")
def feature_new_refused(page: Page, _: Instance) -> None:
    page.goto(f"{CHECKOUT}/new-feature")
    page.get_by_label("Name").fill("not a name")
    press(page, "Create feature")


@place("New feature")
def feature_new_another(page: Page, instance: Instance) -> None:
    page.goto(f"/projects/{instance.project()}/new-feature")
    page.get_by_label("Name").fill("shop.basket.v2")
    press(page, "Create and add another")


@place("checkout.")
def feature_parent(page: Page, instance: Instance) -> None:
    page.goto(f"{CHECKOUT}/features/{instance.parent}")


@place("checkout.")
def feature_child(page: Page, instance: Instance) -> None:
    page.goto(f"{CHECKOUT}/features/{instance.child}")


@place("checkout.", VIEWER)
def viewer_feature(page: Page, instance: Instance) -> None:
    feature_child(page, instance)


@place("checkout.")
def feature_archived(page: Page, _: Instance) -> None:
    page.goto(f"{CHECKOUT}?archived=true")
    page.locator("tbody th a").first.click()


@place("checkout.")
def feature_switched(page: Page, instance: Instance) -> None:
    feature_child(page, instance)
    page.get_by_role("switch").first.click()
    page.get_by_role("button", name="Undo").wait_for()


@place("checkout.")
def feature_tags(page: Page, instance: Instance) -> None:
    page.goto(f"{CHECKOUT}/features/{instance.child}/tags")


@place("checkout.")
def feature_tags_parent(page: Page, instance: Instance) -> None:
    page.goto(f"{CHECKOUT}/features/{instance.parent}/tags")


@place("checkout.")
def feature_tags_refused(page: Page, instance: Instance) -> None:
    feature_tags(page, instance)
    page.get_by_label("Depends on").fill("no.such.feature")
    press(page, "Add to change request")


@place("night-shop")
def feature_tags_stale(page: Page, instance: Instance) -> None:
    project = instance.project(3)
    child, parent, other = names(3, project)
    page.goto(f"/projects/{project}/features/{child}/tags")
    instance.tie(project, child, parent)
    page.get_by_label("Depends on").fill(other)
    press(page, "Save")


@place("checkout.")
def feature_settings(page: Page, instance: Instance) -> None:
    page.goto(f"{CHECKOUT}/features/{instance.child}/settings")


@place("Links of")
def feature_links(page: Page, instance: Instance) -> None:
    path = f"{CHECKOUT}/features/{instance.child}"
    for link in ({"url": "https://a.example/1", "title": "Ticket"}, {"url": "https://b.example"}):
        instance.api("POST", f"{path}/link", link)
    page.goto(f"{path}/links")
    page.get_by_role("button", name="Add link").click()
    page.get_by_label("Address").last.fill("nowhere")
    page.get_by_role("button", name="Save", exact=True).click()


@place("Complete checkout.")
def feature_complete(page: Page, instance: Instance) -> None:
    page.goto(f"{CHECKOUT}/features/{instance.child}/complete")


@place("Complete checkout.")
def feature_complete_refused(page: Page, instance: Instance) -> None:
    feature_complete(page, instance)
    press(page, "Complete feature")


@place("checkout.")
def feature_proposed(page: Page, _: Instance) -> None:
    page.goto(f"{CHECKOUT}?staleProposal=any")
    page.locator("tbody th a").first.click()


@place("checkout.", VIEWER)
def viewer_feature_tags(page: Page, instance: Instance) -> None:
    feature_tags(page, instance)


@place("checkout.", VIEWER)
def viewer_feature_settings(page: Page, instance: Instance) -> None:
    feature_settings(page, instance)


@place("checkout.")
def feature_archived_settings(page: Page, instance: Instance) -> None:
    feature_archived(page, instance)
    page.get_by_role("link", name="Settings").last.click()


def _some_strategies(instance: Instance) -> str:
    """The path of a feature with strategies in two of its three environments."""
    every = ["development", "staging", "production"]
    project = instance.project(1, name="Copy shop", environments=every)
    [name] = names(1, project)
    feature = f"/projects/{project}/features/{name}/environments"
    constraint = {"contextName": "country", "operator": "IN", "values": ["NO", "SE"]}
    variants = [{"name": "blue"}, {"name": "red"}]
    split = {"name": "flexibleRollout", "constraints": [constraint], "variants": variants}
    instance.api("POST", f"{feature}/development/strategies", split)
    instance.api("POST", f"{feature}/development/strategies", {"name": "default", "disabled": True})
    instance.api("POST", f"{feature}/production/on")
    return feature


@place("Copy strategies from development")
def strategies_copy(page: Page, instance: Instance) -> None:
    page.goto(f"{_some_strategies(instance)}/development/copy")


@place("Copy strategies from development")
def strategies_copy_refused(page: Page, instance: Instance) -> None:
    strategies_copy(page, instance)
    press(page, "Copy 2 strategies")


@place("Copy strategies to staging")
def strategies_copy_from(page: Page, instance: Instance) -> None:
    page.goto(f"{_some_strategies(instance)}/staging/copy")


@place("night-shop")
def feature_conflict(page: Page, instance: Instance) -> None:
    id = instance.project(1)
    [name] = names(1, id)
    page.goto(f"/projects/{id}/features/{name}/settings")
    theirs = {"description": "Shows the banner in two wordings.", "stale": True}
    instance.api("PUT", f"/projects/{id}/features/{name}", theirs)
    page.get_by_label("Description").fill("Compares two banners by what people do next.")
    press(page, "Save")


@place("Switch 3 features on in staging")
def switch_review(page: Page, instance: Instance) -> None:
    page.goto(CHECKOUT)
    for row in instance.rows[:3]:
        page.get_by_label(f"Select {row['name']}", exact=True).check()
    page.get_by_label("Environment", exact=True).select_option("staging")
    press(page, "Switch on…")


@place("Undo: switch 2 features off in staging")
def switch_undo(page: Page, instance: Instance) -> None:
    project = instance.project(2, name="Switch shop", environments=["staging"])
    page.goto(f"/projects/{project}")
    for box in page.get_by_label("Select switch-shop").all():
        box.check()
    press(page, "Switch on…")
    press(page, "Switch on 2 features")
    page.get_by_role("link", name="Undo…").click()


def _guarded(instance: Instance) -> tuple[str, list[str]]:
    """A project whose production needs approvals, and its three features: the first is on there."""
    project = instance.project(
        3, name="Night shop guarded", environments=["development", "production"]
    )
    found = names(3, project)
    place = f"/projects/{project}/features/{found[0]}/environments/production"
    rollout = {"name": "flexibleRollout", "parameters": {"rollout": "50", "stickiness": "userId"}}
    instance.api("POST", f"{place}/strategies", rollout)
    instance.api("POST", f"{place}/on")
    rules = [{"name": "production", "requiredApprovals": 2}]
    body = {"environments": ["development", "production"], "changeRequestEnvironments": rules}
    instance.api("PUT", f"/projects/{project}/environments", body)
    return project, found


def _propose(
    instance: Instance, project: str, feature: str, *, on: bool, send: bool = False
) -> None:
    base = f"/projects/{project}"
    change = {"feature": feature, "action": "updateEnabled", "payload": {"enabled": on}}
    made = instance.api("POST", f"{base}/environments/production/change-requests", change)
    if send:
        path = f"{base}/change-requests/{made['id']}/state"
        instance.api("PUT", path, {"state": "In review"})


@place("night-shop")
def feature_waiting(page: Page, instance: Instance) -> None:
    """With a change request that waits, and a draft of the reader."""
    project, (feature, *_) = _guarded(instance)
    _propose(instance, project, feature, on=False, send=True)
    page.goto(f"/projects/{project}/features/{feature}")
    page.get_by_role("link", name="Propose edit").click()
    page.get_by_label("Rollout in percent").fill("80")
    press(page, "Add to change request")
    page.goto(f"/projects/{project}/features/{feature}")


@place("Propose an edit in production")
def strategy_propose(page: Page, instance: Instance) -> None:
    project, (feature, *_) = _guarded(instance)
    page.goto(f"/projects/{project}/features/{feature}")
    page.get_by_role("link", name="Propose edit").click()
    page.get_by_label("Rollout in percent").fill("80")
    press(page, "Add to change request")
    page.goto(f"/projects/{project}/features/{feature}")
    page.get_by_role("link", name="Propose edit").click()
    page.get_by_text("Save strategy without approval…").click()


@place("Propose a strategy in production")
def strategy_propose_refused(page: Page, instance: Instance) -> None:
    project, (feature, *_) = _guarded(instance)
    page.goto(f"/projects/{project}/features/{feature}")
    page.get_by_role("link", name="Propose a strategy").click()
    page.get_by_label("Rollout in percent").fill("half")
    press(page, "Add to change request")


@place("Switch on 2 features in production")
def switch_propose(page: Page, instance: Instance) -> None:
    project, (_, feature, _) = _guarded(instance)
    _propose(instance, project, feature, on=True, send=True)
    page.goto(f"/projects/{project}")
    for box in page.get_by_label("Select night-shop").all():
        box.check()
    page.get_by_label("Environment", exact=True).select_option("production")
    press(page, "Switch on…")


@place("Archive 3 features")
def archive_propose(page: Page, instance: Instance) -> None:
    project, _ = _guarded(instance)
    page.goto(f"/projects/{project}")
    for box in page.get_by_label("Select night-shop").all():
        box.check()
    press(page, "Archive…")


@place("night-shop")
def feature_tags_propose(page: Page, instance: Instance) -> None:
    project, (feature, *_) = _guarded(instance)
    page.goto(f"/projects/{project}/features/{feature}/tags")
    page.get_by_text("Save without approval…").click()


@place("Copy strategies from development")
def strategies_copy_propose(page: Page, instance: Instance) -> None:
    project, (feature, *_) = _guarded(instance)
    place = f"/projects/{project}/features/{feature}/environments/development"
    instance.api("POST", f"{place}/strategies", {"name": "default"})
    page.goto(f"{place}/copy")


@place("night-shop")
def feature_with_every_state(page: Page, instance: Instance) -> None:
    """Paused, split, reaching no one, guarded, and off because its parent is."""
    project = instance.project(2, name="Night shop switches")
    path = f"/projects/{project}"
    names = [row["name"] for row in instance.api("GET", f"{path}/features")["features"]]
    feature = f"{path}/features/{names[0]}"
    instance.api("POST", f"{feature}/dependencies", {"feature": names[1]})
    rollout = {"name": "flexibleRollout", "parameters": {"rollout": "0"}}
    constraint = {"contextName": "country", "operator": "IN", "values": ["NO", "SE"]}
    variants = [{"name": "blue"}, {"name": "red"}, {"name": "green"}]
    place = f"{feature}/environments/development"
    instance.api("POST", f"{place}/strategies", rollout | {"title": "To begin with"})
    instance.api("POST", f"{place}/on")
    place = f"{feature}/environments/production"
    split = {"name": "flexibleRollout", "constraints": [constraint], "variants": variants}
    instance.api("POST", f"{place}/strategies", split)
    instance.api("POST", f"{place}/strategies", {"name": "default", "disabled": True})
    rules = [{"name": "production", "requiredApprovals": 2}]
    every = ["development", "staging", "production"]
    body = {"environments": every, "changeRequestEnvironments": rules}
    instance.api("PUT", f"{path}/environments", body)
    page.goto(feature)
    page.get_by_text("Switch on without approval…").click()


@place("Add a strategy in development")
def strategy_new_refused(page: Page, instance: Instance) -> None:
    page.goto(f"{CHECKOUT}/features/{instance.child}/environments/development/strategies/new")
    press(page, "Add constraint")
    page.get_by_label("Rollout in percent").fill("a quarter")
    press(page, "Add strategy")


@place("Edit a strategy in development")
def strategy_edit(page: Page, instance: Instance) -> None:
    place = f"{CHECKOUT}/features/{instance.child}/environments/development"
    constraint = {"contextName": "country", "operator": "IN", "values": ["NO", "SE"]}
    variants = [{"name": "blue"}, {"name": "red"}]
    body = {"name": "flexibleRollout", "constraints": [constraint], "variants": variants}
    made = instance.api("POST", f"{place}/strategies", body)
    page.goto(f"{place}/strategies/{made['id']}")


@place("Edit tags of 12")
def picker(page: Page, instance: Instance) -> None:
    paste(page, [row["name"] for row in instance.rows[:12]], "Edit tags")


@place("Edit tags of 1 feature")
def picker_left_out(page: Page, instance: Instance) -> None:
    elsewhere = instance.api("GET", "/projects/catalogue/features?limit=1")["features"]
    archived = instance.api("GET", f"{CHECKOUT}/features?limit=1&archived=true")["features"]
    known = [row["name"] for row in [*elsewhere, *archived]]
    paste(page, [*known, "checkout.basket.v9", "checkout.no-such-thing"], "Edit tags")


@place("Edit tags of 0")
def picker_nothing(page: Page, _: Instance) -> None:
    paste(page, ["no.such.feature"], "Edit tags")


@place("Edit tags of 12")
def picker_none_match(page: Page, instance: Instance) -> None:
    picker(page, instance)
    page.goto(f"{page.url}&text=nothing-like-it&add=risk:low&remove=simple:seo")


@place("Edit tags of 12")
def picker_near(page: Page, instance: Instance) -> None:
    picker(page, instance)
    new_tag(page, "team", "Baskets")


@place("Edit tags of 12")
def picker_new_refused(page: Page, instance: Instance) -> None:
    picker(page, instance)
    new_tag(page, "team", "x")


@place("Review the tags of 12")
def tags_review(page: Page, instance: Instance) -> None:
    picker(page, instance)
    new_tag(page, "simple", "winter-sale")
    choose(page, "risk:low", "Add to all")
    choose(page, "team:basket", "Remove from all")
    press(page, "Review")


@place("Review the tags of 12")
def tags_review_outdated(page: Page, instance: Instance) -> None:
    id = instance.project(12)
    _review(page, instance, id)
    instance.untag(id, "team:basket", names(12, id)[0])
    confirm(page)


@place("Tags of 12 features changed")
def tags_done(page: Page, instance: Instance) -> None:
    _review(page, instance, instance.project(12))
    confirm(page)


@place("Undo tag changes")
def tags_undo(page: Page, instance: Instance) -> None:
    tags_done(page, instance)
    page.get_by_role("link", name="Undo…").click()


@place("Paste a list of names")
def paste_refused(page: Page, _: Instance) -> None:
    paste(page, [], "Archive…")


@place("Edit type and state of 12")
def bulk_choose(page: Page, instance: Instance) -> None:
    archived = instance.api("GET", f"{CHECKOUT}/features?limit=1&archived=true")["features"]
    some = [row["name"] for row in [*instance.rows[:12], *archived]]
    paste(page, [*some, "checkout.no-such-thing"], "Edit type and state…")


@place("Review the changes to 12")
def bulk_review(page: Page, instance: Instance) -> None:
    bulk_choose(page, instance)
    page.get_by_label("State").select_option("true")
    page.get_by_label("Type").select_option("release")
    press(page, "Review")


@place("12 features changed")
def bulk_done(page: Page, instance: Instance) -> None:
    id = instance.project(12)
    paste(page, names(12, id), "Edit type and state…", f"/projects/{id}")
    page.get_by_label("State").select_option("true")
    press(page, "Review")
    confirm(page)


@place("Undo changes to features")
def bulk_undo(page: Page, instance: Instance) -> None:
    bulk_done(page, instance)
    page.get_by_role("link", name="Undo…").click()


@place("Archive 9 features")
def archive_blocked(page: Page, instance: Instance) -> None:
    rows = instance.rows
    alone = [row["name"] for row in rows if not row["children"]]
    parents = [row["name"] for row in rows if row["children"]]
    archived = instance.api("GET", f"{CHECKOUT}/features?limit=1&archived=true")["features"]
    rest = [archived[0]["name"], alone[3] + "x", "no.such.feature"]
    paste(page, [*parents, *alone[:9], *rest], "Archive…")


@place("Archive ")
def archive_free(page: Page, instance: Instance) -> None:
    tied = [row["name"] for row in instance.rows if row["children"] or row["dependencies"]]
    paste(page, tied, "Archive…")


@place("Delete ")
def delete_archived(page: Page, _: Instance) -> None:
    page.goto(f"{CHECKOUT}?archived=true")
    for row in page.locator("tbody input[type=checkbox]").all():
        row.check()
    press(page, "Delete…")


@place("Archive features")
def archive_nothing(page: Page, _: Instance) -> None:
    paste(page, ["no.such.feature", "another.one"], "Archive…")


@place("Archive ")
def archive_outdated(page: Page, instance: Instance) -> None:
    id = _tied_project(instance)
    tied = names(4, id)
    page.goto(f"/projects/{id}")
    _choose_rows(page, tied[:3])
    press(page, "Archive…")
    instance.tie(id, child=tied[3], parent=tied[1])
    confirm(page)


@place("Archive 2 features")
def archive_detached(page: Page, instance: Instance) -> None:
    id = _tied_project(instance)
    tied = names(4, id)
    instance.tie(id, child=tied[2], parent=tied[1])
    page.goto(f"/projects/{id}")
    _choose_rows(page, [tied[1], tied[3]])
    press(page, "Archive…")
    page.get_by_role("link", name="Remove 2 dependencies").click()


@place("3 features archived")
def archive_done(page: Page, instance: Instance) -> None:
    id = _tied_project(instance)
    page.goto(f"/projects/{id}")
    _choose_rows(page, names(4, id)[:3])
    press(page, "Archive…")
    confirm(page)


@place("Delete tag type")
def tag_type_delete(page: Page, instance: Instance) -> None:
    name = f"season-{len(instance.api('GET', '/tag-types')['tagTypes'])}"
    instance.api("POST", "/tag-types", {"name": name})
    id = instance.project(1)
    [feature] = names(1, id)
    instance.tag(id, f"{name}:winter", feature)
    instance.untag(id, f"{name}:winter", feature)
    page.goto(f"/tags/types/{name}/delete")


@place("Applications")
def applications(page: Page, instance: Instance) -> None:
    report(instance)
    page.goto("/applications")


@place("web-shop")
def application(page: Page, instance: Instance) -> None:
    report(instance)
    page.goto("/applications/web-shop")


@place("web-shop", VIEWER)
def viewer_application(page: Page, instance: Instance) -> None:
    report(instance)
    page.goto("/applications/web-shop")


@place("checkout.")
def usage(page: Page, instance: Instance) -> None:
    page.goto(f"{CHECKOUT}/features/{report(instance)}/usage")
    page.get_by_text("The same as a table").click()


@place("checkout.")
def usage_none(page: Page, instance: Instance) -> None:
    page.goto(f"{CHECKOUT}/features/{instance.child}/usage?environment=development")


@place("Archive 1 feature")
def archive_asked_for(page: Page, instance: Instance) -> None:
    paste(page, [report(instance)], "Archive…")


@place("New segment")
def segment_refused(page: Page, _: Instance) -> None:
    page.goto("/new-segment")
    press(page, "Add constraint")
    page.get_by_label("Name").fill("Staff")
    press(page, "Create segment")


@place("Review the change to Night owls")
def segment_review(page: Page, instance: Instance) -> None:
    constraint = {"contextName": "userId", "operator": "IN", "values": ["1", "2"]}
    known = instance.api("GET", "/segments?text=Night%20owls")["segments"]
    made = (
        known[0]
        if known
        else instance.api("POST", "/segments", {"name": "Night owls", "constraints": [constraint]})
    )
    project = instance.project(2)
    for name in names(2, project):
        for environment in ("development", "production"):
            place = f"/projects/{project}/features/{name}/environments/{environment}/strategies"
            instance.api("POST", place, {"name": "flexibleRollout", "segments": [made["id"]]})
    page.goto(f"/segments/{made['id']}")
    page.get_by_label("Values, one per line").fill("1\n2\n3")
    press(page, "Save segment")


def a_group(instance: Instance) -> dict[str, Any]:
    """A group that gives two roles."""
    grants = [{"id": instance.project(2), "roleId": 5}, {"id": "checkout", "roleId": 4}]
    name = f"payments-engineers-{len(instance.api('GET', '/groups')['groups'])}"
    body = {"name": name, "rootRole": 2, "projects": grants}
    made: dict[str, Any] = instance.api("POST", "/groups", body)
    return made


@place("payments-engineers")
def group(page: Page, instance: Instance) -> None:
    page.goto(f"/groups/{a_group(instance)['id']}")


@place("Groups")
def groups_some(page: Page, instance: Instance) -> None:
    a_group(instance)
    page.goto("/groups")


@place("payments-engineers")
def group_stale(page: Page, instance: Instance) -> None:
    id = a_group(instance)["id"]
    page.goto(f"/groups/{id}")
    instance.api("PUT", f"/groups/{id}", {"rootRole": 3})
    page.get_by_label("Also in the project").select_option("default")
    press(page, "Save")


@place("Delete group")
def group_delete(page: Page, instance: Instance) -> None:
    page.goto(f"/groups/{a_group(instance)['id']}/delete")


@place("New SCIM token")
def scim_token_secret(page: Page, _: Instance) -> None:
    page.goto("/scim-tokens/new")
    page.get_by_label("Name").fill("Okta")
    press(page, "Create token")


@place("Directories")
def directories_some(page: Page, instance: Instance) -> None:
    _directory_at_work(page, instance)
    page.goto("/scim-tokens")


def _directory_at_work(page: Page, instance: Instance) -> None:
    """A directory that has made a user, and deactivated them."""
    made = instance.api("POST", "/scim-tokens", {"tokenName": "Microsoft Entra"})
    user = {
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
        "userName": "nadia.brandt",
        "active": False,
    }
    headers = {
        "Authorization": f"Bearer {made['secret']}",
        "Content-Type": "application/scim+json",
    }
    answer = page.request.post("/scim/v2/Users", data=user, headers=headers)
    assert answer.status in {201, 409}, answer.text()  # 409: another place was here before


@place("Disconnect the directory")
def directories_disconnect(page: Page, instance: Instance) -> None:
    _directory_at_work(page, instance)
    page.goto("/scim-tokens/disconnect")


@place("Revoke Microsoft Entra")
def scim_token_revoke(page: Page, instance: Instance) -> None:
    made = instance.api("POST", "/scim-tokens", {"tokenName": "Microsoft Entra"})
    page.goto(f"/scim-tokens/{made['id']}/revoke")


@place("Checkout")
def access_review_undecided(page: Page, _: Instance) -> None:
    page.goto(f"{CHECKOUT}/access-review")
    page.get_by_role("radio", name="Remove").last.check()
    press(page, "Sign off")


@place("Checkout")
def access_review_sheet(page: Page, instance: Instance) -> None:
    seen = instance.api("GET", f"{CHECKOUT}/access-reviews/current")
    entries = [{"id": each["id"], "decision": "keep"} for each in seen["entries"]]
    body = {"version": seen["version"], "entries": entries, "comment": "Third quarter"}
    made = instance.api("POST", f"{CHECKOUT}/access-reviews", body)
    page.goto(f"{CHECKOUT}/access-reviews/{made['id']}")


@place("Checkout")
def access_reviews(page: Page, instance: Instance) -> None:
    access_review_sheet(page, instance)
    page.goto(f"{CHECKOUT}/access-reviews")


@place("New tag type")
def tag_type_refused(page: Page, _: Instance) -> None:
    page.goto("/tags/new-type")
    page.get_by_label("Name").fill("Not A Name")
    press(page, "Create tag type")


@place("Tags")
def tags_nearly_alike(page: Page, instance: Instance) -> None:
    id = instance.project(1)
    added = [{"value": value} for value in ("Growth", "performances", "securty")]
    changes = {"addedTags": added, "removedTags": []}
    instance.api("PUT", f"/projects/{id}/tags", {"features": names(1, id), "tags": changes})
    page.goto("/tags")


@place("Tag type")
def tag_type_stale(page: Page, instance: Instance) -> None:
    name = f"period-{len(instance.api('GET', '/tag-types')['tagTypes'])}"
    instance.api("POST", "/tag-types", {"name": name, "description": "When"})
    page.goto(f"/tags/types/{name}")
    instance.api("PUT", f"/tag-types/{name}", {"description": "When it was asked for", "hue": 4})
    page.get_by_label("Description").fill("The quarter of the year")
    press(page, "Save")


@place("New environment")
def environment_refused(page: Page, _: Instance) -> None:
    page.goto("/new-environment")
    page.get_by_label("Name").fill("not a name")
    page.get_by_label("Position").fill("first")
    press(page, "Create environment")


@place("New context field")
def context_field_refused(page: Page, _: Instance) -> None:
    page.goto("/new-context-field")
    page.get_by_label("Name").fill("not a name")
    page.get_by_label("Legal values").fill("NO Norway\nNO")
    press(page, "Create field")


@place("Context field")
def context_field_stale(page: Page, instance: Instance) -> None:
    name = f"field-{len(instance.api('GET', '/context'))}"
    instance.api("POST", "/context", {"name": name, "legalValues": [{"value": "a"}]})
    page.goto(f"/context-fields/{name}")
    instance.api("PUT", f"/context/{name}", {"description": "Someone else was here"})
    press(page, "Save")


@place("New strategy type")
def strategy_type_refused(page: Page, _: Instance) -> None:
    page.goto("/new-strategy-type")
    for _number in range(2):
        press(page, "Add parameter")
    page.get_by_label("Name").first.fill("not a name")
    press(page, "Create type")


@place("Strategy type")
def strategy_type_in_use(page: Page, instance: Instance) -> None:
    name = f"type-{instance.next_number()}"
    parameters = [{"name": "regions", "type": "list", "required": True}, {"name": "note"}]
    instance.api("POST", "/strategies", {"name": name, "parameters": parameters})
    instance.api("POST", f"/strategies/{name}/deprecate")
    feature = {"name": f"uses-{name}"}
    instance.api("POST", "/projects/default/features", feature)
    where = f"/projects/default/features/{feature['name']}/environments/development/strategies"
    instance.api("POST", where, {"name": name, "parameters": {"regions": "north"}})
    page.goto(f"/strategy-types/{name}")


@place("Environment")
def environment_stale(page: Page, instance: Instance) -> None:
    number = len(instance.api("GET", "/environments")["environments"])
    name = f"load-test-{number}"
    instance.api("POST", "/environments", {"name": name, "type": "test"})
    page.goto(f"/environments/{name}")
    instance.api("PUT", f"/environments/{name}", {"type": "development"})
    press(page, "Save")


@place("New user")
def user_new_refused(page: Page, _: Instance) -> None:
    page.goto("/users/new")
    page.get_by_label("User name (this").fill(ADMIN)
    page.get_by_label("E-mail (this or a user name)").fill("no address")
    press(page, "Create user")


@place("Nora Night")
def user_link(page: Page, instance: Instance) -> None:
    page.goto("/users/new")
    page.get_by_label("User name (this").fill(f"nora-{instance.next_number()}")
    page.get_by_label("Full name").fill("Nora Night")
    press(page, "Create user")


@place("Nils Night")
def user(page: Page, instance: Instance) -> None:
    page.goto(f"/users/{_newcomer(instance)}")


@place("Tomás Herrera")
def user_active(page: Page, instance: Instance) -> None:
    [colleague] = instance.api("GET", f"/user-admin?text={COLLEAGUE}")["users"]
    page.goto(f"/users/{colleague['id']}")


@place("Nils Night")
def user_refused(page: Page, instance: Instance) -> None:
    user(page, instance)
    page.get_by_label("User name (this").fill(ADMIN)
    press(page, "Save")


@place("Nils Night")
def user_stale(page: Page, instance: Instance) -> None:
    id = _newcomer(instance)
    page.goto(f"/users/{id}")
    instance.api("PUT", f"/user-admin/{id}", {"email": "nils@example.org", "rootRole": 2})
    page.get_by_text("Add a reason").click()
    page.get_by_label("Reason").fill("asked for")
    press(page, "Save")


@place("Delete Nils Night")
def user_delete(page: Page, instance: Instance) -> None:
    id = _newcomer(instance)
    owner = {"id": id, "roleId": 4}
    instance.api("PUT", f"/projects/{instance.project()}/access", {"members": [owner]})
    page.goto(f"/users/{id}/delete")


@place("Delete Ada Lindqvist")
def user_delete_yourself(page: Page, instance: Instance) -> None:
    rows = instance.api("GET", f"/user-admin?text={ADMIN}")["users"]
    page.goto(f"/users/{rows[0]['id']}/delete")


@place("Users")
def users_deleted(page: Page, instance: Instance) -> None:
    instance.api("DELETE", f"/user-admin/{_newcomer(instance)}")
    page.goto("/users/deleted")


@place("Users")
def users_selected(page: Page, instance: Instance) -> None:
    page.goto("/users")
    for box in page.locator("tbody [type=checkbox]").all()[:2]:
        box.check()


@place("Review the changes to 2 users")
def users_edit_review(page: Page, instance: Instance) -> None:
    users_selected(page, instance)
    page.get_by_role("button", name="Edit role, project or sessions").click()
    page.get_by_label("Role", exact=True).select_option("Editor")
    page.get_by_label("Add to project").fill("checkout")
    page.get_by_label("Sign them out everywhere").check()
    press(page, "Review")


@place("Delete ")
def inactive_review(page: Page, instance: Instance) -> None:
    instance.absent(10)
    page.goto("/users/inactive")
    for box in page.locator("tbody input[name=id]").all():
        box.check()
    press(page, "Delete…")


@place("Delete ")
def inactive_review_refused(page: Page, instance: Instance) -> None:
    inactive_review(page, instance)
    page.get_by_label("Type the number").fill("some")
    page.locator("main form .button--danger").click()


@place("2 users deleted")
def inactive_removed(page: Page, instance: Instance) -> None:
    people = instance.absent(3)
    page.goto("/users/inactive")
    choose_people(page, *people)
    press(page, "Delete…")
    instance.come_back(people[0])
    page.locator("main form .button--danger").click()


@place("Night robot")
def service_account(page: Page, instance: Instance) -> None:
    id, _ = _robot(instance)
    instance.api("POST", f"/service-account/{id}/token", {"description": "never ends"})
    page.goto(f"/service-accounts/{id}")


@place("Night robot")
def service_account_stale(page: Page, instance: Instance) -> None:
    id, _ = _robot(instance)
    page.goto(f"/service-accounts/{id}")
    instance.api("PUT", f"/service-account/{id}", {"rootRole": 2})
    press(page, "Save")


@place("New service account")
def service_account_refused(page: Page, instance: Instance) -> None:
    page.goto("/service-accounts/new")
    page.get_by_label("User name").fill(ADMIN)
    press(page, "Create service account")


@place("Delete Night robot")
def service_account_delete(page: Page, instance: Instance) -> None:
    id, _ = _robot(instance)
    page.goto(f"/service-accounts/{id}/delete")
    press(page, "Delete Night robot")


@place("New token of Night robot")
def token_new(page: Page, instance: Instance) -> None:
    id, _ = _robot(instance)
    page.goto(f"/service-accounts/{id}/tokens/new")


@place("New token of Night robot")
def token_new_refused(page: Page, instance: Instance) -> None:
    token_new(page, instance)
    page.get_by_label("Expires").select_option("date")
    press(page, "Create token")


@place("New token of Night robot")
def token_secret(page: Page, instance: Instance) -> None:
    token_new(page, instance)
    page.get_by_label("Description").fill("laptop")
    press(page, "Create token")


def _confirm(page: Page, instance: Instance) -> None:
    page.goto("/account/tokens/new")
    page.get_by_label("Description").fill("laptop")
    instance.let_password_be_given(datetime(2020, 1, 1, tzinfo=UTC))
    press(page, "Create token")


@place("Confirm your identity")
def confirm_wrong(page: Page, instance: Instance) -> None:
    _confirm(page, instance)
    page.get_by_label("Your password").fill("another one that is wrong")
    press(page, "Confirm")
    page.get_by_text("This is not your password.").wait_for()


@place("Two-step sign-in", None)
def second_step_off(page: Page, instance: Instance) -> None:
    _sign_in_newcomer(page, instance)
    page.goto("/account/second-step")


def _second_step_begun(page: Page, instance: Instance) -> None:
    second_step_off(page, instance)
    press(page, "Set up two-step sign-in")


@place("Set up two-step sign-in", None)
def second_step_wrong(page: Page, instance: Instance) -> None:
    _second_step_begun(page, instance)
    page.get_by_role("textbox", name="Code").fill("not a code")
    press(page, "Turn on")
    page.get_by_text("This code is wrong").first.wait_for()


@place("Recovery codes", None)
def second_step_codes(page: Page, instance: Instance) -> None:
    _second_step_begun(page, instance)
    page.get_by_role("textbox", name="Code").fill(code_of(page))
    press(page, "Turn on")


@place("Two-step sign-in", None)
def second_step_on(page: Page, instance: Instance) -> None:
    second_step_codes(page, instance)
    page.get_by_role("link", name="Done").click()


def _sign_in_code(page: Page, instance: Instance) -> None:
    username = _sign_in_newcomer(page, instance)
    page.goto("/account/second-step")
    press(page, "Set up two-step sign-in")
    page.get_by_role("textbox", name="Code").fill(code_of(page))
    press(page, "Turn on")
    page.get_by_role("heading", name="Recovery codes").wait_for()
    page.context.clear_cookies()
    page.goto("/sign-in")
    page.get_by_label("User name or e-mail").fill(username)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    press(page, "Sign in")


@place("Enter your code", None)
def sign_in_code_wrong(page: Page, instance: Instance) -> None:
    _sign_in_code(page, instance)
    page.get_by_role("textbox", name="Code").fill("000000")
    press(page, "Sign in")
    page.get_by_text("This code is wrong").wait_for()


@place("Rotate nights")
def token_rotate(page: Page, instance: Instance) -> None:
    id, token = _robot(instance)
    page.goto(f"/service-accounts/{id}/tokens/{token['id']}/rotate")


@place("Revoke nights")
def token_revoke(page: Page, instance: Instance) -> None:
    id, token = _robot(instance)
    page.goto(f"/service-accounts/{id}/tokens/{token['id']}/revoke")


@place("Checkout")
def palette_start(page: Page, _: Instance) -> None:
    page.goto(CHECKOUT)
    open_palette(page)
    page.locator(".hit").first.wait_for()


@place("Checkout")
def palette(page: Page, instance: Instance) -> None:
    palette_start(page, instance)
    page.keyboard.type("pay")
    page.locator(".hit mark").first.wait_for()


@place("Checkout")
def palette_nothing(page: Page, instance: Instance) -> None:
    palette_start(page, instance)
    page.keyboard.type("chekcuot")
    page.get_by_text("Did you mean").first.wait_for()


def open_palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.get_by_role("dialog", name="Search").wait_for()


@place("SDK tokens")
def sdk_tokens(page: Page, instance: Instance) -> None:
    for asked in ({}, {"projects": ["checkout"]}, {"type": "frontend", "expiresAt": SOON}):
        new_sdk_token(instance, **asked)
    page.goto("/sdk-tokens")


@place("Webhooks")
def webhooks(page: Page, instance: Instance) -> None:
    _webhook(instance, paused=True)
    _webhook(instance)
    page.goto("/webhooks")


@place("Chat")
def webhook(page: Page, instance: Instance) -> None:
    """With messages that could not be sent."""
    id = _webhook(instance)
    for _ in range(2):
        instance.api("POST", f"/webhooks/{id}/test")
    page.goto(f"/webhooks/{id}?status=failed")
    reload_until(page, page.get_by_role("button", name="Send again"))
    page.goto(f"/webhooks/{id}")


@place("Edit Chat")
def webhook_edit(page: Page, instance: Instance) -> None:
    page.goto(f"/webhooks/{_webhook(instance)}/edit")


@place("Rotate the secret of Chat")
def webhook_rotate(page: Page, instance: Instance) -> None:
    page.goto(f"/webhooks/{_webhook(instance)}/rotate")


@place("Secret of Chat")
def webhook_secret(page: Page, instance: Instance) -> None:
    page.goto(f"/webhooks/{_webhook(instance)}/rotate")
    press(page, "Rotate secret")


@place("Delete Chat")
def webhook_delete(page: Page, instance: Instance) -> None:
    page.goto(f"/webhooks/{_webhook(instance)}/delete")


@place("Rotate web-shop")
def sdk_token_rotate(page: Page, instance: Instance) -> None:
    page.goto(f"/sdk-tokens/{new_sdk_token(instance)['id']}/rotate")


@place("Revoke web-shop")
def sdk_token_revoke(page: Page, instance: Instance) -> None:
    page.goto(f"/sdk-tokens/{new_sdk_token(instance)['id']}/revoke")


@place("Connect an application")
def connect_refused(page: Page, _: Instance) -> None:
    page.goto("/connect")
    press(page, "Create token")


@place("Connect an application")
def connect_token(page: Page, instance: Instance) -> None:
    page.goto("/connect")
    page.get_by_label("Application name").fill(f"mobile-{instance.next_number()}")
    page.get_by_label("production").check()
    page.get_by_label("All projects").check()
    press(page, "Create token")


@place("Connect an application")
def connect_waiting(page: Page, instance: Instance) -> None:
    page.goto(f"/sdk-tokens/{new_sdk_token(instance)['id']}/contact")


@place("Connect an application")
def connect_seen(page: Page, instance: Instance) -> None:
    token = new_sdk_token(instance)
    use_token(instance, token["secret"])
    page.goto(f"/sdk-tokens/{token['id']}/contact")
    reload_until(page, page.get_by_text("is connected").filter(visible=True))


@place("Check a leaked token")
def find_token_of_an_sdk(page: Page, instance: Instance) -> None:
    _look_up(page, new_sdk_token(instance)["secret"])


@place("Check a leaked token")
def find_token_found(page: Page, instance: Instance) -> None:
    _, token = _robot(instance)
    _look_up(page, token["secret"])


@place("Check a leaked token")
def find_token_unknown(page: Page, _: Instance) -> None:
    _look_up(page, "no token")


def choose_people(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_label(f"Select {name}", exact=True).check()


def _newcomer(instance: Instance) -> int:
    username = f"nils-{instance.next_number()}"
    body = {"username": username, "name": "Nils Night", "rootRole": 3}
    return int(instance.api("POST", "/user-admin", body)["id"])


def _sign_in_newcomer(page: Page, instance: Instance) -> str:
    """Their user name."""
    username = f"noor-{instance.next_number()}"
    body = {"username": username, "name": "Noor Night", "rootRole": 1}
    instance.api("POST", "/user-admin", body)
    page.goto(instance.link(username))
    page.get_by_label("New password").fill(PASSWORD)
    press(page, "Set password")
    expect(page.get_by_role("heading", level=1)).to_have_text("Home")
    return username


def code_of(page: Page) -> str:
    """What an authenticator would show that has the secret of this page."""
    secret = page.locator("pre code").inner_text().replace(" ", "")
    return pyotp.TOTP(secret).now()


def _robot(instance: Instance) -> tuple[int, dict[str, Any]]:
    """A service account and its token."""
    body = {"name": "Night robot", "rootRole": 3}
    id = int(instance.api("POST", "/service-account", body)["id"])
    body = {"description": "nights", "expiresAt": "2999-01-01T00:00:00.000Z"}
    return id, instance.api("POST", f"/service-account/{id}/token", body)


def _webhook(instance: Instance, **asked: Any) -> int:
    body = {
        "name": f"Chat {instance.next_number()}",
        "url": "http://127.0.0.1:9/hook",
        "eventTypes": ["feature-created", "feature-archived"],
        **asked,
    }
    return int(instance.api("POST", "/webhooks", body)["id"])


def new_sdk_token(instance: Instance, **asked: Any) -> dict[str, Any]:
    name = f"web-shop-{instance.next_number()}"
    body = {"tokenName": name, "type": "client", "environment": "production", **asked}
    created: dict[str, Any] = instance.api("POST", "/api-tokens", body)
    return created


def use_token(instance: Instance, secret: str) -> None:
    """Read features, as an application does."""
    address = f"{instance.address}/api/client/features"
    with urlopen(Request(address, headers={"Authorization": secret}), timeout=30) as answer:
        assert answer.status == 200


def _look_up(page: Page, secret: str) -> None:
    page.goto("/service-accounts/find-token")
    page.get_by_label("The token you found").fill(secret)
    press(page, "Check token")


def press(page: Page, name: str) -> None:
    """Press a button, and wait for the page it leads to with all its scripts."""
    page.get_by_role("button", name=name, exact=True).first.click()
    page.wait_for_load_state()


def reload_until(page: Page, wanted: Locator) -> None:
    """Open a page again until it has what is written some time after the answer."""
    await_written(wanted.count, page.reload)


def paste(page: Page, features: list[str], then: str, project: str = CHECKOUT) -> None:
    page.goto(f"{project}/paste")
    page.get_by_label("Feature names").fill("\n".join(features))
    press(page, then)


def new_tag(page: Page, type: str, value: str) -> None:
    page.locator("#new-type").select_option(type)
    page.get_by_label("Value").fill(value)
    press(page, "Add to the list")


def choose(page: Page, tag: str, choice: str) -> None:
    """What to do with a tag: with scripts its box, without them its radios."""
    row = page.locator("#tags tr", has=page.get_by_text(tag, exact=True)).first
    box = row.get_by_role("checkbox")
    if not box.count():
        row.locator("label", has_text=re.compile(f"{choice}$")).click()
        return
    for _ in range(3):
        if row.get_by_text(choice, exact=True).filter(visible=True).count():
            return
        box.click()


def confirm(page: Page) -> None:
    """The main button of a review."""
    page.locator("main form .button--primary").last.click()
    page.wait_for_load_state()


def _choose_rows(page: Page, features: list[str]) -> None:
    for name in features:
        page.get_by_label(f"Select {name}", exact=True).check()


def _review(page: Page, instance: Instance, project: str) -> None:
    """The review of one tag more, one less, and a new one, on all features."""
    some = names(12, project)
    instance.tag(project, "risk:low", *some[:5])
    instance.tag(project, "team:basket", *some[:7])
    paste(page, some, "Edit tags", f"/projects/{project}")
    new_tag(page, "simple", "night-only")
    choose(page, "risk:low", "Add to all")
    choose(page, "team:basket", "Remove from all")
    press(page, "Review")


def _tied_project(instance: Instance) -> str:
    id = instance.project(4)
    child, parent, *_ = names(4, id)
    instance.tie(id, child=child, parent=parent)
    return id
