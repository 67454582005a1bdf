"""The configuration: one pydantic model yields validation, sleep.toml, `config show` and the documentation.

Each key has a description, and a default that works where nothing is configured. None is "no limit" or "not named".
"""

from __future__ import annotations

import hashlib
import re
from datetime import time
from typing import Annotated, Literal, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, model_validator

from skillopt_sleep.config.roles import Models
from skillopt_sleep.config.section import Amount, Count, Section, Share, Weight, Word

HOUR_MS = 3_600_000
_LOOKBACK = re.compile(r"(\d{1,5})([hdw])")
_UNITS_MS = {"h": HOUR_MS, "d": 24 * HOUR_MS, "w": 168 * HOUR_MS}

Agent = Literal[
    "claude-code", "codex", "copilot-cli", "copilot-vscode", "cursor", "opencode", "gemini", "pi", "openclaw", "devin"
]


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as wrong:
        raise ValueError(f"should be a regular expression ({wrong})") from wrong
    return text


def _lookback(text: str) -> str:
    if text != "all" and not _LOOKBACK.fullmatch(text):
        raise ValueError('should be "all", or a number of hours, days or weeks such as "72h", "30d" or "8w"')
    return text


def _hour(text: str) -> str:
    try:
        if len(text) == len("HH:MM"):
            time.fromisoformat(text)
            return text
    except ValueError:
        pass
    raise ValueError('should be a time of day such as "03:00"')


def _zone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        raise ValueError('should be a time zone such as "Europe/Berlin"') from None
    return text


class Harvest(Section):
    """What is read."""

    lookback: Annotated[str, AfterValidator(_lookback)] = Field(
        default="all", description='How far back a first night reads: "all", or for instance "72h", "30d", "8w".'
    )
    max_sessions: Count | None = Field(
        default=None, description="New sessions that one night takes; the rest waits for the next.", examples=[500]
    )
    agents: tuple[Agent, ...] = Field(
        default=get_args(Agent),
        description="Agents whose transcripts are read.",
    )
    roots: dict[Agent, tuple[Word, ...]] = Field(
        default={},
        description="Further folders in which an agent's transcripts are looked for.",
        examples=[{"claude-code": ["~/backup/claude"]}],
    )
    projects: tuple[Word, ...] = Field(
        default=(),
        description="Projects (folders) that a night works on; `init` fills it in. Empty: all that are found.",
    )
    exclude: tuple[Word, ...] = Field(
        default=(),
        description="Folders whose sessions are never read, with all below them; `*` and `?` as in a shell.",
        examples=[["~/work/secret", "~/clients/*"]],
    )


class Mine(Section):
    """What is made of it."""

    headless: bool = Field(default=False, description="Also mine sessions that no person typed in (scripts, CI).")
    max_tasks: Annotated[int, Field(ge=0, le=100)] = Field(
        default=3, description="Tasks that a model may write from one session; 0: it is not asked for any."
    )
    recall_k: Annotated[int, Field(ge=0)] = Field(
        default=0,
        description="Similar earlier things that a model is shown beside each new one; 0: all that fit.",
    )
    dream_factor: Annotated[int, Field(ge=0)] = Field(
        default=0,
        description="Synthetic variants of each train task, labelled as such, never in gate or audit; 0: none.",
    )


class Split(Section):
    """How new tasks are kept apart, by hash; where a task is, it stays. Evidence is split by time alone."""

    train: Share = Field(default=0.5, description="Share of tasks from which edits are made.")
    gate: Share = Field(default=0.3, description="Share of tasks on which an edit is measured.")
    audit: Share = Field(default=0.2, description="Share of tasks that is looked at once, at the end.")
    by: Literal["session", "pattern"] = Field(
        default="session", description='What is never on two sides: "session" (and its twins) or the whole "pattern".'
    )

    @model_validator(mode="after")
    def _whole(self) -> Split:
        if abs(self.train + self.gate + self.audit - 1) > 1e-9:
            raise ValueError("train, gate and audit should add up to 1")
        return self


class Evolve(Section):
    """How a skill is trained in a night, where a model edits and an agent attempts: one step, one candidate."""

    epochs: Annotated[int, Field(ge=1, le=50)] = Field(default=1, description="Passes over tonight's train tasks.")
    batch_size: Count = Field(default=40, description="Tasks of one step.")
    minibatch: Count = Field(default=8, description="Trajectories that are reflected on together.")
    rollouts_k: Annotated[int, Field(ge=1, le=100)] = Field(
        default=3, description="Independent attempts at each train task; from 3 on, good and bad runs are contrasted."
    )
    edit_budget: Annotated[int, Field(ge=0, le=100)] = Field(
        default=4, description="Edits that one step may make, at most."
    )
    min_edit_budget: Annotated[int, Field(ge=0, le=100)] = Field(
        default=2, description="Edits that the last step may make: where the schedule falls to."
    )
    schedule: Literal["constant", "linear", "cosine", "autonomous"] = Field(
        default="cosine", description="How the edit budget falls; autonomous: the optimizer names it."
    )
    seed: int = Field(default=0, description="Seed of all draws.")


class Gate(Section):
    """What it takes to believe a change: in the `gate` commands, and in `train` where its recipe does not say."""

    mode: Literal["proof", "strict", "off"] = Field(
        default="proof",
        description="proof: paired evidence; strict: a higher mean is enough; off: nothing is proven or adopted.",
    )
    metric: Literal["hard", "soft", "mixed"] = Field(
        default="hard", description="hard: all checks pass; soft: the share that passes; mixed: both."
    )
    mixed_weight: Annotated[float, Field(ge=0, le=1)] = Field(default=0.5, description="Weight of soft in mixed.")
    alpha: Share = Field(default=0.05, description="Error that one look, or one training run, may make.")
    trial_alpha: Share = Field(default=0.01, description="Error of one trial: it is accepted at E of 1 / trial_alpha.")
    alpha_policy: Literal["trial", "spend"] = Field(
        default="trial", description="trial: each trial has its own trial_alpha; spend: all trials for ever share one."
    )
    repeats: Annotated[int, Field(ge=1, le=20)] = Field(
        default=3, description="Pairs of attempts on each task; 1 cannot protect what worked."
    )
    trials: Annotated[int, Field(ge=1, le=20)] = Field(
        default=3,
        description="Rules that a real agent attempts in one night: those on trial, then those with most at stake.",
    )


class Reward(Section):
    """What counts as better in `train`, where its recipe does not say. Success is never bought by the others."""

    success: Annotated[float, Field(gt=0)] = Field(default=1.0, description="Weight of the task's checks.")
    token_efficiency: Weight = Field(default=0.0, description="Weight of fewer tokens.")
    tool_correctness: Weight = Field(default=0.0, description="Weight of fewer failing tool calls.")
    latency: Weight = Field(default=0.0, description="Weight of less time.")


class Health(Section):
    """Where a health signal is raised, in the report and the log: the field's rules of thumb."""

    acceptance: Share = Field(default=0.20, description="Share of candidates kept; lower: weak edits or a hard gate.")
    flat: Share = Field(default=0.01, description="Move of the held-out score that counts as none.")
    rising: Share = Field(default=0.05, description="Rise of the train score that should show on the held-out one too.")
    tokens: Count = Field(default=100_000, description="Optimizer tokens of one epoch, or of one night.")
    baseline: Share = Field(default=0.40, description="Success before training; lower: the tasks are too hard.")
    gate_tasks: Count = Field(default=50, description="Gate tasks; fewer cannot show a small effect.")
    patterns: Count = Field(default=5, description="Different rules on one skill; more: split it.")
    shift: Share = Field(default=0.30, description="Share of the task mix that moved since then; more: train again.")


class Preferences(Section):
    """What you want, in your own words: tried first, and still measured."""

    rules: tuple[Word, ...] = Field(
        default=(), description="One rule a line.", examples=[["use pnpm, never npm", "run the linter before a commit"]]
    )


class Agents(Section):
    """The agents' command lines, where they attempt tasks."""

    commands: dict[Literal["claude", "codex", "copilot"], tuple[Word, ...]] = Field(
        default={},
        description="How an agent is started, if not by its name.",
        examples=[{"claude": ["/opt/claude/bin/claude"]}],
    )
    parallel: Annotated[int, Field(ge=1, le=64)] = Field(default=2, description="Attempts that run at a time.")
    readable: tuple[Word, ...] = Field(
        default=(),
        description="Folders that agents, tools and checks in the sandbox may read beside the system's programs: a "
        "toolchain, a virtual environment.",
        examples=[["~/.nvm/versions", "~/app/.venv"]],
    )
    timeout_minutes: Amount = Field(default=10.0, description="Deadline of one attempt; then its processes are ended.")
    deterministic: bool = Field(
        default=False,
        description="Whether their model answers the same question the same way (a scripted one, temperature 0): then "
        "one pair of attempts a task is enough.",
    )
    turns: Annotated[int, Field(ge=1, le=200)] = Field(
        default=20, description="Answers of a chat model that may call tools; then comes its last one."
    )


class Budget(Section):
    """What may be spent: reserved before each call, never exceeded. Recorded evidence costs nothing."""

    tokens: Count | None = Field(default=200_000, description="Tokens a night.")
    calls: Count | None = Field(default=None, description="Calls a night.", examples=[500])
    usd: Amount | None = Field(default=None, description="US dollars a night.", examples=[2.0])
    minutes: Amount | None = Field(default=None, description="Minutes a night.", examples=[120.0])
    month_tokens: Count | None = Field(default=None, description="Tokens a calendar month.", examples=[3_000_000])
    month_calls: Count | None = Field(default=None, description="Calls a calendar month.", examples=[10_000])
    month_usd: Amount | None = Field(default=None, description="US dollars a calendar month.", examples=[20.0])
    month_minutes: Amount | None = Field(default=None, description="Minutes a calendar month.", examples=[1200.0])


class Targets(Section):
    """Where adopted changes are written."""

    agents: tuple[Agent, ...] = Field(
        default=(), description="Agents that get an adopted skill. Empty: those whose sessions it came from."
    )
    roots: tuple[Word, ...] = Field(
        default=(), description="Further folders in which adoptions may write.", examples=[["~/dotfiles"]]
    )


class Adopt(Section):
    """Who decides."""

    auto: bool = Field(
        default=False, description="Adopt by itself what is proven (accept, E of 1 / alpha), nothing else."
    )
    auto_rollback: bool = Field(default=False, description="Take back by itself what later proves to hurt.")


class Schedule(Section):
    """When a night begins."""

    at: Annotated[str, AfterValidator(_hour)] = Field(default="03:00", description="Time of day.")
    zone: Annotated[Word, AfterValidator(_zone)] | None = Field(
        default=None, description="Time zone, if not that of the machine.", examples=["Europe/Berlin"]
    )
    catch_up_hours: Annotated[float, Field(ge=0, le=24)] = Field(
        default=12.0,
        description="A night that was missed (machine off) still begins so many hours later, once; 0: never.",
    )
    watch: bool = Field(
        default=True, description="The daemon also reads new transcripts by day, before agents delete them."
    )


class Redact(Section):
    """What never leaves a transcript, beside keys, tokens and passwords, which never do."""

    words: tuple[Word, ...] = Field(
        default=(), description="Words that are hidden wherever they stand.", examples=[["Project Falcon"]]
    )
    patterns: tuple[Annotated[Word, AfterValidator(_pattern)], ...] = Field(
        default=(), description="Regular expressions of what is hidden.", examples=[["ACME-[0-9]{6}"]]
    )


class Notify(Section):
    """Who is told in the morning. The text has counts and verdicts, nothing of a transcript."""

    desktop: bool = Field(default=False, description="A notification on the desktop.")
    command: tuple[Word, ...] = Field(
        default=(),
        description="A command that gets the text on its standard input.",
        examples=[["mail", "-s", "sleep", "me"]],
    )


class Config(Section):
    """The whole of sleep.toml."""

    harvest: Harvest = Harvest()
    mine: Mine = Mine()
    split: Split = Split()
    evolve: Evolve = Evolve()
    gate: Gate = Gate()
    reward: Reward = Reward()
    health: Health = Health()
    preferences: Preferences = Preferences()
    models: Models = Models()
    agents: Agents = Agents()
    budget: Budget = Budget()
    targets: Targets = Targets()
    adopt: Adopt = Adopt()
    schedule: Schedule = Schedule()
    redact: Redact = Redact()
    notify: Notify = Notify()

    def digest(self) -> str:
        """SHA-256 of all values: two nights with the same digest were configured alike."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


NOT_YET = frozenset(
    {
        *("evolve.epochs", "evolve.min_edit_budget", "evolve.schedule", "evolve.seed"),
        *("targets.roots", "adopt.auto_rollback"),
        *(f"notify.{name}" for name in Notify.model_fields),
    }
)
"""Keys that are checked but that nothing reads yet: whoever sets one to another value is told that it has no effect."""


def lookback_ms(text: str) -> int | None:
    """The span of `harvest.lookback` in ms; None for "all"."""
    found = _LOOKBACK.fullmatch(text)
    return int(found[1]) * _UNITS_MS[found[2]] if found else None


def sections() -> dict[str, type[Section]]:
    """Section by name, in the order of the file."""
    return {name: type(field.default) for name, field in Config.model_fields.items()}


def keys() -> tuple[str, ...]:
    """All keys, `section.key`, in the order of the file."""
    return tuple(f"{name}.{key}" for name, section in sections().items() for key in section.model_fields)
