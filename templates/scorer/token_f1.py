"""A scorer: how many words an answer shares with the right one. In a task: "scorer": "token_f1", "argument": "gold"."""

from __future__ import annotations

from collections import Counter

from skillopt_core.types import Missing, Score
from skillopt_sleep.checks import Answer


def token_f1(answer: Answer, argument: object) -> Score | Missing:
    """Soft is the harmonic mean of precision and recall over words, hard is 1 where they are the same words.

    `Missing` where it cannot be judged: that is not a score of zero.
    """
    if not isinstance(argument, str) or not argument.split():
        return Missing("the task's argument is no text")
    said, gold = Counter(answer.text.lower().split()), Counter(argument.lower().split())
    shared = (said & gold).total()
    soft = 2 * shared / (said.total() + gold.total())
    failed = () if soft == 1 else ("The answer has not the words that were wanted; which is not shown.",)
    return Score(hard=float(soft == 1), soft=soft, failed=failed)
