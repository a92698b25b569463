"""Whatever anybody does to anybody, nobody gets more than whoever gave it to him has himself."""

from itertools import count
from typing import NamedTuple

import pytest
from flask import Flask

from tests.clients import ApiClient
from tests.people import People

Held = set[tuple[str, str | None]]


class Principal(NamedTuple):
    id: int
    path: str
    client: ApiClient


class Step(NamedTuple):
    """Somebody does something to somebody; the numbers are taken modulo how many there are."""

    actor: int
    act: str
    target: int
    role: int
    project: str


class World:
    """People and programs of every role; each of them tries what the steps say."""

    def __init__(self, app: Flask) -> None:
        self.people = People(app)
        self.numbers = count()
        self.everybody: list[Principal] = []
        for role in ("Admin", "Editor", "Viewer"):
            self.add(self.people.person(role, role=role), "/user-admin")
            self.add(self.people.service_account(f"robot-{role}", role=role), "/service-account")
        self.admin = self.everybody[0].client
        self.admin.ok("POST", "/projects", {"id": "web", "name": "Web"})
        for role in ("Owner", "Member"):
            self.add(self.people.person(role), "/user-admin")
            self.people.join(self.everybody[-1].id, "web", role)

    def add(self, id: int, path: str) -> None:
        client = ApiClient(self.people.app, self.people.token(id, f"of {next(self.numbers)}"))
        self.everybody.append(Principal(id, f"{path}/{id}", client))

    def take(self, step: Step) -> bool:
        """Let it be tried; whether it was done. What was gained must have been the actor's."""
        actor = self.everybody[step.actor % len(self.everybody)]
        target = self.everybody[step.target % len(self.everybody)]
        watched = list(self.everybody) if step.act == "open" else [actor, target]
        known, before = len(self.everybody), self.held(actor)
        has = [self.held(principal) for principal in watched]
        done = getattr(self, step.act)(actor.client, target, step)
        for principal, had in zip(watched, has, strict=True):
            gained = self.held(principal) - had
            assert covers(before, gained), f"{step}: {principal.path} gained {gained}"
        for principal in self.everybody[known:]:
            assert covers(before, self.held(principal)), f"{step}: a new {principal.path}"
        return bool(done)

    def held(self, principal: Principal) -> Held:
        permissions = principal.client.ok("GET", "/user")["permissions"]
        return {(held["permission"], held.get("project")) for held in permissions}

    def create(self, client: ApiClient, _: Principal, step: Step) -> bool:
        name = f"person-{next(self.numbers)}"
        made = client.post("/user-admin", {"username": name, "rootRole": step.role})
        if made.status_code == 201:
            self.add(made.json["id"], "/user-admin")
        return made.status_code == 201

    def employ(self, client: ApiClient, _: Principal, step: Step) -> bool:
        made = client.post("/service-account", {"rootRole": step.role})
        if made.status_code == 201:
            self.add(made.json["id"], "/service-account")
        return made.status_code == 201

    def promote(self, client: ApiClient, target: Principal, step: Step) -> bool:
        return client.put(target.path, {"rootRole": step.role}).status_code == 200

    def mint(self, client: ApiClient, target: Principal, _: Step) -> bool:
        made = client.post(f"{target.path}/token", {"description": str(next(self.numbers))})
        own = client.post("/user/tokens", {"description": str(next(self.numbers))})
        for answer in (made, own):
            if answer.status_code == 201:
                minted = ApiClient(client.app, answer.json["secret"])
                self.everybody.append(Principal(answer.json["userId"], target.path, minted))
        return made.status_code == 201

    def join(self, client: ApiClient, target: Principal, step: Step) -> bool:
        path = f"/projects/{step.project}/access"
        shown = self.admin.get(path)
        members = shown.json["members"] if shown.status_code == 200 else []
        given = {member["id"]: member["roleId"] for member in members} | {target.id: step.role}
        body = {"members": [{"id": id, "roleId": role} for id, role in given.items()]}
        return client.put(path, body).status_code == 200

    def found(self, client: ApiClient, _: Principal, step: Step) -> bool:
        """What is held in a project that was not there before was nobody's."""
        id = f"{step.project}-{next(self.numbers)}"
        made = client.post("/projects?dryRun=true", {"id": id, "name": "New"})
        return made.status_code == 201

    def open(self, client: ApiClient, _: Principal, step: Step) -> bool:
        body = {"name": "Web", "mode": ("open", "protected", "private")[step.role % 3]}
        return client.put(f"/projects/{step.project}", body).status_code == 200


def covers(has: Held, gained: Held) -> bool:
    return ("ADMIN", None) in has or gained <= has


ACTS = {
    "create": [(role, "") for role in (1, 2, 3)],
    "employ": [(role, "") for role in (1, 2, 3)],
    "promote": [(role, "") for role in (1, 2)],
    "mint": [(3, "")],
    "join": [(role, project) for role in (4, 5) for project in ("web", "default")],
}


@pytest.mark.parametrize("app", ["sqlite"], indirect=True)  # no database has a say in it
def test_nobody_gives_what_he_has_not_himself(app):
    """One after the other; what several do in a row is tried where there is more time."""
    world, done = World(app), 0
    for actor in range(2, len(world.everybody)):  # all but the Admins, who have everything
        for act, ways in ACTS.items():
            for role, project in ways:
                path = ("/user-admin", "/service-account")[act == "mint"]
                make = (world.people.person, world.people.service_account)[act == "mint"]
                world.add(make(f"target-{next(world.numbers)}"), path)
                target = len(world.everybody) - 1
                done += world.take(Step(actor, act, target, role, project))
    assert done == 2  # an Owner made somebody an Owner, and somebody a Member
