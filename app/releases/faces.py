"""What this room shows to the others: switching and change requests."""

from app.releases import reminders
from app.releases.change_requests import api as change_requests_api
from app.releases.change_requests import pages as change_requests_pages
from app.releases.change_requests import pages_archive as proposal_archive_pages
from app.releases.change_requests import pages_bulk as proposal_bulk_pages
from app.releases.change_requests import pages_projects as proposal_project_pages
from app.releases.change_requests import pages_proposing as proposal_pages
from app.releases.change_requests import pages_strategies as proposal_strategy_pages
from app.releases.change_requests import pending
from app.releases.plans import api as plans_api
from app.releases.selected import pages as selected_pages
from app.releases.switching import api as switching_api
from app.releases.switching import api_defaults as default_strategies_api
from app.releases.switching import api_segments as segments_of_strategies_api
from app.releases.switching import pages as switching_pages
from app.releases.switching import pages_bulk as switching_pages_bulk
from app.releases.switching import pages_copying as copying_pages
from app.releases.switching import pages_strategies as strategy_pages
from app.releases.templates import api as templates_api
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
    ),
    starts=(change_requests_pages.init_app, proposal_pages.init_app),
    entries=(
        Entry(
            Heading.EVERYONE,
            5,
            "Change requests",
            "change_request_pages.inbox",
            number=pending.number,
        ),
    ),
    lists={
        "change_request_pages.inbox": "Change requests",
        "change_request_pages.index": "Change requests of {project_id}",
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
