"""A model as writer of tasks: from what a person asked for to a request that stands alone, with checks of its outcome.

It is shown one session at a time: what was said, what was done, which checks are on offer. What it answers is data,
held here against the recording: a task is kept only if its checks held at the end, fail on the starting state, and are
not given away by its prompt. Pure but for `complete` and the starting states that are handed in.
"""

from __future__ import annotations

from skillopt_sleep.mine.requested.asking import Written, ask_tasks, most_requests, prompt_of
from skillopt_sleep.mine.requested.holding import Refused
from skillopt_sleep.mine.requested.keeping import kept_tasks, patterns_of
from skillopt_sleep.mine.requested.sheets import Sheet, sheets_of
from skillopt_sleep.mine.requested.sorting import LONGEST_QUESTION, PREFIX, Kind, sorted_out
from skillopt_sleep.mine.requested.vetting import Task, start_of, vetted

__all__ = [
    "LONGEST_QUESTION",
    "PREFIX",
    "Kind",
    "Refused",
    "Sheet",
    "Task",
    "Written",
    "ask_tasks",
    "kept_tasks",
    "most_requests",
    "patterns_of",
    "prompt_of",
    "sheets_of",
    "sorted_out",
    "start_of",
    "vetted",
]
