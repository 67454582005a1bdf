"""What the optimizer speaks of. Frozen facts, and one mutable object: `Run`, whose frozen result is an `Evolution`.

Nothing here knows of transcripts, agents, money, clocks or files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal

Op = Literal["add", "insert_after", "replace", "delete"]


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill document: the only thing that training changes; its weights, in the method's words (method.md, table).

    `text` is the whole file, frontmatter included; `name` is the document's name, not a path.
    """

    text: str
    name: str = "skill"

    @property
    def digest(self) -> str:
        """SHA-256 of the UTF-8 text, as hex: the identity of an exact version."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to attempt (method.md, rollout).

    `unit` names its twin group (gate.md, unit): tasks with one `unit` are counted once. `source` is the session that
    the task came from; within a unit sources are told apart so that a break in one is not washed out by another.
    `began` is when the task's episode began, in ms UTC (0 where time has no meaning). `payload` is the environment's
    own business; the core never reads it. `origin` says whether somebody asked for it or a model made it up: a dream
    is the twin of its original, and stands in train alone.
    """

    id: str
    prompt: str
    unit: str = ""
    source: str = ""
    began: int = 0
    protected: bool = False
    payload: object = None
    origin: Literal["real", "dream", "imported"] = "real"

    @property
    def keys(self) -> frozenset[tuple[str, str]]:
        """What makes this task the same as another one: its id, its twin group, its session."""
        named = (("id", self.id), ("unit", self.unit), ("source", self.source))
        return frozenset((kind, name) for kind, name in named if name)


@dataclass(frozen=True, slots=True)
class TaskSet:
    """The three splits (gate.md, unit): disjoint by unit, session and id, else `disjoint()` makes them so.

    The critic sees `train` alone; `gate` decides; `audit` is looked at once, at the end. Any of them may be empty.
    `past` is no split: earlier tasks and dreams that a step may have beside its own train tasks (recall.py).
    """

    train: tuple[Task, ...] = ()
    gate: tuple[Task, ...] = ()
    audit: tuple[Task, ...] = ()
    past: tuple[Task, ...] = ()

    def disjoint(self) -> TaskSet:
        """The same splits without held-out tasks that share an id, a unit or a source with a train task.

        Fails closed: what overlaps is not evidence, and a gate without tasks says `unverified`. A dream is never held
        out. What of the past overlaps with a held-out task is not recalled, nor is what has the same prompt.
        """
        taken = {key for task in self.train for key in task.keys}
        gate = tuple(task for task in self.gate if not taken & task.keys and task.origin != "dream")
        taken |= {key for task in gate for key in task.keys}
        audit = tuple(task for task in self.audit if not taken & task.keys and task.origin != "dream")
        return TaskSet(self.train, gate, audit, tuple(_apart(self.past, (*gate, *audit))))


def _apart(past: Iterable[Task], held_out: Sequence[Task]) -> Iterator[Task]:
    keys = {key for task in held_out for key in task.keys}
    prompts = {" ".join(task.prompt.casefold().split()) for task in held_out}
    for task in past:
        if not keys & task.keys and " ".join(task.prompt.casefold().split()) not in prompts:
            yield task


@dataclass(frozen=True, slots=True)
class Score:
    """How an attempt did: `hard` (all checks pass) and `soft` (fraction of checks), both in [0, 1].

    `failed` describes each failed check by an example and a sentence, never by its pattern. `objectives` are other
    measured quantities (tokens, seconds, tool_errors; for recorded replays also prevented, broken, unknown, applied).
    """

    hard: float
    soft: float
    failed: tuple[str, ...] = ()
    objectives: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One finished attempt of one task under one exact skill text, with one draw number.

    `transcript` is what a critic may read of it. `offered`, `opened` and `loaded` (a digest) say whether the agent
    saw the skill, opened it, and which text it got; None where the environment cannot tell. `prompt` is the task's
    prompt; rollout fills it in where the environment left it empty. `answer` are the agent's last words alone, where
    the environment tells them apart; they are not kept with the attempt.
    """

    task: str
    draw: int
    skill: str
    score: Score
    transcript: str = ""
    offered: bool | None = None
    opened: bool | None = None
    loaded: str | None = None
    prompt: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Missing:
    """An attempt or completion that did not happen. Missing data, never a score."""

    reason: str


class Label(StrEnum):
    """What a failure pattern shows (method.md, reflect)."""

    SKILL_DEFECT = "SKILL_DEFECT"
    EXECUTION_LAPSE = "EXECUTION_LAPSE"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change on one exact anchor (method.md, update).

    `op` is add (at the end of the section that `anchor` names, or of the body where it is empty), insert_after, replace
    or delete. `support` holds ids of the tasks that show the need, counted by us and never taken from a model's word.
    `origin` is an opaque reference for the caller (the pattern or preference that it came from).
    """

    op: Op
    anchor: str
    text: str
    support: frozenset[str] = frozenset()
    label: Label = Label.SKILL_DEFECT
    why: str = ""
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """An edit that was not tried, and why: missed anchor, screen, memory, preference."""

    edit: Edit
    why: str
    kind: Literal["missed", "refused", "dropped"] = "refused"


@dataclass(frozen=True, slots=True)
class Patch:
    """Edits that belong together, in order, with those that fell out on the way.

    `about` says which trajectories it was made from: failures are merged first and weigh more (method.md, aggregate).
    """

    edits: tuple[Edit, ...] = ()
    refused: tuple[Refused, ...] = ()
    reasoning: str = ""
    about: Literal["failures", "successes"] = "failures"


class Outcome(StrEnum):
    """The verdicts of gate.md, in the order in which a person wants to hear them."""

    ACCEPT = "accept"
    SUPPORTED = "supported"
    ABSTAIN = "abstain"
    UNVERIFIED = "unverified"
    UNGATED = "ungated"
    REJECT = "reject"
    NO_CHANGE = "no_change"
    NO_EXPOSURE = "no_exposure"
    INFRA_ERROR = "infra_error"


KEPT: Final = frozenset({Outcome.ACCEPT, Outcome.SUPPORTED, Outcome.UNGATED})
"""Outcomes after which training goes on with the candidate. What is adopted is decided elsewhere, by a person."""

STAGED: Final = frozenset({Outcome.ACCEPT, Outcome.SUPPORTED, Outcome.ABSTAIN, Outcome.UNVERIFIED, Outcome.UNGATED})


@dataclass(frozen=True, slots=True)
class UnitScore:
    """One row of a verdict's table: one unit, with its mean before and after and d in [-1, 1]."""

    unit: str
    before: float
    after: float
    d: float
    pairs: int
    began: int = 0
    tasks: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says of candidate against live, with every number that it rests on (gate.md, verdicts).

    Effects are in units of the metric, candidate minus live, mean over units; `interval` is two-sided 95 % over units.
    `p` is None where no look was made, `e` and `e_reverse` where no evidence was gathered. `needs` says what would
    change the verdict. `counts` carries prevented, broken, unknown, applicable and what else the mode counts.
    `e` can be computed again from the `d` of `units` and `bets`.
    """

    outcome: Outcome
    why: str
    metric: str = "hard"
    before: float | None = None
    after: float | None = None
    effect: float | None = None
    interval: tuple[float, float] | None = None
    p: float | None = None
    e: float | None = None
    e_reverse: float | None = None
    alpha: float | None = None
    pairs: int = 0
    coverage: float | None = None
    opened: float | None = None
    evidence: Literal["recorded", "replayed", "observed", "simulated"] = "replayed"
    deterministic: bool = False
    units: tuple[UnitScore, ...] = ()
    counts: Mapping[str, float] = field(default_factory=dict)
    needs: str = ""
    repeats: int = 0
    bets: tuple[float, ...] = ()

    @property
    def proven(self) -> bool:
        """True for `accept` alone: better, by replay or observation, and nothing protected broken."""
        return self.outcome is Outcome.ACCEPT


@dataclass(frozen=True, slots=True)
class Step:
    """One optimizer step as it went: what was proposed, what was tried, what the gate said.

    `patch.edits` are the edits in `candidate`, `patch.refused` those that fell out, each with its reason. `train` is
    the mean hard score of the step's rollouts. `kept` says whether training went on with the candidate. `events` counts
    what was lost on the way by reason: failed attempts, failed or unusable replies of the critic.
    """

    epoch: int
    number: int
    edit_budget: int
    proposed: int
    patch: Patch
    candidate: Skill | None
    verdict: Verdict | None
    train: float | None = None
    kept: bool = False
    stage: Literal["step", "prior", "slow_update"] = "step"
    events: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evolution:
    """The frozen result of a run (method.md, outputs): the best skill, every step, and why it stopped.

    `base` is the text that it began with, `skill` the best one that the gate let through; `steps` are in order, the
    slow updates of epochs' ends among them; `meta` are the optimizer's notes to itself.
    """

    base: Skill
    skill: Skill
    steps: tuple[Step, ...] = ()
    stopped: Literal["done", "budget", "patience", "no_headroom", "nothing_to_do"] = "done"
    meta: str = ""

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of the last step that had one: what a night with one step reports."""
        return next((s.verdict for s in reversed(self.steps) if s.verdict is not None), None)

    @property
    def changed(self) -> bool:
        return self.skill.digest != self.base.digest


@dataclass(frozen=True, slots=True)
class Pair:
    """Two attempts of one task with one draw: live and candidate. Incomplete pairs are never built."""

    task: Task
    draw: int
    live: Trajectory
    candidate: Trajectory


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that a gate needs of one look or one stretch of evidence.

    `missing` counts failed attempts by reason, `wanted` the pairs that were asked for, `answered` the attempts that
    came back (live, candidate), `repeats` the pairs a task that were asked for. `cut` says why the budget
    ended it, before the `planned` repeats.
    """

    live: Skill
    candidate: Skill
    pairs: tuple[Pair, ...]
    missing: Mapping[str, int] = field(default_factory=dict)
    wanted: int = 0
    answered: tuple[int, int] = (0, 0)
    repeats: int = 0
    cut: str = ""
    planned: int = 0
