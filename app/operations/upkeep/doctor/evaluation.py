"""Whether the engine can evaluate all features."""

from collections.abc import Iterator
from functools import partial

from app.catalogue.environments import service as environments
from app.core.db import transact
from app.core.words import counted, listed
from app.delivery.sdk import state
from app.delivery.sdk.engines import evaluated
from app.delivery.sdk.payloads import Answers
from app.operations.upkeep.doctor.findings import Finding, fine, wrong

ABOUT = "evaluation"
REMEDY = (
    "Open the strategies of these features there and save them again. The page says what it "
    "refuses. Or restore a backup: flagstaff restore FILE"
)


def check_evaluation() -> Iterator[Finding]:
    """Check that the engine can read the features of all environments."""
    names = transact(environments.all_names, writes=False)
    found = [problem for name in names for problem in _problems(name)]
    read = f"The engine can evaluate all features of {counted(len(names), 'environment')}."
    yield from found or [fine(ABOUT, read)]


def _problems(environment: str) -> Iterator[Finding]:
    read = transact(partial(state.read, environment), writes=False)
    evaluator, problems = evaluated(Answers(read, lambda _: set()))
    if evaluator is None:
        says = f"The engine refuses all features of {environment} because of {listed(problems)}."
        yield wrong(ABOUT, says, REMEDY)
    elif problems:
        says = f"In {environment}, the engine can't evaluate {listed(problems)}: off for everyone."
        yield wrong(ABOUT, says, REMEDY)
