"""Who takes part in a run: who attempts, who edits, what may be tried, what it may cost. The world builds it."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field

from skillopt_core.health import RULES_OF_THUMB, Thresholds
from skillopt_core.protocols import Critic, Environment, Screen
from skillopt_sleep.budget import Budget
from skillopt_sleep.domain.answers import Need
from skillopt_sleep.domain.reports import Evidence
from skillopt_sleep.models.pool import Pool
from skillopt_sleep.train.judging import Judging


@dataclass(frozen=True)
class Attempter:
    """Who attempts, and how that is judged.

    `named` says who it is (name, version, model, settings: part of the key of an attempt). `batch` bounds how many paid
    attempts are in the air between two commits. `offers` is what an answer holds beside words, for its checks. `open`
    says, in a sentence, what an attempt could do that it should not, "" for nothing. `sessions` fills up with native
    ids of the agent's sessions, by task, digest of the text and draw. `judging` is who says how its answers did.
    `pool` is where attempts wait for their model side by side, None where they are made one after the other or the
    agent sees to it. `remedy` is what to do about a check that nobody here could judge, "" for nothing special.
    """

    environment: Environment
    named: Mapping[str, str]
    evidence: Evidence = "replayed"
    batch: int | None = None
    offers: frozenset[Need] = frozenset({Need.TOOLS})
    open: str = ""
    sessions: MutableMapping[tuple[str, str, int], str] = field(default_factory=dict)
    judging: Judging = field(default_factory=Judging)
    pool: Pool | None = None
    remedy: str = ""

    @property
    def simulated(self) -> bool:
        return self.evidence == "simulated"

    @property
    def name(self) -> str:
        """Who attempts, for a person."""
        return self.named.get("model") or self.named["name"]


@dataclass(frozen=True)
class Cast:
    """The players of one run. `optimizer` says who edits, in a word; `thresholds` where a health signal is raised.

    `judge` says who judges by rubrics, "" where no task has one.
    """

    attempter: Attempter
    critic: Critic
    screen: Screen
    optimizer: str
    budget: Budget
    thresholds: Thresholds = RULES_OF_THUMB
    judge: str = ""
