"""Experience replay: similar past tasks beside a step's own (method.md: the more is recalled, the more is gained).

Similarity is the cosine of word counts weighed by how rare a word is (tf-idf): the same tasks recall the same ones on
any machine. Only train tasks and `TaskSet.past` are recalled, never what is held out.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from skillopt_core.dreams import DREAM, twin_of
from skillopt_core.schedule import PlannedStep
from skillopt_core.types import Task, TaskSet

_WORD: Final = re.compile(r"\w{2,}")
_TINY: Final = 1e-12


def batch_of(step: PlannedStep, tasks: TaskSet) -> list[Task]:
    """The step's own train tasks, their dreams, and behind them the most similar of the others and of the past.

    At most `step.recall` a task of the batch, each once; twins of one that is there already are not recalled.
    """
    own = step.batch(tasks.train)
    units = {twin_of(task) for task in own}
    dreamt = [task for task in tasks.past if task.origin == DREAM and task.unit in units]
    return own + dreamt + _recalled(own, step.recall, tasks)


def _recalled(own: Sequence[Task], k: int, tasks: TaskSet) -> list[Task]:
    if not k:
        return []
    there = {key for task in own for key in task.keys}
    past = (task for task in tasks.past if task.origin != DREAM)
    pool = [task for task in (*tasks.train, *past) if not there & task.keys]
    found = Similar([task.prompt for task in pool])
    chosen = {n for task in own for n in found.to(task.prompt, k)}
    return [pool[n] for n in sorted(chosen)]


class Similar:
    """Texts in which the most similar to another can be looked up. Built once, in time linear in their length."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(_WORD.findall(text.casefold())) for text in texts]
        spread = Counter(word for count in counts for word in count)
        self._rarity = {word: math.log((1 + len(texts)) / n) for word, n in spread.items()}
        self._holding: Mapping[str, list[tuple[int, float]]] = defaultdict(list)
        for n, count in enumerate(counts):
            for word, weight in self._weighed(count).items():
                self._holding[word].append((n, weight))

    def to(self, text: str, k: int) -> list[int]:
        """Indices of the `k` most similar texts, best first, the earlier of equals first; none that share no word."""
        likeness: dict[int, float] = defaultdict(float)
        for word, weight in self._weighed(Counter(_WORD.findall(text.casefold()))).items():
            for n, other in self._holding.get(word, ()):
                likeness[n] += weight * other
        alike = [(n, round(value, 12)) for n, value in likeness.items() if value > _TINY]
        return [n for n, _ in sorted(alike, key=lambda one: (-one[1], one[0]))[:k]]

    def _weighed(self, count: Mapping[str, int]) -> dict[str, float]:
        """Weights of a text's words, of length one as a vector. Words of no text weigh nothing."""
        raw = {word: n * self._rarity.get(word, 0.0) for word, n in sorted(count.items())}
        length = math.sqrt(sum(weight * weight for weight in raw.values()))
        return {word: weight / length for word, weight in raw.items()} if length > _TINY else {}
