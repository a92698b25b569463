from typing import Any
from urllib.parse import urlsplit

from flask import request
from wtforms import StringField

from app.portal.saved_filters import schemas
from app.portal.saved_filters.schemas_lists import title_of
from app.web.forms import SchemaForm


class NameForm(SchemaForm):
    schema = schemas.SavedFilterUpdate

    name = StringField("Name", description="For example: my team’s stale features")


class NewSavedFilterForm(NameForm):
    """``address``: of the list. It comes from the query string of the form; no one types it."""

    schema = schemas.NewSavedFilter

    def __init__(self) -> None:
        super().__init__()
        self.address = request.args.get("address", "")

    def payload(self) -> dict[str, Any]:
        return super().payload() | {"address": self.address}

    @property
    def list_title(self) -> str | None:
        """What people call the list; None if the address belongs to no list."""
        return title_of(urlsplit(self.address).path)
