from wtforms import PasswordField, StringField

from app.auth import schemas
from app.core.forms import SchemaForm
from app.core.settings import current_settings


class SignInForm(SchemaForm):
    schema = schemas.SignIn

    name = StringField("User name or e-mail")
    password = PasswordField("Password")


class CodeForm(SchemaForm):
    schema = schemas.Code

    code = StringField(
        "Code", description="The six digits that your authenticator shows, or a recovery code."
    )


class NewPasswordForm(SchemaForm):
    schema = schemas.NewPassword

    new_password = PasswordField("New password")

    def __init__(self) -> None:
        super().__init__()
        shortest = current_settings().password_min
        self.new_password.description = (
            f"At least {shortest} characters; a few words make a good one."
        )


class FirstAdminForm(NewPasswordForm):
    schema = schemas.FirstAdmin

    username = StringField("User name", description="What you sign in with.")
    name = StringField("Full name", description="What others see, in lists and events.")
    email = StringField("E-mail", description="You can sign in with it too. No mail is sent.")
