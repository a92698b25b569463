"""What this room shows to the others: switching and change requests."""

from app.releases import reminders
from app.releases.change_requests import api as change_requests_api
from app.releases.change_requests import pages as change_requests_pages
from app.releases.change_requests import pages_archive as proposal_archive_pages
from app.releases.change_requests import pages_bulk as proposal_bulk_pages
from app.releases.change_requests import pages_projects as proposal_project_pages
from app.releases.change_requests import pages_proposing as proposal_pages
from app.releases.change_requests import pages_releases as proposal_release_pages
from app.releases.change_requests import pages_strategies as proposal_strategy_pages
from app.releases.change_requests import pending
from app.releases.plans import api as plans_api
from app.releases.plans import pages as plans_pages
from app.releases.plans import pages_start as start_pages
from app.releases.selected import pages as selected_pages
from app.releases.switching import api as switching_api
from app.releases.switching import api_defaults as default_strategies_api
from app.releases.switching import api_segments as segments_of_strategies_api
from app.releases.switching import pages as switching_pages
from app.releases.switching import pages_bulk as switching_pages_bulk
from app.releases.switching import pages_copying as copying_pages
from app.releases.switching import pages_strategies as strategy_pages
from app.releases.templates import api as templates_api
from app.releases.templates import pages as templates_pages
from app.web.navigation import Entry, Heading
from app.web.rooms import Reminder, Room

ROOM = Room(
    apis=(
        switching_api.bp,
        default_strategies_api.bp,
        segments_of_strategies_api.bp,
        change_requests_api.bp,
        templates_api.bp,
        templates_api.project_bp,
        plans_api.bp,
    ),
    pages=(
        switching_pages.bp,
        switching_pages_bulk.bp,
        strategy_pages.bp,
        copying_pages.bp,
        selected_pages.bp,
        change_requests_pages.bp,
        proposal_pages.bp,
        proposal_strategy_pages.bp,
        proposal_bulk_pages.bp,
        proposal_archive_pages.bp,
        proposal_project_pages.bp,
        proposal_release_pages.bp,
        plans_pages.bp,
        start_pages.bp,
        templates_pages.bp,
    ),
    starts=(change_requests_pages.init_app, proposal_pages.init_app, plans_pages.init_app),
    entries=(
        Entry(
            Heading.EVERYONE,
            5,
            "Change requests",
            "change_request_pages.inbox",
            number=pending.number,
        ),
        Entry(Heading.EVERYONE, 6, "Releases", "release_pages.index", also="/releases"),
    ),
    lists={
        "change_request_pages.inbox": "Change requests",
        "change_request_pages.index": "Change requests of {project_id}",
        "release_pages.index": "Releases under way",
        "release_pages.index_ended": "Ended releases",
        "release_template_pages.index": "Release templates",
    },
    reminders=(
        Reminder(
            1,
            "failed",
            "Schedules that failed",
            reminders.failed,
            "Open",
            "change_request_pages.show",
        ),
        Reminder(
            1,
            "changed",
            "Your change requests that changed since their approval",
            reminders.changed,
            "Open",
            "change_request_pages.show",
        ),
        Reminder(
            1,
            "releases-held",
            "Releases on hold, and those that couldn’t start",
            reminders.held,
            "See why",
            "feature_pages.show",
        ),
        Reminder(
            3,
            "releases-waiting",
            "Releases that wait for someone",
            reminders.waiting,
            "Open",
            "feature_pages.show",
        ),
        Reminder(
            2,
            "to-approve",
            "Change requests that wait for your approval",
            reminders.to_approve,
            "Review",
            "change_request_pages.inbox",
            one="change_request_pages.show",
        ),
        Reminder(
            3,
            "to-apply",
            "Change requests that can be applied",
            reminders.to_apply,
            "Apply…",
            "change_request_pages.inbox",
            one="change_request_pages.show",
        ),
        Reminder(
            4,
            "rejected",
            "Your change requests that were rejected",
            reminders.rejected,
            "Read",
            "change_request_pages.show",
        ),
    ),
)
