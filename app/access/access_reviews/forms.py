from typing import Any

from wtforms import TextAreaField

from app.access.access_reviews import schemas
from app.access.access_reviews.schemas import KEEP, REMOVE
from app.access.access_reviews.service import Current
from app.web.forms import SchemaForm

FIELD = "decision-"
"""Start of the names of inputs with decisions; the id of the account follows."""


class SignOffForm(SchemaForm):
    """``decisions``: the choice for each member, by account id; empty if there is none yet."""

    schema = schemas.SignOff

    comment = TextAreaField("Comment", description="Kept with the review.")

    def __init__(self, current: Current) -> None:
        super().__init__()
        sent = self.sent or {}
        self.version = sent.get("version", current.version)
        self.decisions = {
            each.account.id: sent.get(f"{FIELD}{each.account.id}", "")
            for each in current.candidates
        }
        if "keep_rest" in sent and self.version == current.version:
            self.decisions = {id: chosen or KEEP for id, chosen in self.decisions.items()}

    def payload(self) -> dict[str, Any]:
        return super().payload() | {
            "version": self.version,
            "entries": [
                {"id": id, "decision": chosen}
                for id, chosen in self.decisions.items()
                if chosen in {KEEP, REMOVE}
            ],
        }
