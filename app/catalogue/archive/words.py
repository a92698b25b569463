"""Sentences about a plan."""

from app.catalogue.archive.service import ArchivePlan, AskedFor
from app.core.words import counted


def title(plan: ArchivePlan) -> str:
    """The heading of the preview."""
    if not plan.archivable:
        return "Archive features"
    return f"Archive {counted(len(plan.archivable), 'feature')}"


def asked_for(one: AskedFor) -> str:
    """How many applications still ask for a feature, and when one last did."""
    by = counted(one.applications, "application")
    return f"still checked by {by}, last on {one.last_seen_at:%Y-%m-%d at %H:%M} UTC"


def verdict(plan: ArchivePlan, *, left_out: int) -> tuple[str, str]:
    """How many of the names can be archived, and why not the rest.

    ``left_out``: the number of names that are not features of the project.
    """
    can, blocked, archived = len(plan.archivable), len(plan.blocked), len(plan.archived)
    rest = []
    if blocked:
        rest.append(f"Other features depend on {blocked:,} of them.")
    if archived:
        rest.append(f"{counted(archived, 'is', 'are')} already archived.")
    if left_out:
        rest.append(f"{counted(left_out, 'isn’t', 'aren’t')} in this project.")
    total = len(plan.ids) + archived + left_out
    if not can:
        sentence = f"Nothing can be archived{' yet' if blocked else ''}."
    elif can < total:
        sentence = f"{can:,} of {total:,} can be archived."
    else:
        sentence = "It can be archived." if can == 1 else f"All {can:,} can be archived."
    return sentence, " ".join(rest)
