from typing import Any

from flask import Response, jsonify

from app.core.errors import Invalid
from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.delivery.playground import api_rows as rows
from app.delivery.playground import schemas, service
from app.delivery.playground.schemas import ALL
from app.delivery.playground.service import MOST_EXPLAINED, Asked, people
from app.web.current import current_actor
from app.web.extended import are_wanted
from app.web.routes import ApiBlueprint

bp = ApiBlueprint(
    "playground",
    __name__,
    url_prefix="/api/admin/playground",
    description="Who would get which feature, and why. Nothing is changed or counted.",
)

CONTEXT = {"userId": "311,1042", "properties": {"country": "NO"}}


@bp.post("/advanced", needs=Access.SIGNED_IN, keeps=NOTHING, writes=False)
@bp.arguments(
    schemas.AdvancedQuestion,
    example={"environments": ["development"], "projects": ALL, "context": CONTEXT},
)
@bp.response(200, schemas.AdvancedAnswer)
def ask_advanced(data: dict[str, Any]) -> Response:
    """Ask who would get which feature in several environments, and why

    Values with commas are several people: each combination has an answer of its own.
    """
    given, names = data["context"], data["environments"]
    playground = service.ask(
        current_actor,
        environments=names,
        projects=data.get("projects"),
        people=people(given.values),
        most=MOST_EXPLAINED,
    )
    asked = [
        Asked(place, person)
        for feature in playground.projects
        for place in playground.where(feature)
        for person in playground.people
    ]
    by_feature: dict[str, dict[str, list[Any]]] = {name: {} for name in playground.projects}
    for one, explanation in zip(asked, playground.explain(asked), strict=True):
        row = rows.answer(playground, one, explanation)
        if not are_wanted():
            del row["hasUnsatisfiedDependency"]
        row |= {"environment": one.place.environment, "context": rows.context(one.person.given)}
        by_feature[one.place.feature].setdefault(one.place.environment, []).append(row)
    features = [
        {"name": name, "projectId": playground.projects[name], "environments": found}
        for name, found in by_feature.items()
    ]
    asked_for = {"environments": names, "projects": rows.projects(data.get("projects"))}
    return jsonify(rows.result(given, asked_for, features, warns=True))


@bp.post("", needs=Access.SIGNED_IN, keeps=NOTHING, writes=False)
@bp.arguments(
    schemas.Question,
    example={
        "environment": "development",
        "projects": ["default"],
        "context": {"userId": "311", "properties": {"country": "NO"}},
    },
)
@bp.response(200, schemas.PlaygroundAnswer)
def ask(data: dict[str, Any]) -> Response:
    """Ask who would get which feature in one environment, and why

    For one person: commas in values mean nothing here.
    """
    given, environment = data["context"], data["environment"]
    try:
        playground = service.ask(
            current_actor,
            environments=[environment],
            projects=data.get("projects"),
            people=[{name: value for name, value in given.values.items() if value}],
            most=MOST_EXPLAINED,
        )
    except Invalid as error:
        raise error.moved("/environments/0", "/environment") from None
    [person] = playground.people
    asked = [
        Asked(place, person)
        for feature in playground.projects
        for place in playground.where(feature)
    ]
    features = [
        rows.answer(playground, one, explanation)
        for one, explanation in zip(asked, playground.explain(asked), strict=True)
    ]
    asked_for = {"environment": environment, "projects": rows.projects(data.get("projects"))}
    return jsonify(rows.result(given, asked_for, features, warns=are_wanted()))
