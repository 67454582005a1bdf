"""The composition root: the only module that knows every concrete class. It builds a World and nothing else."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from skillopt_core.gate import RecordedGate, Recurrence
from skillopt_harvesters import discover, discover_loose, harvester_of, read
from skillopt_sleep.agents.recorded import History, RecordedAgent
from skillopt_sleep.budget import Budget, Limits, Price
from skillopt_sleep.clock import Clock, SystemClock
from skillopt_sleep.config import Config
from skillopt_sleep.critics.phrases import PREFERENCE, PhraseCritic
from skillopt_sleep.critics.screen import Grounds, StrictScreen
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.frictions import Friction, Pattern
from skillopt_sleep.domain.journal import Trigger
from skillopt_sleep.domain.proposals import Document, Target
from skillopt_sleep.domain.reports import BudgetReport, Evidence, HarvestCounts, Spent
from skillopt_sleep.domain.sentences import Sentence
from skillopt_sleep.domain.world import Progress
from skillopt_sleep.errors import UsageError
from skillopt_sleep.ingest import harvest
from skillopt_sleep.ingest.silence import Place, silences
from skillopt_sleep.paths import Home
from skillopt_sleep.redact import Redactor
from skillopt_sleep.review import targets
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.ledgers import Spending

if TYPE_CHECKING:
    from skillopt_core.protocols import Critic, Gate
    from skillopt_sleep.domain.world import Replays
    from skillopt_sleep.models.base import Completer

RECORDED = {"name": "recorded", "version": "1"}
"""Who attempts where no model does: a change of what it does is a new version, so that old attempts do not count."""

COMPLETERS = ("anthropic", "openai")


class Silence:
    """Nobody watches."""

    def stage(self, name: str, total: int | None = None) -> None:
        """A new stage."""

    def advance(self, done: int) -> None:
        """So far."""

    def say(self, text: str) -> None:
        """A sentence for a person."""


@dataclass
class LocalWorld:
    """One night on this machine. Implements `domain.world.World`.

    `loose` are files and folders of `--from`: they alone are harvested then. `user_home` and `environ` say where agents
    keep their transcripts and where adoptions go.
    """

    home: Home
    config: Config
    store: Store
    user_home: Path
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    clock: Clock = field(default_factory=SystemClock)
    progress: Progress = field(default_factory=Silence)
    loose: Sequence[Path] = ()
    agents: Sequence[str] = ()
    trigger: Trigger = "manual"
    zone: str = "UTC"
    resume: bool = False
    as_of_ms: int | None = None
    dry_run: bool = False
    evidence: Evidence = "recorded"
    lookback_ms: int | None = None
    max_sessions: int | None = None
    redactor: Redactor = field(init=False)
    backend: str = field(init=False)
    _budgets: dict[str, Budget] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.redactor = Redactor((*self.config.redact.patterns, *map(_literal, self.config.redact.words)))
        self.backend = chosen_backend(self.config)

    def places(self) -> Sequence[Place]:
        """Where there is something to read, or might be: the paths of `--from`, else the folders of each agent."""
        if self.loose:
            return [self._named(path) for path in self.loose]
        wanted = self.agents or self.config.harvest.agents
        return [self._folders(agent) for agent in wanted]

    def harvest(self) -> HarvestCounts:
        """Bring the store up to date with what is in these places, and say which of them gave nothing."""
        places = self.places()
        counts = harvest(
            self.store,
            {(source.agent, source.path): source for place in places for source in place.sources}.values(),
            read,
            self.redactor,
            self.clock,
            max_sessions=self.max_sessions or self.config.harvest.max_sessions,
            lookback_ms=self.lookback_ms,
            exclude=self.config.harvest.exclude,
            trouble=[trouble for place in places for trouble in place.trouble],
            progress=self._harvested,
        )
        others = sum(len(place.others) for place in places)
        return replace(
            counts,
            files=counts.files + others,
            skipped={**counts.skipped, **({"not a transcript": others} if others else {})},
            warnings=(*counts.warnings, *silences(self.store, places)),
        )

    def _named(self, path: Path) -> Place:
        found, trouble, others = discover_loose([path])
        wanted = [source for source in found if not self.agents or source.agent in self.agents]
        return Place("an agent that is read", (str(path),), wanted, trouble, others)

    def _folders(self, agent: str) -> Place:
        found, trouble = discover(self.user_home, self.environ, {agent})
        roots = harvester_of(agent).roots(self.user_home, self.environ)
        return Place(agent, tuple(map(str, roots)), found, trouble)

    def _harvested(self, done: int, of: int) -> None:
        self.progress.stage("harvest", of)
        self.progress.advance(done)

    def live(self, document: Document) -> str | None:
        """The document as it stands at its targets, None where it is nowhere yet."""
        return targets.live_text(self.targets(document))

    def targets(self, document: Document) -> Sequence[Target]:
        """Where the document would be written: nowhere where its project is not on this machine."""
        base = Path(document.scope)
        if not base.is_absolute() or not base.is_dir():
            return ()
        chosen = tuple(a for a in self.config.targets.agents or targets.AGENTS if a in targets.AGENTS)
        return targets.find_targets(document, chosen, targets.project(base))

    def replays(self, episodes: Sequence[Episode]) -> Replays:
        """Who attempts: the recorded agent over the project's own history."""
        return RecordedAgent(History.of(episodes))

    def attempter(self) -> Mapping[str, str]:
        """Name and version of who attempts."""
        return RECORDED

    def critic(self, shown: Mapping[str, Sequence[tuple[Friction, Sentence]]]) -> Critic:
        """Who phrases edits: the deterministic critic, over frictions that the miner or a model has named."""
        return PhraseCritic(shown)

    def screen(self, preferences: Sequence[Sentence]) -> StrictScreen:
        """What may not be tried: what negates a preference, carries an address or a secret, says nothing new."""
        free = frozenset(PREFERENCE + text for text in self.config.preferences.rules)
        grounds = Grounds(preferences=tuple(preferences), free=free)
        return StrictScreen(grounds, is_secret=lambda text: self.redactor.redact(text) != text)

    def gate(self, recurrence: Recurrence | None, per_week: float | None) -> Gate:
        """The recorded gate: what is replayed is what happened, so the best verdict is `supported`."""
        return RecordedGate(recurrence, per_week)

    def kinds(self, corrections: Sequence[Pattern], night: str) -> Sequence[Pattern]:
        """As they came: to find kinds among a person's words takes a model."""
        del night
        return corrections

    def spending(self, night: str) -> BudgetReport:
        """What the night has spent so far."""
        found = self.budget(night).as_json()
        return BudgetReport(**{name: _spent(cast("Mapping[str, float | None]", row)) for name, row in found.items()})

    def budget(self, night: str) -> Budget:
        """The night's budget; what was spent before a restart counts."""
        if night not in self._budgets:
            limits = Limits(
                self.config.budget.tokens,
                self.config.budget.calls,
                self.config.budget.usd,
                self.config.budget.minutes * 60 if self.config.budget.minutes else None,
            )
            prices = {model: Price(p.input, p.output) for model, p in self.config.models.prices.items()}
            self._budgets[night] = Budget(limits, Spending(self.store, night), self.clock, prices)
        return self._budgets[night]

    def completer(self, role: str) -> Completer | None:
        """The model of a role, None where that role has none. UsageError where it has a backend but no name."""
        models = self.config.models
        backend = getattr(models, f"{role}_backend") or self.backend
        if backend not in COMPLETERS:
            return None
        name = getattr(models, role)
        if name is None:
            raise UsageError(f"no {role} model is named", remedy=f"Use --{role}-model, or set models.{role}")
        if backend == "anthropic":
            from skillopt_sleep.models.anthropic import AnthropicCompleter

            return AnthropicCompleter(name, base_url=models.anthropic_base_url)
        from skillopt_sleep.models.openai import OpenAICompleter

        return OpenAICompleter(name, base_url=models.openai_base_url)


def chosen_backend(config: Config) -> str:
    """`auto` is what the user has named a model for, else `recorded`: no transcript goes to whom nobody named."""
    backend = config.models.backend
    if backend != "auto":
        return backend
    return config.models.optimizer_backend or "recorded"


def local_zone() -> str:
    """The machine's time zone by its IANA name; a night's date is local, everything else is UTC."""
    import tzlocal

    return tzlocal.get_localzone_name() or "UTC"


def _literal(word: str) -> str:
    import re

    return re.escape(word)


def _spent(row: Mapping[str, float | None]) -> Spent:
    exact = row.get("exact")
    return Spent(row.get("limit"), row.get("spent"), None if exact is None else bool(exact))
