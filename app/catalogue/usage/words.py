"""How often a feature was on, in words."""

from app.core.words import counted


def share(yes: int, checks: int) -> str:
    """Return a percentage such as ``25.4%``. It is 0% or 100% only if that is exact."""
    if not checks:
        return "–"
    percent = 100 * yes / checks
    if 0 < yes < checks:
        percent = min(max(percent, 0.1), 99.9)
    return f"{percent:.1f}".removesuffix(".0") + "%"


def on_for(yes: int, no: int) -> str:
    """Return ``On for 26,806 of 190,112 checks (14.1%)``, or ``No checks``."""
    checks = yes + no
    if not checks:
        return "No checks"
    return f"On for {yes:,} of {counted(checks, 'check')} ({share(yes, checks)})"
