import json
from collections.abc import Iterable
from typing import Any

from flask import request
from wtforms import (
    FileField,
    HiddenField,
    PasswordField,
    SelectMultipleField,
    StringField,
    TextAreaField,
)

from app.catalogue.features import selections
from app.exchange.unleash import schemas_imports
from app.web.forms import SchemaForm

SOURCES = [("unleash", "A running Unleash"), ("file", "An export file")]


class NewImportForm(SchemaForm):
    """The source of an import. A file has what a client would send as ``content``."""

    schema = schemas_imports.NewImport

    source = StringField("Where from?", default="unleash")
    url = StringField("Address", description="As in your browser, without /api.")
    token = PasswordField(
        "Personal access token of an admin",
        description="Used for this import only and never stored. In Unleash: Profile, then "
        "Personal API tokens.",
    )
    file = FileField("Export file", description="If you chose a file. JSON.")

    def __init__(self) -> None:
        super().__init__()
        for field in (self.url, self.token):
            field.flags.required = True

    def validate(self, extra_validators: Any = None) -> bool:
        if self.source.data == "file":
            self.url.data = self.token.data = ""
            sent = request.files.get("file")
            if sent is None or not sent.filename:
                self.show([("file", "Choose a file.")])
                return False
        return super().validate(extra_validators)

    def payload(self) -> dict[str, Any]:
        if self.source.data != "file":
            return super().payload()
        try:
            return {"content": json.load(request.files["file"].stream)}
        except (ValueError, RecursionError) as error:
            self.show([("file", f"This is not JSON: {error}.")])
            return {"content": {}}


class ChoiceForm(SchemaForm):
    """Which features come. All blank: everything."""

    schema = schemas_imports.ImportChoice

    projects = SelectMultipleField("Projects", validate_choice=False)
    prefix = StringField("Names begin with", description="For example “checkout.”")
    names = TextAreaField(
        "These features only",
        description="One name per line, or separated by commas or spaces. The plan says which of "
        "them aren’t there.",
    )

    def payload(self) -> dict[str, Any]:
        sent = super().payload() | {"names": selections.pasted(self.names.data or "")}
        return {name: value for name, value in sent.items() if value}

    def show(self, problems: Iterable[tuple[str, str]]) -> None:
        super().show((path.removeprefix("/chosen"), message) for path, message in problems)


class ApplyForm(SchemaForm):
    schema = schemas_imports.ImportApplication

    digest = HiddenField()
