"""Which environments of a project need approvals, read and set one by one."""

from app.accounts.models import Account
from app.catalogue.projects import service as projects
from app.catalogue.projects.service import ApprovalRule
from app.catalogue.strategies.queries import ProjectUse, environments_of
from app.catalogue.strategies.service import project_environment
from app.core.actor import Actor
from app.releases.change_requests import queries


def environments(actor: Actor, project_id: str) -> list[ProjectUse]:
    """The environments of a project, with the approvals that changes there need."""
    projects.require(actor, project_id)
    return environments_of([project_id]).get(project_id, [])


def approvers(actor: Actor, project_id: str, environment: str) -> list[Account]:
    """People who can approve changes there. No one can approve their own."""
    projects.require(actor, project_id)
    project_environment(project_id, environment)
    return queries.approvers(project_id)


def set_required(
    actor: Actor, project_id: str, environment: str, *, enabled: bool, required: int | None
) -> bool:
    """Require this many approvals in an environment, or none. Return whether anything changed.

    ``required``: ignored unless ``enabled``. None keeps the current number, which is 1 at first.
    """
    project = projects.get_for_change(actor, project_id)
    project_environment(project_id, environment)
    rules = {
        rule.environment: rule.required_approvals for rule in project.change_request_environments
    }
    if not enabled:
        rules.pop(environment, None)
    else:
        rules[environment] = required or rules.get(environment, 1)
    return projects.set_environments(
        actor,
        project,
        environments=project.environments,
        change_request_environments=[
            ApprovalRule(name=name, required_approvals=number) for name, number in rules.items()
        ],
    )
