"""What is said before a model is asked: how much it can come to, and how much of it the budget buys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillopt_sleep.budget import most_tokens
from skillopt_sleep.domain.world import World
from skillopt_sleep.night.journal import Journal


def sizes_of(world: World, prompts: Sequence[str]) -> list[int]:
    """The most tokens that each prompt may be, as it would be sent."""
    return [most_tokens(world.redactor.redact(prompt)) for prompt in prompts]


def plan_of(world: World, journal: Journal, sizes: Sequence[int], calls: int, tokens: int) -> str:
    """What is about to be asked, said before anything is spent. `calls` and `tokens` are the most it can come to."""
    asked = f"{len(sizes)} prompts, at most {calls} calls and {tokens:,} tokens with repairs"
    budget = world.spending(journal.id).tokens
    if budget.limit is None:
        return f"{asked}; no limit in tokens"
    left, bought = budget.limit - (budget.spent or 0), 0
    for size in sizes:
        left -= size + world.config.models.max_output
        bought += left >= 0
    return f"{asked}; of {budget.limit:,.0f} tokens, which buy {bought} of the prompts at the least"


def counted(counts: Mapping[str, int]) -> str:
    """Reasons with how often each, the commonest first."""
    return ", ".join(f"{why} ({n})" for why, n in sorted(counts.items(), key=lambda row: (-row[1], row[0])))
