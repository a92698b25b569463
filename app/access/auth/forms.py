from wtforms import BooleanField, PasswordField, StringField

from app.access.auth import schemas
from app.accounts.forms import offer_to_revoke
from app.web.current import current_settings
from app.web.forms import SchemaForm


class SignInForm(SchemaForm):
    schema = schemas.SignIn

    name = StringField("User name or e-mail")
    password = PasswordField("Password")


class CodeForm(SchemaForm):
    schema = schemas.Code

    code = StringField(
        "Code", description="The 6 digits from your authenticator app, or a recovery code."
    )


class NewPasswordForm(SchemaForm):
    schema = schemas.NewPassword

    new_password = PasswordField("New password")

    def __init__(self) -> None:
        super().__init__()
        shortest = current_settings().password_min
        self.new_password.description = (
            f"At least {shortest} characters. A few words make a good password."
        )


class PasswordByLinkForm(NewPasswordForm):
    """A link is often asked for when someone else knows the password, so tokens are revoked."""

    schema = schemas.PasswordByLink

    revoke_tokens = BooleanField(default=True)

    def __init__(self, *, tokens: int) -> None:
        super().__init__()
        offer_to_revoke(self.revoke_tokens, tokens)


class FirstAdminForm(NewPasswordForm):
    schema = schemas.FirstAdmin

    username = StringField("User name", description="You sign in with it.")
    name = StringField("Full name", description="Shown to others in lists and events.")
    email = StringField("E-mail", description="Also works for signing in. No mail is sent.")
