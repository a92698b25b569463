from wtforms import BooleanField, PasswordField, SelectChoice, SelectField, SelectMultipleField

from app.access.my_account import schemas
from app.accounts.forms import offer_to_revoke
from app.accounts.mails.models import MailKind
from app.accounts.schemas import PasswordChange
from app.web.current import current_settings
from app.web.forms import SchemaForm


class PasswordForm(SchemaForm):
    schema = PasswordChange

    old_password = PasswordField("Current password")
    new_password = PasswordField("New password")

    revoke_tokens = BooleanField()

    def __init__(self, *, tokens: int) -> None:
        super().__init__()
        offer_to_revoke(self.revoke_tokens, tokens)
        shortest = current_settings().password_min
        self.new_password.description = (
            f"At least {shortest} characters. A few words make a good password. "
            "Your other sessions will end."
        )


class MailForm(SchemaForm):
    schema = schemas.MailChoices

    kinds = SelectMultipleField(
        "Mail", choices=[SelectChoice(kind.value, kind.words) for kind in MailKind]
    )


class TimeZoneForm(SchemaForm):
    schema = schemas.TimeZone

    time_zone = SelectField("Time zone", choices=())
