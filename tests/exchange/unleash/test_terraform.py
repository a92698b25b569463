"""What works of Unleash’s Terraform provider is what the help says.

The requests are those that the provider sends for each resource, and what it takes of the answers.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from app.core.clock import in_text, utcnow
from app.portal.help.terraform import RESOURCES, Act
from tests.support.clients import ApiClient

pytestmark = pytest.mark.slow

Answer = Any
Check = Callable[[Answer], object]


class Failed(Exception):
    """The provider would end with an error."""


class Provider:
    """Sends requests as the provider does, and remembers what it read."""

    def __init__(self, client: ApiClient) -> None:
        self.client = client
        self.known: dict[str, Any] = {
            "admin": client.ok("GET", "/user")["user"]["id"],
            "soon": in_text(utcnow() + timedelta(days=5)),
            "later": in_text(utcnow() + timedelta(days=9)),
        }

    def send(self, method: str, path: str, body: Any, status: int, *takes: str) -> None:
        """``takes``: fields that the provider reads in the answer, at most two deep."""
        sent = None if body is None else self._filled(body)
        answer = self.client.request(method, path.format_map(self.known), json=sent)
        if answer.status_code != status:
            raise Failed(f"{method} {path} answers {answer.status_code}: {answer.text[:200]}")
        found = answer.json if answer.data else {}
        for name in takes:
            place = found
            for part in name.split("."):
                if isinstance(place, list):
                    place = place[-1]
                if part not in place:
                    raise Failed(f"{method} {path} lacks {name}")
                place = place[part]
            self.known[name if name not in self.known else f"second {name}"] = place

    def _filled(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._filled(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._filled(each) for each in value]
        is_name = isinstance(value, str) and value[:1] == "$"
        return self.known[value[1:]] if is_name else value


GROUP = {"name": "devs", "description": None, "mappingsSSO": [], "rootRole": 2, "users": []}
APPROVALS = {"changeRequestsEnabled": True, "requiredApprovals": 2}
NO_APPROVALS = {"changeRequestsEnabled": False, "requiredApprovals": 0}
USER = {"username": "kim", "email": "kim@example.org", "rootRole": 2, "sendEmail": False}
ROLE = {"name": "Releaser", "description": "", "type": "root-custom", "permissions": []}
SAML = {"enabled": False, "entityId": "a", "signOnUrl": "https://a.example", "certificate": "b"}
OIDC = {"enabled": False, "clientId": "a", "secret": "b", "discoverUrl": "https://a.example"}
REQUESTS: dict[str, dict[Act, list[tuple[Any, ...]]]] = {
    "unleash_api_token": {
        Act.CREATE: [
            (
                "POST",
                "/api-tokens",
                {"type": "client", "tokenName": "web", "environment": "production"},
                201,
                *("secret", "tokenName", "type", "project"),
            )
        ],
        Act.READ: [("GET", "/api-tokens", None, 200, "tokens.secret", "tokens.environment")],
        Act.CHANGE: [("PUT", "/api-tokens/{secret}", {"expiresAt": "$later"}, 200)],
        Act.DELETE: [("DELETE", "/api-tokens/{secret}", None, 200)],
    },
    "unleash_context_field": {
        Act.CREATE: [
            ("POST", "/context", {"name": "tier", "stickiness": False, "legalValues": []}, 201)
        ],
        Act.READ: [("GET", "/context/tier", None, 200, "name", "stickiness")],
        Act.CHANGE: [("PUT", "/context/tier", {"stickiness": True, "legalValues": []}, 200)],
        Act.DELETE: [("DELETE", "/context/tier", None, 200)],
    },
    "unleash_environment": {
        Act.CREATE: [
            ("POST", "/environments", {"name": "qa", "type": "test"}, 201, "name", "type")
        ],
        Act.READ: [("GET", "/environments/qa", None, 200, "name", "type")],
        Act.CHANGE: [("PUT", "/environments/update/qa", {"type": "production"}, 200, "type")],
        Act.DELETE: [("DELETE", "/environments/qa", None, 200)],
    },
    "unleash_group": {
        Act.CREATE: [("POST", "/groups", GROUP, 201, "id"), ("GET", "/groups/{id}", None, 200)],
        Act.READ: [("GET", "/groups/{id}", None, 200, "id", "name", "users")],
        Act.CHANGE: [("PUT", "/groups/{id}", GROUP | {"rootRole": 3}, 200, "id")],
        Act.DELETE: [("DELETE", "/groups/{id}", None, 200)],
    },
    "unleash_oidc": {
        Act.CREATE: [("POST", "/auth/oidc/settings", OIDC, 200)],
        Act.READ: [("GET", "/auth/oidc/settings", None, 200)],
        Act.CHANGE: [("POST", "/auth/oidc/settings", OIDC, 200)],
        Act.DELETE: [("POST", "/auth/oidc/settings", OIDC, 200)],
    },
    "unleash_project": {
        Act.CREATE: [
            ("POST", "/projects", {"id": "pay", "name": "Pay", "environments": []}, 201, "id"),
            ("PUT", "/projects/pay/settings", {"mode": "open"}, 200),
        ],
        Act.READ: [("GET", "/projects", None, 200, "projects.id", "projects.mode")],
        Act.CHANGE: [
            ("PUT", "/projects/pay/settings", {"mode": "protected"}, 200),
            ("PUT", "/projects/pay", {"name": "Payments"}, 200),
        ],
        Act.DELETE: [("DELETE", "/projects/pay", None, 200)],
    },
    "unleash_project_access": {
        Act.CREATE: [
            (
                "PUT",
                "/projects/default/access",
                {"roles": [{"id": 4, "users": ["$admin"], "groups": []}]},
                200,
            )
        ],
        Act.READ: [
            ("GET", "/projects/default/access", None, 200, "users.roles", "groups", "roles.id")
        ],
        Act.CHANGE: [
            (
                "PUT",
                "/projects/default/access",
                {"roles": [{"id": 5, "users": ["$admin"], "groups": []}]},
                200,
            )
        ],
        Act.DELETE: [],
    },
    "unleash_project_environment": {
        Act.CREATE: [
            ("POST", "/projects/default/environments", {"environment": "extra"}, 200),
            ("PUT", "/projects/default/environments/extra/change-requests/config", APPROVALS, 204),
            ("GET", "/environments/project/default", None, 200, "environments.name"),
        ],
        Act.READ: [
            ("GET", "/environments/project/default", None, 200, "environments.name"),
            ("GET", "/projects/default/change-requests/config", None, 200),
        ],
        Act.CHANGE: [
            ("PUT", "/projects/default/environments/extra/change-requests/config", APPROVALS, 204)
        ],
        Act.DELETE: [
            (
                "PUT",
                "/projects/default/environments/extra/change-requests/config",
                NO_APPROVALS,
                204,
            ),
            ("DELETE", "/projects/default/environments/extra", None, 200),
        ],
    },
    "unleash_role": {
        Act.CREATE: [("POST", "/roles", ROLE, 200, "id")],
        Act.READ: [("GET", "/roles/1", None, 200, "id", "permissions")],
        Act.CHANGE: [("PUT", "/roles/1", ROLE, 200)],
        Act.DELETE: [("DELETE", "/roles/1", None, 200)],
    },
    "unleash_saml": {
        Act.CREATE: [("POST", "/auth/saml/settings", SAML, 200)],
        Act.READ: [("GET", "/auth/saml/settings", None, 200)],
        Act.CHANGE: [("POST", "/auth/saml/settings", SAML, 200)],
        Act.DELETE: [("POST", "/auth/saml/settings", SAML, 200)],
    },
    "unleash_service_account": {
        Act.CREATE: [
            (
                "POST",
                "/service-account",
                {"username": "ci", "name": "CI", "rootRole": 2},
                201,
                *("id", "rootRole"),
            )
        ],
        Act.READ: [
            ("GET", "/service-account", None, 200, "serviceAccounts.id", "serviceAccounts.rootRole")
        ],
        Act.CHANGE: [
            ("PUT", "/service-account/{id}", {"name": "CI 2", "rootRole": 3}, 200, "rootRole")
        ],
        Act.DELETE: [("DELETE", "/service-account/{id}", None, 200)],
    },
    "unleash_service_account_token": {
        Act.CREATE: [
            ("POST", "/service-account", {"username": "cd", "rootRole": 3}, 201, "id"),
            (
                "POST",
                "/service-account/{id}/token",
                {"description": "deploy", "expiresAt": "$soon"},
                201,
                *("id", "secret", "expiresAt"),
            ),
        ],
        Act.READ: [("GET", "/service-account/{id}/token", None, 200, "pats.id", "pats.expiresAt")],
        Act.CHANGE: [],
        Act.DELETE: [("DELETE", "/service-account/{id}/token/{second id}", None, 200)],
    },
    "unleash_user": {
        Act.CREATE: [("POST", "/user-admin", USER, 201, "id", "rootRole")],
        Act.READ: [("GET", "/user-admin/{id}", None, 200, "id", "rootRole")],
        Act.CHANGE: [
            (
                "PUT",
                "/user-admin/{id}",
                {"name": "Kim", "email": "kim@example.org", "rootRole": 3},
                200,
                "rootRole",
            )
        ],
        Act.DELETE: [("DELETE", "/user-admin/{id}", None, 200)],
    },
}
"""What the provider sends to carry out an act; nothing for acts that it never carries out."""


def test_the_help_names_every_resource_of_the_provider():
    assert set(RESOURCES) == set(REQUESTS)


@pytest.mark.parametrize("resource", REQUESTS)
def test_what_works_of_a_resource_is_what_the_help_says(admin, resource):
    admin.ok("POST", "/environments", {"name": "extra", "type": "test"})
    provider, works, why = Provider(admin), set(), {}
    for act, requests in REQUESTS[resource].items():
        try:
            for request in requests:
                provider.send(*request)
            works.add(act)
        except (Failed, KeyError) as error:
            why[act] = str(error)
    assert works == set(RESOURCES[resource]), why
