from typing import Any

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.accounts.tokens.models import Secret
from app.core.clock import in_text
from app.core.db import NEVER_REUSE_IDS, Model, at_most


class ScimToken(Secret, Model):
    """A token for the organisation's directory. It is valid for SCIM only."""

    __tablename__ = "scim_tokens"

    name: Mapped[str] = mapped_column(String(255))
    created_by: Mapped[str] = mapped_column(String(255))

    __table_args__ = (at_most("name", 255), NEVER_REUSE_IDS)

    @property
    def label(self) -> str:
        """What the security log calls it."""
        return f"SCIM token {self.id}"

    def snapshot(self) -> dict[str, Any]:
        """The token as the event log records it."""
        return {
            "id": self.id,
            "tokenName": self.name,
            "hint": self.hint,
            "expiresAt": self.expires_at and in_text(self.expires_at),
        }
