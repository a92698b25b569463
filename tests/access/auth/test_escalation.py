"""No sequence of acts gives anyone more than the person who gave it has."""

import pytest

from tests.support.escalation import Step, World

ACTS = {
    "create": [(role, "") for role in (1, 2, 3)],
    "employ": [(role, "") for role in (1, 2, 3)],
    "promote": [(role, "") for role in (1, 2)],
    "mint": [(3, "")],
    "join": [(role, project) for role in (4, 5) for project in ("web", "default")],
}


@pytest.mark.slow
@pytest.mark.parametrize("app", ["sqlite"], indirect=True)  # no database has a say in it
def test_no_one_can_grant_more_than_they_have(app):
    """One after the other; what several do in a row is tried where there is more time."""
    world, done = World(app), 0
    for actor in range(2, len(world.everyone)):  # all but the Admins, who have everything
        for act, ways in ACTS.items():
            for role, project in ways:
                path = ("/user-admin", "/service-account")[act == "mint"]
                make = (world.people.person, world.people.service_account)[act == "mint"]
                world.add(make(f"target-{next(world.numbers)}"), path)
                target = len(world.everyone) - 1
                done += world.take(Step(actor, act, target, role, project))
    assert done == 2  # an Owner made one user an Owner and another a Member
