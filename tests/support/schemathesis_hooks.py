"""What Schemathesis reports and no JSON Schema can say."""

from typing import Any

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData


@schemathesis.hook
def filter_failure(_context: Any, failure: Any, case: Any, _response: Any) -> bool:
    """Keep a failure, unless a text was wrong only by what stands around it.

    Texts are trimmed before they are checked; a schema's ``maxLength`` and ``pattern`` see all.
    """
    sent = [case.body, dict(case.query or {})]
    return not (isinstance(failure, AcceptedNegativeData) and _has_untrimmed_text(sent))


def _has_untrimmed_text(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_untrimmed_text, value.values()))
    if isinstance(value, list):
        return any(map(_has_untrimmed_text, value))
    return isinstance(value, str) and value != value.strip()
