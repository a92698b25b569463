"""Whatever sequence of changes people make, no one gets more than the giver has."""

from collections.abc import Callable

from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.escalation import Step, World
from tests.support.instances import reset_database

SEQUENCES = {"sqlite": 2_000, "postgresql": 200}

steps = st.builds(
    Step,
    actor=st.integers(0, 15),
    act=st.sampled_from(["create", "employ", "promote", "mint", "join", "found", "open"]),
    target=st.integers(0, 15),
    role=st.integers(1, 5),
    project=st.sampled_from(["web", "default", "new"]),
)


def check(app: Flask, examples: int) -> int:
    """Try so many sequences of steps; how many steps of them were done."""
    done = 0

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(steps, min_size=4, max_size=10))
    def try_out(sequence: list[Step]) -> None:
        nonlocal done
        with app.app_context():
            reset_database()
        world = World(app)
        done += sum(world.take(step) for step in sequence)

    run: Callable[[], None] = try_out
    run()
    return done


def test_no_one_gets_more_than_the_giver_has_in_thousands_of_sequences(app, request):
    sequences = SEQUENCES[request.node.callspec.params["app"]]
    print("sequences:", sequences, "steps done:", check(app, sequences))
