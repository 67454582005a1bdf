"""A model as miner: it groups what a person said into kinds and phrases a rule for each (architecture.md).

It is shown numbered items, the person's words beside what the agent had done, never what tools said. What it answers is
checked here: which items it may count, what a rule may name, where a rule would do harm. Pure but for `complete`.
"""

from __future__ import annotations

from skillopt_sleep.mine.kinds.asking import LONGEST_COMPARISON, Asked, ask_kinds, most_requests, prompts_of
from skillopt_sleep.mine.kinds.forming import Kind, is_kind, kinds_of, patterns_of, programs_of
from skillopt_sleep.mine.kinds.items import Item, Window, batches, items_of, shown_of

__all__ = [
    "LONGEST_COMPARISON",
    "Asked",
    "Item",
    "Kind",
    "Window",
    "ask_kinds",
    "batches",
    "is_kind",
    "items_of",
    "kinds_of",
    "most_requests",
    "patterns_of",
    "programs_of",
    "prompts_of",
    "shown_of",
]
