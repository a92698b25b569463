from wtforms import PasswordField

from app.accounts.schemas import PasswordChange
from app.core.forms import SchemaForm
from app.core.settings import current_settings


class PasswordForm(SchemaForm):
    schema = PasswordChange

    old_password = PasswordField("Present password")
    new_password = PasswordField("New password")

    def __init__(self) -> None:
        super().__init__()
        shortest = current_settings().password_min
        self.new_password.description = (
            f"At least {shortest} characters; a few words make a good one. "
            "Your other sessions end with it."
        )
