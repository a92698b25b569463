"""Accounts for tests, made by the services that the application itself uses."""

from datetime import timedelta

from flask import Flask

from app.access.service_accounts import service as service_accounts
from app.accounts import passwords
from app.accounts import service as accounts
from app.accounts.models import Account
from app.accounts.tokens import service as tokens
from app.accounts.tokens.secrets import TokenKind
from app.catalogue.projects.models import Member
from app.core.actor import COMMAND_LINE
from app.core.clock import utcnow
from app.core.db import db, unit_of_work
from app.core.permissions import Role
from tests.support.clients import ApiClient

PASSWORD = "four words that no one guesses"


class People:
    """Makes accounts, their tokens and their memberships in one application's database."""

    def __init__(self, app: Flask) -> None:
        self.app = app

    def person(self, username: str, *, role: str = "Viewer", away_days: float | None = None) -> int:
        """The id of a new person; ``away_days``: how long ago the last sign-in was."""
        with self.app.app_context(), unit_of_work(writes=True):
            account = accounts.create(COMMAND_LINE, root_role=Role[role.upper()], username=username)
            if away_days is not None:
                account.last_sign_in_at = utcnow() - timedelta(days=away_days)
                account.created_at = account.last_sign_in_at - timedelta(days=1)
            return account.id

    def service_account(self, username: str, *, role: str = "Viewer") -> int:
        with self.app.app_context(), unit_of_work(writes=True):
            created = service_accounts.create(
                COMMAND_LINE, root_role=Role[role.upper()], username=username
            )
            return created.account.id

    def token(self, account_id: int, description: str = "test") -> str:
        with self.app.app_context(), unit_of_work(writes=True):
            is_person = db.session.get_one(Account, account_id).is_person
            kind = TokenKind.PERSONAL if is_person else TokenKind.SERVICE_ACCOUNT
            return tokens.issue(COMMAND_LINE, account_id, kind, description=description).secret

    def client(self, username: str, *, role: str = "Viewer") -> ApiClient:
        """A client of a new person."""
        return ApiClient(self.app, self.token(self.person(username, role=role)))

    def give_password(self, id: int) -> None:
        """Let a person sign in with PASSWORD."""
        with self.app.app_context(), unit_of_work(writes=True):
            account = db.session.get_one(Account, id)
            passwords.set_first(COMMAND_LINE, account, password=PASSWORD, shortest=15)

    def join(self, account_id: int, project_id: str, role: str = "Member") -> None:
        with self.app.app_context(), unit_of_work(writes=True):
            member = Member(project_id=project_id, account_id=account_id)
            member.give(COMMAND_LINE, Role[role.upper()])
            db.session.add(member)

    def named(self, username: str) -> int | None:
        """The id of the account with this user name."""
        with self.app.app_context(), unit_of_work(writes=False):
            account = accounts.with_username(username)
            return None if account is None else account.id

    def promote(self, id: int | None, role: str) -> None:
        """Give an account this root role, by hand."""
        with self.app.app_context(), unit_of_work(writes=True):
            db.session.get_one(Account, id or 0).give(COMMAND_LINE, Role[role.upper()])

    def member(self, username: str, project_id: str, role: str = "Member") -> ApiClient:
        """A client of a new Viewer with this role in the project."""
        account_id = self.person(username)
        self.join(account_id, project_id, role)
        return ApiClient(self.app, self.token(account_id))
