"""A script that asks each of Unleash's operations once, as its clients do."""

from typing import Any

from werkzeug.test import TestResponse

from tests.support.clients import ApiClient
from tests.unleash import facts
from tests.unleash.facts import Operation

P = "/projects/default"
ROLLOUT = {"rollout": "50", "stickiness": "default", "groupId": "probe"}
IN_LIST = {"contextName": "userId", "operator": "IN", "values": ["1"]}
PASSWORD = "violet kettle marches over nine bridges"
LATER = "2030-01-01T00:00:00.000Z"
SIMPLE = {"type": "simple", "value": "probe"}

OUTSIDE = ("/api/", "/edge/", "/health", "/ready")
"""What is not below ``/api/admin``."""


class Walk:
    """``answers``: the first to each operation."""

    def __init__(self, admin: ApiClient) -> None:
        self.client = ApiClient(admin.app, admin.token, client_of_unleash=True)
        self.answers: dict[Operation, TestResponse] = {}

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of the answer."""
        full = path if path.startswith(OUTSIDE) else f"/api/admin{path}"
        operation = facts.operation_at(method, full.partition("?")[0])
        assert operation is not None, f"{method} {full} is none of Unleash’s"
        answer = self.client.request(method, f"http://localhost{full}", json=body)
        self.answers.setdefault(operation, answer)
        return answer.get_json(silent=True)

    @property
    def faults(self) -> dict[Operation, str | None]:
        """What is wrong with each answer; None if it is as documented."""
        return {operation: _fault(operation, answer) for operation, answer in self.answers.items()}


def _fault(operation: Operation, answer: TestResponse) -> str | None:
    if answer.status_code not in operation.statuses:
        return f"answers {answer.status_code}"
    shape = operation.answer
    is_json = shape is not None and answer.mimetype == "application/json"
    return facts.problem(shape, answer.json) if is_json and shape else None


def walk(admin: ApiClient) -> Walk:
    """Ask everything."""
    script = Walk(admin)
    for part in (_features, _states, _many, _tags, _targeting, _people, _tokens, _places, _rest):
        part(script.ask)
    script.client = ApiClient(admin.app, _sdk_token(admin, "client"), client_of_unleash=True)
    _server(script.ask)
    script.client = ApiClient(admin.app, _sdk_token(admin, "frontend"), client_of_unleash=True)
    _browser(script.ask)
    return script


def _sdk_token(admin: ApiClient, type: str) -> str:
    body = {"tokenName": f"walk {type}", "type": type, "environment": "development"}
    secret: str = admin.ok("POST", "/api-tokens", body | {"projects": ["*"]})["secret"]
    return secret


def _features(ask: Any) -> None:
    one = f"{P}/features/one"
    place = f"{one}/environments/development"
    ask("POST", "/features/validate", {"name": "one"})
    ask("POST", f"{P}/features", {"name": "one", "type": "release", "tags": [SIMPLE]})
    ask("GET", one)
    ask("PUT", one, {"name": "one", "type": "experiment", "description": "d"})
    ask("PATCH", one, [{"op": "replace", "path": "/description", "value": "e"}])
    strategy = ask(
        "POST", f"{place}/strategies", {"name": "flexibleRollout", "parameters": ROLLOUT}
    )
    at = f"{place}/strategies/{strategy['id']}"
    ask("GET", f"{place}/strategies")
    ask("GET", at)
    ask("PATCH", at, [{"op": "replace", "path": "/parameters/rollout", "value": "60"}])
    ask("PUT", at, {"name": "flexibleRollout", "parameters": ROLLOUT})
    ask("POST", f"{place}/strategies/set-sort-order", [{"id": strategy["id"], "sortOrder": 0}])
    segment = ask("POST", "/segments", {"name": "probe", "constraints": [IN_LIST]})
    chosen = {"projectId": "default", "strategyId": strategy["id"], "environmentId": "development"}
    ask("POST", "/segments/strategies", chosen | {"segmentIds": [segment["id"]]})
    ask("GET", f"/segments/strategies/{strategy['id']}")
    ask("GET", f"/segments/{segment['id']}/strategies")
    ask("GET", f"/segments/{segment['id']}")
    ask("GET", "/segments")
    ask("GET", "/context/userId/strategies")
    ask("POST", "/segments/strategies", chosen | {"segmentIds": []})
    ask("DELETE", f"/segments/{segment['id']}")
    ask("DELETE", at)


def _states(ask: Any) -> None:
    one = f"{P}/features/one"
    place = f"{one}/environments/development"
    ask("POST", f"{place}/on")
    ask("GET", place)
    ask("GET", f"{place}/variants")
    ask("PUT", f"{place}/variants", [{"name": "a", "weight": 1000, "weightType": "variable"}])
    ask("PATCH", f"{place}/variants", [{"op": "remove", "path": "/0"}])
    blue = {"name": "blue", "weight": 1000, "weightType": "variable", "stickiness": "default"}
    ask("PUT", f"{one}/variants-batch", {"environments": ["development"], "variants": [blue]})
    ask("POST", f"{one}/link", {"url": "https://example.com/1", "title": "t"})
    link = ask("GET", one)["links"][0]["id"]
    ask("PUT", f"{one}/link/{link}", {"url": "https://example.com/2", "title": "t"})
    ask("DELETE", f"{one}/link/{link}")
    ask("POST", f"{one}/clone", {"name": "two", "replaceGroupId": True})
    two = f"{P}/features/two"
    ask("POST", f"{two}/dependencies", {"feature": "one", "enabled": True, "variants": ["blue"]})
    ask("GET", f"{two}/parents")
    ask("GET", f"{P}/dependencies")
    ask("GET", f"{one}/parent-variants")
    ask("POST", f"{P}/archive/validate", {"features": ["one"]})
    ask("DELETE", f"{two}/dependencies/one")
    ask("POST", f"{two}/dependencies", {"feature": "one"})
    ask("DELETE", f"{two}/dependencies")
    ask("POST", f"{one}/favorites", {})
    ask("GET", f"{P}/features")
    ask("GET", "/search/features?query=o&project=IS:default&sortBy=name&favoritesFirst=true")
    ask("DELETE", f"{one}/favorites", {})
    ask("GET", f"{one}/lifecycle")
    ask("POST", f"{one}/lifecycle/complete", {"status": "kept", "statusValue": "blue"})
    ask("POST", f"{one}/lifecycle/uncomplete")
    ask("POST", f"{P}/stale", {"features": ["one"], "stale": True})


def _many(ask: Any) -> None:
    place, two = f"{P}/features/one/environments/development", f"{P}/features/two"
    many = f"{P}/bulk_features/environments/development"
    ask("POST", f"{many}/off", {"features": ["one"]})
    ask("POST", f"{many}/on", {"features": ["one"]})
    asked = {"environment": "development", "projects": "*", "context": {"appName": "a"}}
    ask("POST", "/playground", asked)
    several = {"environments": ["development"], "projects": ["default"]}
    ask("POST", "/playground/advanced", several | {"context": {"appName": "a", "userId": "1,2"}})
    query = {"environment": "development", "features": ["one"], "downloadFile": False}
    data = ask("POST", "/features-batch/export", query)
    imported = {"project": "default", "environment": "development", "data": data}
    ask("POST", "/features-batch/validate", imported)
    ask("POST", "/features-batch/import", imported)
    ask("POST", f"{place}/off")
    ask("DELETE", two)
    ask("POST", "/archive/revive/two")
    ask("POST", f"{P}/archive", {"features": ["one", "two"]})
    ask("POST", f"{P}/revive", {"features": ["one"]})
    ask("DELETE", "/archive/two")
    ask("POST", f"{P}/archive", {"features": ["one"]})
    ask("GET", "/events/one")
    ask("POST", f"{P}/delete", {"features": ["one"]})


def _tags(ask: Any) -> None:
    ask("POST", f"{P}/features", {"name": "tagged"})
    ask("POST", "/features/tagged/tags", SIMPLE)
    ask("GET", "/features/tagged/tags")
    added = [SIMPLE | {"value": "other"}]
    ask("PUT", "/features/tagged/tags", {"addedTags": added, "removedTags": []})
    ask("DELETE", "/features/tagged/tags/simple/other")
    tags = {"addedTags": [], "removedTags": [SIMPLE]}
    ask("PUT", f"{P}/tags", {"features": ["tagged"], "tags": tags})
    ask("POST", "/tags", SIMPLE | {"value": "loose", "color": "#FFFFFF"})
    ask("GET", "/tags")
    ask("GET", "/tags/simple")
    ask("GET", "/tags/simple/loose")
    ask("DELETE", "/tags/simple/loose")
    team = {"name": "team", "description": "d", "icon": "i", "color": "#FFFFFF"}
    ask("POST", "/tag-types/validate", team)
    ask("POST", "/tag-types", team)
    ask("GET", "/tag-types")
    ask("GET", "/tag-types/team")
    ask("PUT", "/tag-types/team", {"description": "e", "icon": "j"})
    ask("DELETE", "/tag-types/team")


def _targeting(ask: Any) -> None:
    ask("POST", "/segments/validate", {"name": "new"})
    segment = ask("POST", "/segments", {"name": "new", "constraints": [IN_LIST]})["id"]
    ask("PUT", f"/segments/{segment}", {"name": "newer", "constraints": [IN_LIST]})
    ask("POST", "/constraints/validate", IN_LIST)
    ask("POST", "/context/validate", {"name": "plan"})
    plan = {"name": "plan", "description": "d", "legalValues": [{"value": "x"}]}
    ask("POST", "/context", plan | {"stickiness": True})
    ask("GET", "/context")
    ask("GET", "/context/plan")
    ask("PUT", "/context/plan", {"description": "e"})
    ask("POST", "/context/plan/legal-values", {"value": "y"})
    ask("DELETE", "/context/plan/legal-values/y")
    ask("DELETE", "/context/plan")
    parameter = {"name": "p", "type": "string", "description": "", "required": False}
    mine = {"name": "mine", "description": "d", "parameters": [parameter]}
    ask("POST", "/strategies", mine | {"title": "Mine", "editable": True})
    ask("GET", "/strategies")
    ask("GET", "/strategies/mine")
    ask("PUT", "/strategies/mine", {"description": "e", "parameters": []})
    ask("POST", "/strategies/mine/deprecate")
    ask("POST", "/strategies/mine/reactivate")
    ask("DELETE", "/strategies/mine")


def _people(ask: Any) -> None:
    sent = {"username": "grace", "name": "Grace", "rootRole": "Editor", "sendEmail": False}
    grace = f"/user-admin/{ask('POST', '/user-admin', sent)['id']}"
    ask("GET", grace)
    ask("PUT", grace, {"name": "Grace H.", "rootRole": 2})
    ask("POST", "/user-admin/validate-password", {"password": PASSWORD})
    ask("POST", f"{grace}/change-password", {"password": PASSWORD})
    ask("POST", "/user-admin/reset-password", {"id": grace.rpartition("/")[2]})
    for path in ("", "/search?q=gra", "/access", "/admin-count", "/inactive"):
        ask("GET", f"/user-admin{path}")
    ask("POST", "/user-admin/inactive/delete", {"ids": [1]})
    ask("DELETE", "/user-admin/scim-users")
    ask("DELETE", grace)
    for path in ("", "/profile", "/roles?projectId=default", "/tokens"):
        ask("GET", f"/user{path}")
    own = ask("GET", "/user")["user"]["id"]
    ask("POST", f"/user-admin/{own}/change-password", {"password": PASSWORD})
    changed = {"password": f"{PASSWORD} again", "oldPassword": PASSWORD}
    ask("POST", "/user/change-password", changed)
    ask("POST", "/feedback", {"feedbackId": "survey", "neverShow": False})
    ask("PUT", "/feedback/survey", {"neverShow": True})
    ask("POST", "/splash/seen")
    for path in ("/events", "/search/events?type=IS:feature-created&limit=5", "/event-creators"):
        ask("GET", path)


def _tokens(ask: Any) -> None:
    mine = ask("POST", "/user/tokens", {"description": "mine", "expiresAt": LATER})
    ask("DELETE", f"/user/tokens/{mine['id']}")
    web = {"tokenName": "web", "type": "client", "environment": "development", "projects": ["*"]}
    secret = ask("POST", "/api-tokens", web)["secret"]
    ask("GET", "/api-tokens")
    ask("GET", "/api-tokens/web")
    ask("PUT", f"/api-tokens/{secret}", {"expiresAt": LATER})
    ask("DELETE", f"/api-tokens/{secret}")
    own = {"tokenName": "own", "type": "client", "environment": "development"}
    secret = ask("POST", f"{P}/api-tokens", own)["secret"]
    ask("GET", f"{P}/api-tokens")
    ask("DELETE", f"{P}/api-tokens/{secret}")


def _places(ask: Any) -> None:
    ask("GET", "/environments")
    ask("GET", "/environments/development")
    ask("GET", "/environments/project/default")
    ask("PUT", "/environments/sort-order", {"development": 1, "production": 2})
    ask("POST", "/environments/production/off")
    ask("POST", "/environments/production/on")
    ask("DELETE", f"{P}/environments/production")
    ask("POST", f"{P}/environments", {"environment": "production"})
    strategy = {"name": "flexibleRollout", "parameters": ROLLOUT}
    ask("POST", f"{P}/environments/development/default-strategy", strategy)
    ask("POST", f"{P}/favorites", {})
    ask("GET", "/projects")
    ask("DELETE", f"{P}/favorites", {})
    names = ("overview", "health-report", "insights", "status", "dora", "flag-creators")
    for name in (*names, "applications", "sdks/outdated"):
        ask("GET", f"{P}/{name}")


def _rest(ask: Any) -> None:
    ask("GET", "/feature-types")
    ask("PUT", "/feature-types/release/lifetime", {"lifetimeDays": 40})
    ask("GET", "/lifecycle/count")
    ask("GET", "/instance-admin/statistics")
    ask("GET", "/instance-admin/statistics/csv")
    ask("POST", "/maintenance", {"enabled": False})
    ask("GET", "/maintenance")
    ask("GET", "/ui-config")
    ask("POST", "/ui-config/cors", {"frontendApiOrigins": ["*"]})
    ask("POST", "/metrics/applications/web-shop", {"strategies": ["default"], "color": "red"})
    ask("GET", "/metrics/applications")
    ask("GET", "/metrics/applications/web-shop")
    ask("GET", "/metrics/applications/web-shop/overview")
    ask("GET", "/metrics/instances/web-shop/environment/development")
    ask("DELETE", "/metrics/applications/web-shop")
    ask("GET", "/metrics/sdks/outdated")
    ask("GET", "/metrics/unknown-flags")
    ask("GET", "/client-metrics/features/tagged")
    ask("GET", "/client-metrics/features/tagged/raw")
    ask("GET", "/health")
    ask("GET", "/ready")


def _server(ask: Any) -> None:
    ask("GET", "/api/client/features")
    ask("GET", "/api/client/features/tagged")
    started = {"appName": "a", "interval": 10, "started": LATER, "strategies": ["default"]}
    ask("POST", "/api/client/register", started)
    ask("POST", "/api/client/metrics", METRICS)
    ask("POST", "/api/client/metrics/bulk", {"applications": [], "metrics": []})
    ask("POST", "/edge/validate", {"tokens": ["*:development.unknown"]})


METRICS = {"appName": "a", "bucket": {"start": LATER, "stop": LATER, "toggles": {}}}


def _browser(ask: Any) -> None:
    ask("GET", "/api/frontend?userId=1")
    ask("POST", "/api/frontend", {"context": {"userId": "1"}})
    ask("POST", "/api/frontend/client/metrics", METRICS)
    started = {"appName": "a", "interval": 10, "started": LATER, "strategies": []}
    ask("POST", "/api/frontend/client/register", started)
