"""People and service accounts of every role, who try to get more than they have."""

from itertools import count
from typing import NamedTuple

from flask import Flask

from tests.support.clients import ApiClient
from tests.support.people import People

Held = set[tuple[str, str | None]]


class Principal(NamedTuple):
    id: int
    path: str
    client: ApiClient


class Step(NamedTuple):
    """One user changes another; the numbers are taken modulo how many there are."""

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
        self.everyone: list[Principal] = []
        for role in ("Admin", "Editor", "Viewer"):
            self.add(self.people.person(role, role=role), "/user-admin")
            self.add(self.people.service_account(f"robot-{role}", role=role), "/service-account")
        self.admin = self.everyone[0].client
        self.admin.ok("POST", "/projects", {"id": "web", "name": "Web"})
        for role in ("Owner", "Member"):
            self.add(self.people.person(role), "/user-admin")
            self.people.join(self.everyone[-1].id, "web", role)

    def add(self, id: int, path: str) -> None:
        client = ApiClient(self.people.app, self.people.token(id, f"of {next(self.numbers)}"))
        self.everyone.append(Principal(id, f"{path}/{id}", client))

    def take(self, step: Step) -> bool:
        """Let it be tried; whether it was done. What was gained must have been the actor's."""
        actor = self.everyone[step.actor % len(self.everyone)]
        target = self.everyone[step.target % len(self.everyone)]
        watched = list(self.everyone) if step.act == "open" else [actor, target]
        known, before = len(self.everyone), self.held(actor)
        has = [self.held(principal) for principal in watched]
        done = getattr(self, step.act)(actor.client, target, step)
        for principal, had in zip(watched, has, strict=True):
            gained = self.held(principal) - had
            assert covers(before, gained), f"{step}: {principal.path} gained {gained}"
        for principal in self.everyone[known:]:
            assert covers(before, self.held(principal)), f"{step}: a new {principal.path}"
        return bool(done)

    def held(self, principal: Principal) -> Held:
        permissions = principal.client.ok("GET", "/user")["permissions"]
        return {(held["permission"], held.get("project")) for held in permissions}

    def create(self, client: ApiClient, _: Principal, step: Step) -> bool:
        name = f"person-{next(self.numbers)}"
        made = client.post("/user-admin", {"username": name, "rootRole": step.role})
        if made.status_code == 201:
            self.add(made.get_json()["id"], "/user-admin")
        return made.status_code == 201

    def employ(self, client: ApiClient, _: Principal, step: Step) -> bool:
        made = client.post("/service-account", {"rootRole": step.role})
        if made.status_code == 201:
            self.add(made.get_json()["id"], "/service-account")
        return made.status_code == 201

    def promote(self, client: ApiClient, target: Principal, step: Step) -> bool:
        return client.put(target.path, {"rootRole": step.role}).status_code == 200

    def mint(self, client: ApiClient, target: Principal, _: Step) -> bool:
        made = client.post(f"{target.path}/token", {"description": str(next(self.numbers))})
        own = client.post("/user/tokens", {"description": str(next(self.numbers))})
        for answer in (made, own):
            if answer.status_code == 201:
                minted = ApiClient(client.app, answer.get_json()["secret"])
                self.everyone.append(Principal(answer.get_json()["userId"], target.path, minted))
        return made.status_code == 201

    def join(self, client: ApiClient, target: Principal, step: Step) -> bool:
        path = f"/projects/{step.project}/access"
        shown = self.admin.get(path)
        members = shown.get_json()["members"] if shown.status_code == 200 else []
        given = {member["id"]: member["roleId"] for member in members} | {target.id: step.role}
        body = {"members": [{"id": id, "roleId": role} for id, role in given.items()]}
        return client.put(path, body).status_code == 200

    def found(self, client: ApiClient, _: Principal, step: Step) -> bool:
        """In a project that did not exist before, no one had anything."""
        id = f"{step.project}-{next(self.numbers)}"
        made = client.post("/projects?dryRun=true", {"id": id, "name": "New"})
        return made.status_code == 201

    def open(self, client: ApiClient, _: Principal, step: Step) -> bool:
        body = {"name": "Web", "mode": ("open", "protected", "private")[step.role % 3]}
        return client.put(f"/projects/{step.project}", body).status_code == 200


def covers(has: Held, gained: Held) -> bool:
    return ("ADMIN", None) in has or gained <= has
