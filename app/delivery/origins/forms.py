from typing import Any

from wtforms import TextAreaField

from app.delivery.origins import schemas
from app.web.forms import ReasonField, SchemaForm


class OriginsForm(SchemaForm):
    schema = schemas.CorsSettings

    frontend_api_origins = TextAreaField(
        "Sites",
        description="One per line, such as https://shop.example.com. Use * for all sites, and "
        "nothing for none.",
    )
    reason = ReasonField()

    def payload(self) -> dict[str, Any]:
        lines = (self.frontend_api_origins.data or "").splitlines()
        return {"frontendApiOrigins": [line.strip() for line in lines if line.strip()]}
