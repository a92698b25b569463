"""``python -m tests.unleash`` writes docs/unleash-api.md."""

from tests.unleash.test_operations import DOCUMENT, written

DOCUMENT.write_text(written(), "utf-8")
