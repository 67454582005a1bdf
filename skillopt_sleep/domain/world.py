"""What a night needs of the world. `skillopt_sleep.world` builds it; tests build smaller ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from skillopt_core.asking import Complete
from skillopt_core.gate import Recurrence
from skillopt_core.protocols import Critic, Environment, Gate, Screen
from skillopt_core.types import Skill, Task, UnitScore
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.frictions import Friction
from skillopt_sleep.domain.journal import Trigger
from skillopt_sleep.domain.proposals import Document, Target
from skillopt_sleep.domain.reports import BudgetReport, Evidence, HarvestCounts, ModelUse
from skillopt_sleep.domain.sentences import Sentence
from skillopt_sleep.domain.starts import Starts

if TYPE_CHECKING:
    from skillopt_sleep.clock import Clock
    from skillopt_sleep.config import Config
    from skillopt_sleep.domain.tasks import KeptTask
    from skillopt_sleep.mine.history import History
    from skillopt_sleep.paths import Home
    from skillopt_sleep.redact import Redactor
    from skillopt_sleep.store.engine import Store


class Replays(Environment, Protocol):
    """An environment that can say beforehand, at no cost, whether a text could change anything about a task."""

    def exposed(self, tasks: Sequence[Task], skill: Skill) -> Sequence[bool]: ...


class Natively(Protocol):
    """Who attempts a project's mined tasks afresh, as a real agent does. A task of the core holds its `KeptTask`."""

    @property
    def backend(self) -> str: ...

    @property
    def deterministic(self) -> bool: ...

    @property
    def price(self) -> int:
        """Tokens that are set aside for the next attempt."""
        ...

    @property
    def overshot(self) -> tuple[int, int]:
        """Runs of this night that took more than could be set aside for them, and the tokens too many."""
        ...

    def affords(self, attempts: int) -> bool:
        """Whether the budget reaches for so many attempts at that price. Spends nothing."""
        ...

    def gate(self, alpha: float, prior: tuple[UnitScore, ...]) -> Gate:
        """The configured gate over fresh attempts; `prior` are units that earlier nights measured."""
        ...

    def unjudged(self, kept: KeptTask) -> str:
        """Why an attempt at the task could not be judged, "" where it could."""
        ...

    def has_start(self, kept: KeptTask) -> bool:
        """Whether the task starts from the project as it was then: else from an empty folder."""
        ...

    def environment(self, night: str, comparison: str, *, memory: bool = False) -> Environment:
        """The agent, each attempt of this comparison made once and kept. `memory`: texts stand in a memory file.

        It raises `NotSignedIn` where nobody is signed in to the agent, and `Exhausted`.
        """
        ...

    def named(self) -> Mapping[str, str]:
        """Name, version, model and settings of who attempts."""
        ...


class Progress(Protocol):
    """Who is shown how far the night is: a bar, plain lines, nobody."""

    def stage(self, name: str, total: int | None = None) -> None: ...

    def advance(self, done: int) -> None: ...

    def say(self, text: str) -> None: ...


class World(Protocol):
    """The composition of one night: what it works on, with whom, and what it may take."""

    home: Home
    clock: Clock
    config: Config
    store: Store
    redactor: Redactor
    progress: Progress
    backend: str
    trigger: Trigger
    zone: str
    resume: bool
    as_of_ms: int | None
    dry_run: bool
    evidence: Evidence

    def harvest(self) -> HarvestCounts:
        """Bring the store up to date with the sources of this night."""
        ...

    def live(self, document: Document) -> str | None:
        """The document as it stands at its targets, None where it is nowhere yet. Raises `AdoptionError`."""
        ...

    def targets(self, document: Document) -> Sequence[Target]:
        """Where an adoption of the document would be written."""
        ...

    def replays(self, episodes: Sequence[Episode]) -> Replays:
        """Who attempts recorded episodes."""
        ...

    def natively(self, night: str, project: str, history: History) -> Natively | None:
        """Who attempts natively, None where recorded sessions are replayed. `history` names what the miner finds."""
        ...

    def starts(self, project: str) -> Starts:
        """Where the starting states of a project's sessions are found."""
        ...

    def attempter(self) -> Mapping[str, str]:
        """Name and version of who attempts: part of the key of an attempt."""
        ...

    def critic(self, shown: Mapping[str, Sequence[tuple[Friction, Sentence]]]) -> Critic:
        """Who phrases edits: `shown` are the frictions of each train task with the sentence that they suggest."""
        ...

    def screen(
        self, preferences: Sequence[Sentence], episodes: Sequence[Episode] = (), literals: Collection[str] = ()
    ) -> Screen:
        """What may not be tried: what negates a preference, what cannot be trusted, what quotes one of `literals`.

        An edit that names a tool, parameter, program, flag or file that none of `episodes` has used is flagged.
        """
        ...

    def gate(self, recurrence: Recurrence | None, per_week: float | None) -> Gate:
        """Who decides on tonight's evidence."""
        ...

    def optimizer(self, night: str) -> Complete | None:
        """Who groups what a person said and phrases rules; None where no model is configured. Paid from the budget."""
        ...

    def models_used(self, night: str) -> Sequence[ModelUse]:
        """Which models the night has asked so far, and how that went."""
        ...

    def named_model(self) -> ModelUse | None:
        """The model that would be asked, and the host to which prompts would go; None where there is none."""
        ...

    def spending(self, night: str) -> BudgetReport:
        """What the night has spent so far."""
        ...
