"""The composition root: the only module that knows every concrete class. It builds a World and nothing else."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from skillopt_core.gate import RecordedGate, Recurrence
from skillopt_harvesters import discover, discover_loose, harvester_of, left_out, read
from skillopt_sleep import playing
from skillopt_sleep.agents.native import LINES, Purse, Theirs
from skillopt_sleep.agents.recorded import History, RecordedAgent
from skillopt_sleep.budget import Budget, limits_of
from skillopt_sleep.clock import Clock, SystemClock
from skillopt_sleep.config import Config
from skillopt_sleep.config.roles import Role
from skillopt_sleep.critics.known import known_from
from skillopt_sleep.critics.lint import Known
from skillopt_sleep.critics.phrases import PREFERENCE, PhraseCritic
from skillopt_sleep.critics.screen import Grounds, StrictScreen
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.frictions import Friction
from skillopt_sleep.domain.journal import Trigger
from skillopt_sleep.domain.ledgers import Month
from skillopt_sleep.domain.proposals import Document, Target
from skillopt_sleep.domain.reports import BudgetReport, Evidence, HarvestCounts, ModelUse, Spent
from skillopt_sleep.domain.sentences import Sentence
from skillopt_sleep.domain.starts import Starts
from skillopt_sleep.domain.world import Progress
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.ingest import harvest
from skillopt_sleep.ingest.further import further_roots
from skillopt_sleep.ingest.remembered import clean_states
from skillopt_sleep.ingest.silence import Place, silences
from skillopt_sleep.models.base import Completion
from skillopt_sleep.models.choice import Part, part_of
from skillopt_sleep.models.command_lines import COMMAND_LINES
from skillopt_sleep.models.handoff import HandedOver, Handoff
from skillopt_sleep.models.making import HANDOFF, completer_of
from skillopt_sleep.models.pool import Pool, Rates
from skillopt_sleep.paths import Home, person
from skillopt_sleep.prices import DATE as PRICES_OF
from skillopt_sleep.prices import FREE, THIS_MACHINE, Price, prices_of
from skillopt_sleep.redact import Redactor
from skillopt_sleep.replay.starts import GitStarts
from skillopt_sleep.review import targets
from skillopt_sleep.review.unsaid import redact_files
from skillopt_sleep.store.again import note_applied, redact_again
from skillopt_sleep.store.asked import uses
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.ledgers import Completions, Spending, own_sessions
from skillopt_sleep.store.sessions import agents_of

if TYPE_CHECKING:
    from skillopt_core.asking import Complete
    from skillopt_core.protocols import Critic, Gate
    from skillopt_sleep.domain.world import Natively, Replays
    from skillopt_sleep.mine.history import History as MinedHistory
    from skillopt_sleep.models.base import Completer

RECORDED = {"name": "recorded", "version": "1"}
"""Who attempts where no model does: a change of what it does is a new version, so that old attempts do not count."""


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
    _pools: dict[str, Pool] = field(default_factory=dict)
    _purses: dict[str, Purse] = field(default_factory=dict)
    _prices: dict[str, Price] = field(init=False)
    _began_ms: int = field(init=False)

    def __post_init__(self) -> None:
        self._began_ms = self.clock.now_ms()
        self._prices = {model: Price(p.input, p.output) for model, p in self.config.models.prices.items()}
        self.redactor = Redactor(self._patterns)
        self.backend = self.part("optimizer").backend
        if self.part("target").backend in LINES:
            self.evidence = "replayed"

    def places(self) -> Sequence[Place]:
        """Where there is something to read, or might be: the paths of `--from`, else the folders of each agent."""
        if self.loose:
            return [self._named(path) for path in self.loose]
        wanted = self.agents or self.config.harvest.agents
        return [self._folders(agent) for agent in wanted]

    def harvest(self) -> HarvestCounts:
        """Bring the store up to date with what is in these places, and say which of them gave nothing.

        Newer rules of redaction, and patterns that a person added, first go over what is there.
        """
        self._redact_again()
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
            own_sessions=own_sessions(self.store),
            trouble=[*(trouble for place in places for trouble in place.trouble), *left_out()],
            progress=self._harvested,
        )
        note_applied(self.store, self._patterns)
        others = sum(len(place.others) for place in places)
        return replace(
            counts,
            files=counts.files + others,
            skipped={**counts.skipped, **({"not a transcript": others} if others else {})},
            warnings=(*counts.warnings, *silences(self.store, places)),
        )

    @property
    def _patterns(self) -> tuple[str, ...]:
        """What a person has redacted beyond the rules, as regular expressions."""
        return (*self.config.redact.patterns, *map(_literal, self.config.redact.words))

    def _redact_again(self) -> None:
        clean = self.redactor.redact_many
        done = redact_again(self.store, self.redactor, self._patterns, lambda states: clean_states(states, clean, {}))
        if done["changed"] or done["words"]:
            redact_files(self.home.reports, clean)
            self.progress.say(f"newer rules of redaction changed {done['changed']} of {done['bodies']} stored texts")

    def _named(self, path: Path) -> Place:
        found, trouble, others = discover_loose([path])
        wanted = [source for source in found if not self.agents or source.agent in self.agents]
        return Place("an agent that is read", (str(path),), wanted, trouble, others)

    def _folders(self, agent: str) -> Place:
        further = further_roots(self.config.harvest.roots, self.user_home)
        found, trouble = discover(self.user_home, self.environ, {agent}, further)
        roots = (*harvester_of(agent).roots(self.user_home, self.environ), *further.get(agent, ()))
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
        wanted = self.config.targets.agents or agents_of(self.store, document.scope)
        chosen = tuple(agent for agent in targets.AGENTS if agent in wanted)
        return targets.find_targets(document, chosen, targets.project(base))

    def replays(self, episodes: Sequence[Episode]) -> Replays:
        """Who attempts: the recorded agent over the project's own history."""
        return RecordedAgent(History.of(episodes))

    def natively(self, night: str, project: str, history: MinedHistory) -> Natively | None:
        """A real agent's command line over a project's mined tasks, paid for out of the night's budget."""
        target = self.part("target")
        if target.backend not in LINES:
            return None
        purse = self._purses.setdefault(night, Purse(self.budget(night), target.model or target.backend))
        return playing.Natively(self.config, target.backend, self.store, self.redactor, project, history, purse)

    def starts(self, project: str) -> Starts:
        """The project's own repository, where it is on this machine."""
        return GitStarts(project, self.environ.get("PATH", os.defpath))

    def attempter(self) -> Mapping[str, str]:
        """Name and version of who attempts."""
        return RECORDED

    def critic(self, shown: Mapping[str, Sequence[tuple[Friction, Sentence]]]) -> Critic:
        """Who phrases edits: the deterministic critic, over frictions that the miner or a model has named."""
        return PhraseCritic(shown)

    def screen(
        self, preferences: Sequence[Sentence], episodes: Sequence[Episode] = (), literals: Collection[str] = ()
    ) -> StrictScreen:
        """What may not be tried: what negates a preference, carries an address or a secret, or says nothing new.

        What neither these episodes of a project nor its folder know is flagged.
        """
        free = frozenset(PREFERENCE + text for text in self.config.preferences.rules)
        known = known_from(episodes, _in_folder(Path(episodes[0].project))) if episodes else Known()
        grounds = Grounds(frozenset(literals), preferences=tuple(preferences), free=free, known=known)
        return StrictScreen(grounds, is_secret=lambda text: self.redactor.redact(text) != text)

    def gate(self, recurrence: Recurrence | None, per_week: float | None) -> Gate:
        """The recorded gate: what is replayed is what happened, so the best verdict is `supported`."""
        return RecordedGate(recurrence, per_week)

    def optimizer(self, night: str) -> Complete | None:
        """The optimizer's model over its budget and its ledger, None where none is configured.

        Raises `UsageError` where it has a backend but no name, `NotSignedIn` where it has no key.
        """
        completer = self.completer("optimizer")
        return None if completer is None else self.completion(completer, night, self.store)

    def completion(self, completer: Completer, night: str, journal: Store, role: Role = "optimizer") -> Complete:
        """A role's `complete` over a model: paid from this night's budget, its replies kept in `journal`.

        Questions that are handed over cost the budget nothing, and raise `AnswersAwaited`.
        """
        if isinstance(completer, Handoff):
            return HandedOver(
                completer,
                Completions(journal, self.redactor.redact),
                night=night,
                role=role,
                redact=self.redactor.redact,
                max_output=self.config.models.max_output,
            )
        return Completion(
            completer,
            self.budget(night),
            Completions(journal, self.redactor.redact),
            night=night,
            role=role,
            redact=self.redactor.redact,
            sleep=time.sleep,
            max_output=self.config.models.max_output,
            pool=self.pool(completer.where),
        )

    def pool(self, where: str) -> Pool:
        """The pool of a provider by its host: roles that ask the same one share it."""
        if where not in self._pools:
            models = self.config.models
            rates = Rates(models.requests_per_minute, models.tokens_per_minute)
            self._pools[where] = Pool(models.parallel, rates, now=time.monotonic, sleep=time.sleep)
        return self._pools[where]

    def ready(self) -> None:
        """Whether the configured models could be asked and the agent started, seen without asking them.

        Raises `ConfigError` for a backend that there is not and for a limit in dollars without a price, `UsageError`
        where no model is named, `NotSignedIn` where there is no key.
        """
        named, target, why = self.named_model(), self.part("target"), self.part("optimizer").why
        if why:
            self.progress.say(f"backend {self.backend}: {why}")
        asked = [named.model] if named is not None and named.backend != HANDOFF else []
        if target.backend in LINES:
            asked.append(target.model or target.backend)
            if unshut := playing.there(self.config, target.backend):
                self.progress.say(unshut)
        limits, unpriced = self.config.budget, [model for model in asked if model not in self._prices]
        if unpriced and (limits.usd or limits.month_usd):
            raise ConfigError(
                f"a limit in USD is set but no price of {unpriced[0]!r} is known",
                where="budget.usd",
                remedy="Add it under [models.prices] or limit tokens instead",
            )

    def named_model(self) -> ModelUse | None:
        """The optimizer's model, and the host to which prompts would go. Raises as `optimizer`."""
        completer = self.completer("optimizer")
        return None if completer is None else ModelUse("optimizer", completer.model, self.backend, completer.where)

    def models_used(self, night: str) -> Sequence[ModelUse]:
        """Which models the night has asked so far, the one that is configured also where it was not."""
        named, found, target = self.named_model(), uses(self.store, night), self.part("target")
        tried = [playing.used(self.store, night, target)] if target.backend in LINES else []
        if named is None:
            return [*found, *tried]
        known = replace(named, prompts=0)
        return [*(replace(known, prompts=use.prompts, failed=use.failed) if use.model == named.model else use
                for use in found or [named]), *tried]  # fmt: skip

    def spending(self, night: str) -> BudgetReport:
        """What the night has spent so far."""
        found = self.budget(night).as_json()
        return BudgetReport(**{name: _spent(cast("Mapping[str, float | None]", row)) for name, row in found.items()})

    def budget(self, night: str) -> Budget:
        """A run's budget; what was spent before a restart counts, and what every other run takes in this month."""
        if night not in self._budgets:
            own, month = limits_of(self.config.budget)
            self._budgets[night] = Budget(
                own,
                Spending(self.store, night, PRICES_OF, Month(month, self.zone)),
                self.clock,
                self._prices,
                began_ms=self._began_ms,
            )
        return self._budgets[night]

    def completer(self, role: Role) -> Completer | None:
        """The model of a role, None where that role has none; its price is known from then on, if there is one.

        Raises what `completer_of` raises.
        """
        completer = completer_of(self.part(role), self.home, self.environ, self._command_lines())
        if completer is not None:
            self.priced(completer.model, completer.where)
        return completer

    def priced(self, model: str, host: str) -> None:
        """From now on the price of this model is known, if there is one."""
        own = {model: FREE, **self._prices} if host == THIS_MACHINE else self._prices
        self._prices |= prices_of([(model, host)], own)

    def _command_lines(self) -> Mapping[str, Callable[[Part], Completer]]:
        """The agents' command lines, by name. The login is the person's own, whatever transcripts are read."""
        from skillopt_sleep.agents.completing import command_line

        theirs = Theirs(person(), self.environ)
        commands = {str(name): words for name, words in self.config.agents.commands.items()}
        return {name: partial(command_line, theirs=theirs, commands=commands) for name in COMMAND_LINES}

    def part(self, role: Role) -> Part:
        """Who plays a role, and where `auto` chose, why."""
        return part_of(self.config.models, role, self.home.models, self.environ)


def chosen_backend(config: Config, home: Home, environ: Mapping[str, str] = os.environ) -> str:
    """Who phrases rules: what was named for the optimizer, else for all roles, else what `auto` takes."""
    return part_of(config.models, "optimizer", home.models, environ).backend


def local_zone() -> str:
    """The machine's time zone by its IANA name; a night's date is local, everything else is UTC."""
    import tzlocal

    return tzlocal.get_localzone_name() or "UTC"


def _in_folder(root: Path) -> Callable[[str], bool]:
    """Whether a relative path is in the folder. Only its name is looked up, and never outside."""

    def has(path: str) -> bool:
        parts = Path(path).parts
        inside = root.is_absolute() and parts and ".." not in parts and not path.startswith(("/", "~"))
        return bool(inside) and os.path.lexists(root.joinpath(*parts))

    return has


def _literal(word: str) -> str:
    import re

    return re.escape(word)


def _spent(row: Mapping[str, float | None]) -> Spent:
    exact = row.get("exact")
    return Spent(row.get("limit"), row.get("spent"), None if exact is None else bool(exact))
