from collections.abc import Collection
from typing import Any

from app.portal.display import schemas
from app.web.forms import SchemaForm
from app.web.rooms import Choice


class DisplayForm(SchemaForm):
    """Check boxes ``show``, one for each part. ``shown``: those that are checked."""

    schema = schemas.HiddenParts

    def __init__(self, choice: Choice, hidden: Collection[str]) -> None:
        super().__init__()
        self.parts = choice.parts
        if self.sent is None:
            self.shown = [part for part in choice.parts if part not in hidden]
        else:
            self.shown = self.sent.getlist("show")

    def payload(self) -> dict[str, Any]:
        return {"hidden": [part for part in self.parts if part not in self.shown]}
