"""The real agents put together, for the runs of `train` and `eval` and for a night alike: who attempts natively."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skillopt_core.gate import Metric, OffGate, ProofGate, StrictGate
from skillopt_core.types import Missing, Skill, Task
from skillopt_sleep import sandbox
from skillopt_sleep.agents.native import (
    LINES,
    Attempted,
    NativeAgent,
    NativeSettings,
    Purse,
    Theirs,
    program_of,
    run_plainly,
    shut_in,
    version_of,
)
from skillopt_sleep.agents.native.agent import Judge, LayOut
from skillopt_sleep.checks import BUILT_IN, Need
from skillopt_sleep.checks.others import further_kinds
from skillopt_sleep.errors import AdoptionError, ConfigError, SandboxUnavailable
from skillopt_sleep.ingest.attempted import as_stored
from skillopt_sleep.log import one_line
from skillopt_sleep.mine.attempted import came_back, cannot_show
from skillopt_sleep.night.plan import MEMORY_BLOCK
from skillopt_sleep.paths import person
from skillopt_sleep.replay.native import Begin, Judges, Judging, Replayed, kept_of
from skillopt_sleep.replay.noted import Noted
from skillopt_sleep.replay.starts import GitStarts
from skillopt_sleep.replay.workspace import lay_out
from skillopt_sleep.review.blocks import remove
from skillopt_sleep.sandbox.folders import temporary
from skillopt_sleep.sandbox.status import SECONDS, exit_status
from skillopt_sleep.store.asked import attempted
from skillopt_sleep.store.ledgers import Attempts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillopt_core.protocols import Environment, Gate
    from skillopt_core.types import UnitScore
    from skillopt_sleep.config import Config
    from skillopt_sleep.domain.reports import ModelUse
    from skillopt_sleep.domain.tasks import KeptTask
    from skillopt_sleep.mine.history import History
    from skillopt_sleep.models.choice import Part
    from skillopt_sleep.redact import Redactor
    from skillopt_sleep.store.engine import Store

MEMORIES: Final = ("CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md", ".github/copilot-instructions.md")
"""Memory files of a project, in which an earlier version of a block may stand."""


@dataclass(frozen=True)
class Native:
    """A real agent that attempts. `named` is part of the key of an attempt; `open` says what is not shut off here.

    `sessions` gathers which session of its agent each attempt was, by task, text and draw.
    """

    agent: NativeAgent
    named: Mapping[str, str]
    at_once: int
    open: str = ""
    sessions: MutableMapping[tuple[str, str, int], str] = field(default_factory=dict)


def native(
    config: Config,
    backend: str,
    judge: Judge,
    lay_out: LayOut,
    *,
    beside: Callable[[Skill], Path | None] = lambda _: None,
    files: str = "",
    memory: bool = False,
    purse: Purse | None = None,
) -> Native:
    """The agent's command line, each attempt in rooms of its own. Raises `ConfigError` where it is not there.

    `files` tells apart what comes along `beside` a skill. `memory`: texts are no skills, but what a memory file holds.
    """
    theirs = Theirs(person(), os.environ)
    command = program_of(backend, {str(name): words for name, words in config.agents.commands.items()}, theirs)
    seconds, model = config.agents.timeout_minutes * 60, config.models.target
    walls = walls_of(config)
    settings = NativeSettings(
        command, model, seconds, config.agents.parallel, contained=walls is not None, beside=beside,
        deterministic=config.agents.deterministic, memory=memory,
    )  # fmt: skip
    run = run_plainly if walls is None else shut_in(walls)
    sessions: dict[tuple[str, str, int], str] = {}

    def noted(task: Task, skill: Skill, draw: int, session: str) -> None:
        sessions[task.id, skill.digest, draw] = session

    agent = NativeAgent(LINES[backend], settings, theirs, judge, lay_out, run=run, noted=noted, purse=purse)
    version = version_of(command, os.environ.get("PATH", os.defpath), run_plainly)
    named = {
        "name": backend,
        "version": version,
        "settings": f"{seconds:g} s, {in_words(walls) if walls else 'no sandbox'}{files}",
    }
    unshut = "" if walls else f"no sandbox works here: {backend} attempts with all your files and the network"
    return Native(agent, named | ({"model": model} if model else {}), settings.at_once, unshut, sessions)


def there(config: Config, backend: str) -> str:
    """What is not shut off where the agent attempts, "" where it is. Raises `ConfigError` where it is not there."""
    return native(config, backend, lambda task, done: Missing(""), lambda task, folder: None).open


def used(store: Store, night: str, target: Part) -> ModelUse:
    """How a night's attempts went, and the host to which they led."""
    host = LINES[target.backend].hosts(Theirs(person(), os.environ))[0]
    return replace(attempted(store, night, target.backend), model=target.model or target.backend, host=host)


@cache
def the_walls() -> sandbox.Sandbox | None:
    """The sandbox that works here, None where none does."""
    try:
        return sandbox.find()
    except SandboxUnavailable:
        return None


def walls_of(config: Config) -> sandbox.Sandbox | None:
    """The same, with what may be read there. Raises `ConfigError` for what is not there, or holds a whole home."""
    walls = the_walls()
    return None if walls is None else replace(walls, readable=tuple(map(_readable, config.agents.readable)))


def _readable(word: str) -> Path:
    path, home = Path(word).expanduser(), person().resolve()
    if not path.is_absolute() or not path.exists():
        why, remedy = "there is no such folder", "Name one that is there, from / or ~ on"
    elif home.is_relative_to(path.resolve()):
        why, remedy = "that holds your whole home, with its keys", "Name a toolchain or an environment inside of it"
    else:
        return path
    raise ConfigError(why, where=f"agents.readable {one_line(word)}", remedy=remedy)


def in_words(walls: sandbox.Sandbox) -> str:
    """Which sandbox, and what can be read there: another one may lead to another answer."""
    return ", ".join([walls.name, *(f"reads {path}" for path in walls.readable)])


def search_path() -> str:
    return os.environ.get("PATH", os.defpath)


@dataclass(frozen=True)
class Natively:
    """Who attempts a project's mined tasks natively. Implements `domain.world.Natively`.

    `history` is the project's, by which the miner names what it finds.
    """

    config: Config
    backend: str
    store: Store
    redactor: Redactor
    project: str
    history: History
    purse: Purse

    @cached_property
    def judging(self) -> Judging:
        """How attempts are judged here."""
        kinds = {**BUILT_IN, **further_kinds().found}
        offered = frozenset({Need.TOOLS, Need.FILES, *([Need.SANDBOX] if the_walls() else [])})
        checking = partial(runs, self.config)
        return Judging(Judges(self._finds, cannot_show, checking, self._passes_at_first, kinds, offered))

    @cached_property
    def begin(self) -> Begin:
        """What tasks start from."""
        return Begin(Path(self.project), GitStarts(self.project, search_path()))

    @property
    def deterministic(self) -> bool:
        return self.config.agents.deterministic

    @property
    def price(self) -> int:
        """Tokens that are set aside for the next attempt."""
        return self.purse.price

    @property
    def overshot(self) -> tuple[int, int]:
        """Runs that took more than could be set aside for them, and the tokens too many."""
        return self.purse.overshot.runs, self.purse.overshot.tokens

    def affords(self, attempts: int) -> bool:
        """Whether the budget reaches for so many attempts at that price."""
        return self.purse.affords(attempts)

    def gate(self, alpha: float, prior: tuple[UnitScore, ...]) -> Gate:
        """The configured gate; a trial's evidence goes on from what earlier nights measured."""
        gate = self.config.gate
        metric = Metric(gate.metric, gate.mixed_weight)
        if gate.mode == "off":
            return OffGate()
        if gate.mode == "strict":
            return StrictGate(gate.repeats, metric, keep_cut=True, block=self._at_once)
        return ProofGate(alpha, gate.repeats, metric, prior, block=self._at_once)

    @property
    def _at_once(self) -> int:
        """Pairs are finished a few at a time, so that a budget that ends leaves as many as it can."""
        return self.player().at_once

    def unjudged(self, kept: KeptTask) -> str:
        """Why an attempt at the task could not be judged, "" where it could."""
        return self.judging.unjudged(kept)

    def has_start(self, kept: KeptTask) -> bool:
        """Whether the task starts from the project as it was: else from an empty folder."""
        return self.begin.of(kept).repository is not None

    def player(self, *, memory: bool = False) -> Native:
        """The agent, for texts that are skills or stand in a memory file."""
        clear = _forgetful if memory else _as_it_is

        def lay(task: Task, folder: Path) -> None:
            lay_out(self.begin.of(kept_of(task)), folder, search_path())
            clear(folder)

        return native(self.config, self.backend, self.judging.score, lay, memory=memory, purse=self.purse)

    def named(self) -> Mapping[str, str]:
        """Who attempts. Raises `ConfigError` where it is not there."""
        return self.player().named

    def environment(self, night: str, comparison: str, *, memory: bool = False) -> Environment:
        """The agent over a journal: each attempt of this comparison is made once and kept as soon as it is."""
        from skillopt_sleep.replay.journal import Journal

        player = self.player(memory=memory)
        ledger = Noted(Attempts(self.store, night, self.redactor.redact), self.store, player.sessions)
        replayed = Replayed(player.agent, self.judging, self.backend)
        return Journal(replayed, ledger, comparison, player.named, batch=player.at_once)

    def _finds(self, friction: str, done: Attempted) -> bool | Missing:
        if done.seen is None:
            return Missing("it left no transcript")
        folder = str(done.folder)
        session = as_stored(done.seen, self.project, folder, self.redactor)
        return came_back(friction, session, self.history, folder)

    def _passes_at_first(self, kept: KeptTask, command: str) -> bool | Missing:
        with temporary("start") as folder:
            place = folder / "work"
            place.mkdir()
            try:
                lay_out(self.begin.of(kept), place, search_path())
            except OSError:
                return Missing("what it starts from cannot be had")
            status = runs(self.config, command.split(), place)
        return status if isinstance(status, Missing) else status == 0


def runs(config: Config, argv: Sequence[str], folder: Path, seconds: float = SECONDS) -> int | Missing:
    """The exit status of a command on a copy of a folder, in the sandbox that works here."""
    walls = walls_of(config)
    if walls is None:
        return Missing("no sandbox works here")
    return exit_status(walls.run, argv, folder, environ=os.environ, seconds=seconds)


def _as_it_is(folder: Path) -> None:
    """Nothing is taken away."""


def _forgetful(folder: Path) -> None:
    """Take an earlier version of our block out of the project's memory files: an attempt sees one."""
    for name in MEMORIES:
        file = folder / name
        if file.is_file() and not file.is_symlink() and file.parent.resolve().is_relative_to(folder.resolve()):
            try:
                file.write_bytes(remove(file.read_bytes(), MEMORY_BLOCK))
            except AdoptionError:
                continue  # a damaged block is the project's own text by now
