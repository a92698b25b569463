"""Connecting an application: three questions, the token with code, and the first contact."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from flask import render_template
from flask.typing import ResponseReturnValue

from app.accounts.tokens.models import Issued
from app.catalogue.features import queries as features
from app.catalogue.projects import service as projects
from app.catalogue.sdk_tokens import service
from app.catalogue.sdk_tokens.forms import ConnectAnywhereForm, ConnectForm, TokenPlace
from app.catalogue.sdk_tokens.models import SdkToken, SdkTokenType
from app.catalogue.sdk_tokens.pages_scope import Scope
from app.catalogue.usage import tokens
from app.core.permissions import Permission
from app.web.browsers import require_password
from app.web.current import current_actor, current_settings
from app.web.forms import show_form, submit
from app.web.routes import PageBlueprint

bp = PageBlueprint("connect_pages", __name__)

IN_PROJECT = "/projects/<key:project_id>"
LANGUAGES = {
    TokenPlace.SERVER: {
        "node": "Node.js",
        "python": "Python",
        "java": "Java",
        "go": "Go",
        "dotnet": ".NET",
        "ruby": "Ruby",
        "php": "PHP",
        "nextjs": "Next.js",
        "curl": "curl",
    },
    TokenPlace.BROWSER: {
        "browser": "JavaScript",
        "react": "React",
        "swift": "Swift (iOS)",
        "kotlin": "Kotlin (Android)",
        "flutter": "Flutter",
        "ofrep_web": "OpenFeature",
    },
    TokenPlace.OPEN_FEATURE: {
        "ofrep_node": "Node.js",
        "ofrep_python": "Python",
        "ofrep_curl": "curl",
    },
}
UNKNOWN_NAME = "my-application"
UNKNOWN_FEATURE = "my-feature"
UNKNOWN_TOKEN = "YOUR_BROWSER_TOKEN"  # noqa: S105 - what readers replace
PROJECTS_OFFERED = 100


class Snippet(NamedTuple):
    language: str
    code: str


def snippets(
    place: TokenPlace = TokenPlace.SERVER,
    name: str = UNKNOWN_NAME,
    token: str = UNKNOWN_TOKEN,
    feature: str | None = None,
) -> list[Snippet]:
    """Code that reads features from this server. ``name``: of the application, in any spelling.

    ``token``: only code for browsers includes it, where it is public anyway. ``feature``: that the
    code asks for.
    """
    base = current_settings().address("")
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-") or UNKNOWN_NAME
    values = {"base": base, "url": f"{base}/api/", "name": plain, "token": token}
    values["feature"] = feature or UNKNOWN_FEATURE
    return [
        Snippet(language, render_template(f"catalogue/sdk_tokens/snippets/{file}.txt", **values))
        for file, language in LANGUAGES[place].items()
    ]


@bp.form("/connect", needs=Permission.CREATE_CLIENT_API_TOKEN)
def new() -> ResponseReturnValue:
    """Create a token for an application; only this response shows it."""
    scope, offered = Scope(), projects.names(current_actor, PROJECTS_OFFERED)
    form = ConnectAnywhereForm(scope.environments, [id for id, _ in offered])
    return _connect(scope, form, offered)


@bp.form(f"{IN_PROJECT}/connect", needs=Permission.CREATE_PROJECT_API_TOKEN)
def new_in_project(project_id: str) -> ResponseReturnValue:
    """Create a token for an application that reads this project alone."""
    scope = Scope.of(project_id)
    return _connect(scope, ConnectForm(scope.environments))


@bp.get("/sdk-tokens/<id:token_id>/contact", needs=Permission.READ_CLIENT_API_TOKEN)
def contact(token_id: int) -> ResponseReturnValue:
    """Say whether an application has used the token yet."""
    return _contact(Scope(), token_id)


@bp.get(f"{IN_PROJECT}/sdk-tokens/<id:token_id>/contact", needs=Permission.READ_PROJECT_API_TOKEN)
def contact_in_project(project_id: str, token_id: int) -> ResponseReturnValue:
    """Say whether an application has used the token of the project yet."""
    return _contact(Scope.of(project_id), token_id)


def secret_page(
    scope: Scope,
    issued: Issued[SdkToken],
    place: TokenPlace | None = None,
    application: str | None = None,
) -> str:
    """The only page that shows a new token, with code that uses it.

    ``application``: its name, if the token has another one.
    """
    token = issued.token
    if place is None:
        place = TokenPlace.BROWSER if token.type is SdkTokenType.FRONTEND else TokenPlace.SERVER
    return render_template(
        "catalogue/sdk_tokens/secret.html",
        scope=scope,
        token=token,
        secret=issued.secret,
        snippets=snippets(
            place,
            application or token.name,
            issued.secret,
            features.newest(None if token.all_projects else token.projects),
        ),
    )


def _connect(
    scope: Scope, form: ConnectForm, offered: Sequence[tuple[str, str]] = ()
) -> ResponseReturnValue:
    """``offered``: the ids and names of projects to choose from."""
    require_password("connect an application")
    if issued := submit(form, lambda: _create(scope, form.values)):
        return secret_page(scope, issued, form.where, form.values["token_name"])
    return show_form(
        "catalogue/sdk_tokens/connect.html",
        form,
        scope=scope,
        projects=offered,
        places=list(TokenPlace),
    )


def _create(scope: Scope, values: dict[str, Any]) -> Issued[SdkToken]:
    if scope.project_id is not None:
        projects.require_for_content(current_actor, scope.project_id)
        values = {**values, "projects": [scope.project_id]}
    elif values["type"] is SdkTokenType.FRONTEND:
        current_actor.require(Permission.CREATE_FRONTEND_API_TOKEN)
    name = service.name_for(values["token_name"], values["environment"])
    return service.create(current_actor, **{**values, "token_name": name})


def _contact(scope: Scope, token_id: int) -> ResponseReturnValue:
    return render_template(
        "catalogue/sdk_tokens/contact.html",
        scope=scope,
        token=scope.token(token_id),
        first=tokens.first_contact(token_id),
    )
