"""What models cost: a dated table of the providers' own list prices, and what a person says instead.

Sources: the pricing pages of Anthropic (platform.claude.com) and of OpenAI (developers.openai.com), standard tier, as
they were quoted on `DATE`. Where a provider writes prompts to its cache by itself, and bills that higher, the higher
figure stands; a promotion does not. Models with a tariff that depends on more than tokens are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

DATE: Final = "2026-11-05"
"""The day of the table: it goes into each row of what was spent."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens of input and of output."""

    input: float
    output: float

    def of(self, prompt: int, output: int) -> float:
        """US dollars of so many tokens."""
        return (prompt * self.input + output * self.output) / 1_000_000


FREE: Final = Price(0.0, 0.0)
THIS_MACHINE: Final = "this machine"
"""Where a model is that runs in this process: it costs nothing."""

TABLE: Final[Mapping[str, Mapping[str, Price]]] = {
    "api.anthropic.com": {
        "claude-fable-5-1": Price(10.0, 50.0),
        "claude-opus-5-5": Price(4.0, 20.0),
        "claude-opus-5": Price(5.0, 25.0),
        "claude-opus-4-6": Price(5.0, 25.0),
        "claude-opus-4-5": Price(5.0, 25.0),
        "claude-sonnet-5-5": Price(2.0, 10.0),
        "claude-sonnet-5": Price(2.0, 10.0),
        "claude-sonnet-4-6": Price(3.0, 15.0),
        "claude-sonnet-4-5": Price(3.0, 15.0),
        "claude-haiku-4-5": Price(1.0, 5.0),
    },
    "api.openai.com": {
        "gpt-6.1-sol": Price(2.5, 10.0),
        "gpt-6.1-terra": Price(1.25, 5.0),
        "gpt-6-sol": Price(2.5, 10.0),
        "gpt-6-luna": Price(0.125, 0.5),
        "gpt-5.6-sol": Price(5.0, 30.0),
        "gpt-5.6-terra": Price(2.0, 12.0),
        "gpt-5.6-luna": Price(0.2, 1.2),
        "gpt-5.4": Price(2.5, 15.0),
        "gpt-5.4-mini": Price(0.75, 4.5),
        "gpt-5.2": Price(1.75, 14.0),
        "gpt-5.1": Price(1.25, 10.0),
        "gpt-5": Price(1.25, 10.0),
        "gpt-5-mini": Price(0.25, 2.0),
        "gpt-4.1": Price(2.0, 8.0),
    },
}
"""By the provider's own host and the model's name: the same name elsewhere may cost something else."""
_SNAPSHOT: Final = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})$")


def prices_of(models: Iterable[tuple[str, str]], own: Mapping[str, Price]) -> dict[str, Price]:
    """Prices by model name: what a person says, else what the table says of a model (name, host) at that host.

    A dated snapshot costs what its model costs. A model that neither knows is not in the answer.
    """
    found = dict(own)
    for model, host in models:
        listed = TABLE.get(host, {})
        price = listed.get(model) or listed.get(_SNAPSHOT.sub("", model))
        if price is not None:
            found.setdefault(model, price)
    return found
