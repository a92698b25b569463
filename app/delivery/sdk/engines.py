"""One evaluator for each environment, made when it is first asked for after a change."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.core.errors import Unavailable
from app.core.logs import LOGGER
from app.core.words import listed
from app.delivery.sdk.payloads import Answers, FeatureQuery
from app.evaluation.engine import StateRefused
from app.evaluation.evaluator import Evaluator, unreadable

WHOLE = FeatureQuery(None, is_inlined=False)


class NotEvaluable(Unavailable):
    """The engine refuses the state of an environment, and there is no earlier evaluator."""

    def __init__(self, environment: str) -> None:
        super().__init__()
        self.message = (
            f"Features can't be evaluated in environment {environment}. The server's log and "
            "flagstaff doctor name those that are the cause."
        )


@dataclass(frozen=True, slots=True)
class _Made:
    """``evaluator``: the earlier one if the engine refused the state; None without an earlier one.

    ``etag``: of the state.
    """

    answers: Answers
    etag: str
    evaluator: Evaluator | None
    problems: Mapping[str, str]


class Engines:
    """Keeps one evaluator per environment. ``note``: called with the number of failed features."""

    def __init__(self, note: Callable[[int], Any] = lambda _: None) -> None:
        self._lock = threading.Lock()
        self._made: dict[str, _Made] = {}
        self._note = note

    def of(self, answers: Answers) -> Evaluator:
        """Return the evaluator of a state, or the earlier one if the engine refuses the state.

        Raises:
            NotEvaluable: if there is no earlier one.

        """
        evaluator = self._up_to_date(answers).evaluator
        if evaluator is None:
            raise NotEvaluable(answers.state.environment)
        return evaluator

    def problems(self) -> dict[str, Mapping[str, str]]:
        """Return why features can't be evaluated, by environment and name.

        Only environments that were asked for are known.
        """
        return {name: made.problems for name, made in self._made.items() if made.problems}

    def _up_to_date(self, answers: Answers) -> _Made:
        environment = answers.state.environment
        made = self._made.get(environment)
        if made is not None and made.answers is answers:
            return made
        with self._lock:
            made = self._made.get(environment)
            if made is not None and made.answers is answers:
                return made  # another thread was faster
            made = self._made[environment] = _make(answers, made)
            self._note(sum(len(one.problems) for one in self._made.values()))
            return made


def evaluated(answers: Answers) -> tuple[Evaluator | None, Mapping[str, str]]:
    """Return the evaluator (None if the engine refuses the state), and problems by feature."""
    state = answers.all(WHOLE)
    try:
        evaluator = Evaluator(state.body)
    except StateRefused as refused:
        return None, unreadable(state.body) or {"*": str(refused)}
    return evaluator, evaluator.problems


def _make(answers: Answers, last: _Made | None) -> _Made:
    etag = answers.all(WHOLE).etag
    if last is not None and last.etag == etag:  # what changed is not in this environment
        return _Made(answers, etag, last.evaluator, last.problems)
    evaluator, problems = evaluated(answers)
    environment, names = answers.state.environment, listed(problems)
    if evaluator is None:
        LOGGER.error("environment %s: the engine refuses all because of %s", environment, names)
        evaluator = None if last is None else last.evaluator
    elif problems:
        LOGGER.error("environment %s: the engine can't evaluate %s", environment, names)
    return _Made(answers, etag, evaluator, problems)
