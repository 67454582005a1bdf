"""What a night says in the morning: one frozen fact, from which Markdown, JSON, HTML and the terminal are rendered.

All text in it is redacted already; none of it is escaped, that is each renderer's work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from skillopt_core.gate import Observed
from skillopt_core.types import Verdict
from skillopt_sleep.domain.frictions import FrictionKind, Quote, Stake
from skillopt_sleep.domain.proposals import Document, ProposedEdit

Evidence = Literal["recorded", "replayed", "observed", "simulated"]


@dataclass(frozen=True, slots=True)
class ReadWarning:
    """Something odd in a transcript that was read all the same; `line` counts from 1, None where there are no lines."""

    path: str
    line: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class HarvestCounts:
    """What was read (cli.md, `harvest`). `seconds` is wall time; `pending` sessions wait for the next night."""

    files: int = 0
    bytes: int = 0
    seconds: float = 0.0
    new: int = 0
    updated: int = 0
    unchanged: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[ReadWarning, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    pending: int = 0

    @property
    def sessions(self) -> int:
        return self.new + self.updated + self.unchanged


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """Patterns, and tasks by split; None where no split was made."""

    patterns: int = 0
    mined: int = 0
    train: int | None = None
    gate: int | None = None
    audit: int | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """One line of the budget. `limit` None: no limit. `exact` False: estimated, as a provider did not say."""

    limit: float | None = None
    spent: float | None = None
    exact: bool | None = None


@dataclass(frozen=True, slots=True)
class BudgetReport:
    tokens: Spent = Spent()
    calls: Spent = Spent()
    usd: Spent = Spent()
    seconds: Spent = Spent()


@dataclass(frozen=True, slots=True)
class ModelUse:
    """A model that was asked in a night: in which role, over which backend, at which host.

    `prompts` are those that were sent; `failed` counts those without an answer, by reason.
    """

    role: str
    model: str
    backend: str = ""
    host: str = ""
    prompts: int = 0
    failed: Mapping[str, int] = field(default_factory=dict)

    @property
    def answered(self) -> int:
        return self.prompts - sum(self.failed.values())


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """What became of one document. `proposal` is the id that `review` and `adopt` take, None where none was staged.

    `understood` is the share of the text's rules that the agent could read (recorded replay), None elsewhere.
    `error` is set where this document failed while the night went on.
    """

    document: Document
    verdict: Verdict | None
    edits: tuple[ProposedEdit, ...] = ()
    proposal: str | None = None
    understood: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class RefusedAction:
    """A kind of action that a person refused, and why. `reasons` are their own words, with the author in each."""

    action: str
    times: int
    sessions: int
    reasons: tuple[Quote, ...] = ()
    person: str = ""
    stake: Stake | None = None


@dataclass(frozen=True, slots=True)
class Recurring:
    """Something that comes back: a diagnostic code, a fact of the project, a tool friction, a kind of request.

    `self_healing`: the error names its own remedy and the next action mends it; worth one action at most, shown last.
    """

    title: str
    kind: FrictionKind | Literal["request"]
    times: int
    sessions: int
    last_ms: int
    stake: Stake | None = None
    quotes: tuple[Quote, ...] = ()
    self_healing: bool = False


@dataclass(frozen=True, slots=True)
class TooRare:
    """Seen, too rare to test (gate.md, unit): in fewer than two sessions before its cut, or with nothing after it."""

    title: str
    kind: FrictionKind | Literal["request"]
    sessions: int
    why: str


@dataclass(frozen=True, slots=True)
class TrialLine:
    """An unproven candidate that is tried on later tasks.

    `alpha` is the chance that a useless one is ever believed on this kind of evidence: accepted, or of recorded
    evidence, which ends in no `accept`, supported.
    """

    id: str
    skill: str
    title: str
    e_value: float | None
    nights: int
    state: Literal["running", "accepted", "dropped", "restarted", "adopted"]
    needs: str = ""
    alpha: float = 0.0
    evidence: Evidence = "recorded"


@dataclass(frozen=True, slots=True)
class StandingOut:
    """What e-BH would keep of a night's recorded rules (gate.md, thresholds): information beside the verdicts.

    `listed` rules have five applicable units or more; `titles` are those that are kept, of which at most a share of
    `alpha` is expected to be false.
    """

    listed: int
    titles: tuple[str, ...]
    alpha: float


@dataclass(frozen=True, slots=True)
class Watched:
    """An adopted rule in the person's later sessions: breach rates before and after, None where there are no sessions.

    `before` are the sessions between the rule's cut and its adoption. `observed` compares them like with like.
    """

    rule: str
    skill: str
    title: str
    sessions: int
    before: float | None
    after: float | None
    finding: str
    adoption: str = ""
    observed: Observed | None = None

    @property
    def says(self) -> str:
        """`helps`, `hurts` or `too few sessions yet`; "" where nothing was compared."""
        return self.observed.says if self.observed else ""


@dataclass(frozen=True, slots=True)
class NightReport:
    """One night. Times are ms UTC. `false_adoptions` is the sum of alpha over trials that can still be adopted, the
    accepted ones among them (gate.md, thresholds: "expected false adoptions, at most"), `false_support` the same of
    recorded trials, which can only be supported. `as_of_ms` is set for a backtest alone.
    `skipped` counts what was left out on purpose, by reason; `path` is where the HTML page lies, None where unsaved.
    """

    night: str
    backend: str
    evidence: Evidence
    began_ms: int
    ended_ms: int
    harvest: HarvestCounts = HarvestCounts()
    tasks: TaskCounts = TaskCounts()
    budget: BudgetReport = BudgetReport()
    documents: tuple[DocumentResult, ...] = ()
    refusals: tuple[RefusedAction, ...] = ()
    recurring: tuple[Recurring, ...] = ()
    rare: tuple[TooRare, ...] = ()
    trials: tuple[TrialLine, ...] = ()
    watch: tuple[Watched, ...] = ()
    models: tuple[ModelUse, ...] = ()
    warnings: tuple[str, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    projects: tuple[str, ...] = ()
    first_session_ms: int | None = None
    last_session_ms: int | None = None
    as_of_ms: int | None = None
    false_adoptions: float | None = None
    false_support: float | None = None
    standing_out: StandingOut | None = None
    state: Literal["done", "failed", "interrupted", "budget"] = "done"
    error: str = ""
    path: str | None = None
