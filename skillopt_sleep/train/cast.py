"""Who takes part in a run: who attempts, who edits, what may be tried, what it may cost. The world builds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from skillopt_core.protocols import Critic, Environment, Screen
from skillopt_sleep.budget import Budget
from skillopt_sleep.domain.reports import Evidence


@dataclass(frozen=True)
class Cast:
    """The players of one run.

    `environment` attempts and judges. `target` says who that is (name, version, model, settings: part of the key of an
    attempt), `optimizer` who edits, in a word. `batch` bounds how many paid attempts are in the air between two
    commits.
    """

    environment: Environment
    critic: Critic
    screen: Screen
    target: Mapping[str, str]
    optimizer: str
    budget: Budget
    evidence: Evidence = "replayed"
    batch: int | None = None

    @property
    def simulated(self) -> bool:
        return self.evidence == "simulated"

    @property
    def target_name(self) -> str:
        """Who attempts, for a person."""
        return self.target.get("model") or self.target["name"]
