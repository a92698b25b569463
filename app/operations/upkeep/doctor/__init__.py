"""The checks of ``flagstaff doctor``: problems of an instance and how to fix them."""

from collections.abc import Iterator

from app.core.config import Settings
from app.operations.upkeep.doctor.findings import Finding
from app.operations.upkeep.doctor.instance import check_backup, check_database
from app.operations.upkeep.doctor.machine import check_disk, check_files
from app.operations.upkeep.doctor.proxy import check_proxy
from app.operations.upkeep.doctor.settings import check_settings
from app.operations.upkeep.doctor.sign_on import check_sign_on


def run_checks(settings: Settings, key: str, *, url: str | None) -> Iterator[Finding]:
    """Run all checks, with ``url`` also those of the reverse proxy there. Nothing is changed."""
    yield from check_settings(settings)
    yield from check_files(settings)
    yield from check_disk(settings)
    yield from check_database(settings)
    yield from check_backup(settings)
    yield from check_sign_on(settings)
    if url is not None:
        yield from check_proxy(url, settings, key)
