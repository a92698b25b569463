"""How long an answer takes tells a hidden project from an unknown one no better than its words."""

import random
import time

from tests.soak.likelihood import likelihood
from tests.support.servers import Server

ADMIN = "/api/admin"
TIMES = 600
BODIES = {"GET": None, "PUT": {"name": "x"}, "POST": {"features": []}}
QUESTIONS = [
    ("GET", "/projects/{}"),
    ("GET", "/projects/{}/features"),
    ("GET", "/projects/{}/features/child"),
    ("GET", "/projects/{}/access"),
    ("GET", "/events?project={}"),
    ("PUT", "/projects/{}"),
    ("POST", "/projects/{}/archive/validate"),
]


def outsider(server: Server) -> str:
    """The token of an Editor, who is no member of anything."""
    made = server.call("POST", f"{ADMIN}/service-account", {"rootRole": 2}).json
    path = f"{ADMIN}/service-account/{made['id']}/token"
    return str(server.call("POST", path, {"description": "x"}).json["secret"])


def test_how_long_an_answer_takes_does_not_tell_whether_a_project_is_there(start, either):
    server = start(**either)
    server.call("POST", f"{ADMIN}/projects", {"id": "hidden", "name": "H", "mode": "private"})
    for name in ("child", "parent"):
        server.call("POST", f"{ADMIN}/projects/hidden/features", {"name": name})
    token, chance = outsider(server), random.Random(3)
    told = {}
    for method, path in QUESTIONS:
        took: dict[str, list[float]] = {"hidden": [], "unknown": []}
        for _ in range(TIMES):
            for id in chance.sample(list(took), 2):
                began = time.perf_counter()
                answer = server.call(method, ADMIN + path.format(id), BODIES[method], token=token)
                took[id].append(time.perf_counter() - began)
                assert answer.status in {200, 403, 404}
        told[f"{method} {path}"] = round(likelihood(took["hidden"], took["unknown"]), 3)
    print("how likely the hidden one takes longer:", told)
    assert all(0.45 <= value <= 0.55 for value in told.values()), told
