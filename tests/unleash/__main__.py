"""``python -m tests.unleash`` writes docs/unleash-api.md."""

from tests.unleash.table import DOCUMENT, written

DOCUMENT.write_text(written(), "utf-8")
