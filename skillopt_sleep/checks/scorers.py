"""Scorers: Python functions that judge an answer, found by entry points of the group `skillopt_sleep.scorers`."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint

from skillopt_core.protocols import Exhausted
from skillopt_core.types import Missing, Score
from skillopt_sleep.domain.answers import Answer
from skillopt_sleep.errors import ModelError
from skillopt_sleep.plugins import SCORERS, NotFit, Plugins, plugins

Scorer = Callable[[Answer, object], Score | Missing]
"""Judges an answer, given the `argument` of the task's line."""

log = logging.getLogger(__name__)


def scorers(entries: Iterable[EntryPoint] | None = None) -> Plugins[Scorer]:
    """The scorers that are installed, each so wrapped that it gives a sound score or none."""
    return plugins(SCORERS, as_scorer, (), entries)


def as_scorer(name: str, loaded: object) -> Scorer:
    """A scorer as a plugin brings it: a function of an answer and the line's argument.

    It may return a `Score`, `Missing`, true or false, or a number in [0, 1] (then hard is 1 where it is 1).
    """
    if not callable(loaded):
        raise NotFit("it is no function of (answer, argument)")

    def score(answer: Answer, argument: object) -> Score | Missing:
        try:
            said = loaded(answer, argument)
        except (Exhausted, ModelError):  # of a judge that it asked
            raise
        except Exception as error:  # code of others: an error of it is no score
            log.warning("A scorer failed", exc_info=True, extra={"action": "scorer_failed", "scorer": name})
            return Missing(f"the scorer {name} failed ({type(error).__name__})")
        return _sound(name, said)

    return score


def _sound(name: str, said: object) -> Score | Missing:
    if isinstance(said, Missing):
        return said
    if isinstance(said, (bool, int, float)) and math.isfinite(said) and 0 <= said <= 1:
        failed = () if said == 1 else ("The answer is not what was wanted.",)
        return Score(hard=float(said == 1), soft=float(said), failed=failed)
    if isinstance(said, Score) and 0 <= said.hard <= 1 and 0 <= said.soft <= 1:
        return said
    return Missing(f"the scorer {name} gave no score in [0, 1]")
