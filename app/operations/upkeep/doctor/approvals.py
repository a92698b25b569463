"""Environments where too few people can approve changes."""

from collections.abc import Iterator

from app.catalogue.approvals.service import shortages
from app.core.config import Settings
from app.core.words import counted
from app.operations.upkeep.doctor.findings import Finding, fine, warning

ABOUT = "approvals"
REMEDY = "Add members to the project, or let changes there need fewer approvals, in its settings."


def check_approvals(_settings: Settings) -> Iterator[Finding]:
    """Check that enough people can approve what others propose: no one approves their own."""
    found = [warning(ABOUT, _words(*shortage), REMEDY) for shortage in shortages()]
    yield from found or [fine(ABOUT, "Enough people can approve what others propose.")]


def _words(project: str, environment: str, required: int, people: int) -> str:
    needs = (
        f"Changes in {environment} of project {project} need {counted(required, 'approval')}, and "
        f"{counted(people, 'person', 'people')} can approve there"
    )
    if people < required:
        return f"{needs}. No change request can be approved."
    return (
        f"{needs}. What one of them proposes can’t be approved, because no one approves their own."
    )
