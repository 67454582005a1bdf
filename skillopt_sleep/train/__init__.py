"""`train`: the optimizer of the core on tasks of one's own (method.md). The engine of a night, in one run folder.

What an agent did and a model said is journaled in the folder as soon as it is there: a run that was killed at any point
goes on, and comes to the same result. Gate tasks are seen by the gate alone, audit tasks once, at the end.
"""

from __future__ import annotations

from dataclasses import dataclass

from skillopt_core.defaults import CountedDraws
from skillopt_core.health import Signal, health
from skillopt_core.loop import evolve
from skillopt_core.memory import Memory
from skillopt_core.protocols import Draws, Environment, Exhausted
from skillopt_core.rewrite import UPDATERS
from skillopt_core.types import Evolution, Skill, Step, TaskSet, Verdict
from skillopt_sleep.clock import Clock
from skillopt_sleep.domain.world import Progress
from skillopt_sleep.review.documents import Json
from skillopt_sleep.train.account import end_line, epoch_line, step_line
from skillopt_sleep.train.agreement import Judge
from skillopt_sleep.train.cast import Cast
from skillopt_sleep.train.environments import Redact, journaled
from skillopt_sleep.train.judging import Judged
from skillopt_sleep.train.measure import compared
from skillopt_sleep.train.meter import Meter, MeteredEnvironment, MeteredGate
from skillopt_sleep.train.plan import Plan, planned
from skillopt_sleep.train.recipe import Recipe
from skillopt_sleep.train.runfolder import RunFolder

COMPARISON = "train"


@dataclass(frozen=True, slots=True)
class Training:
    """What a run came to.

    `audit` is None where the run was stopped by its budget or there are no audit tasks, `judge` where no task has a
    rubric. `warnings` say what of its cost was not as it should be.
    """

    evolution: Evolution
    plan: Plan
    tasks: TaskSet
    audit: Verdict | None
    signals: tuple[Signal, ...]
    budget: Json
    judge: Judge | None = None
    warnings: tuple[str, ...] = ()

    @property
    def compared(self) -> bool:
        """Whether any candidate was measured against the text that it would replace."""
        return any(step.verdict is not None and step.verdict.pairs for step in self.evolution.steps)


def train(
    skill: Skill,
    tasks: TaskSet,
    recipe: Recipe,
    cast: Cast,
    folder: RunFolder,
    *,
    redact: Redact,
    clock: Clock,
    progress: Progress,
) -> Training:
    """Train the skill on these tasks, in this folder, and go on where an earlier process was killed.

    The same arguments give the same result, killed or not, where the agent is deterministic or its attempts are in the
    journal. A budget that is out ends the run early (`evolution.stopped`); a larger one lets it go on.
    """
    tasks = tasks.disjoint()
    judged = Judged(journaled(cast, folder, redact, COMPARISON), by_model=bool(cast.judge))
    plan = planned(recipe, tasks, cast.attempter.evidence, deterministic=judged.deterministic)
    for note in plan.notes:
        progress.say(note)
    folder.keep(0, skill)
    meter = Meter(lambda: (clock.now_ms() / 1000, _tokens(cast)))
    environment = MeteredEnvironment(judged, meter)
    draws, memory = CountedDraws(recipe.seed), Memory(preferences=recipe.preferences)
    told = _Told(skill, tasks, plan, cast, folder, meter, progress)
    evolution = evolve(
        skill, tasks, environment, cast.critic, MeteredGate(plan.gate, meter), plan.schedule,
        memory=memory, screen=cast.screen, observer=told, draws=draws, updater=UPDATERS[recipe.update_mode],
    )  # fmt: skip
    audit = None if evolution.stopped == "budget" else _audited(evolution, environment, tasks, recipe, cast, draws)
    judge = judged.judge(cast.judge, recipe.judge_readings) if cast.judge else None
    spent, warnings = cast.budget.as_json(), cast.budget.warnings
    done = Training(evolution, plan, tasks, audit, told.signals(evolution), spent, judge, warnings)
    if evolution.stopped != "budget" and (audit is not None or not tasks.audit):
        folder.note(end_line(evolution, audit, done.signals, done.budget))
    return done


def _audited(
    evolution: Evolution, environment: Environment, tasks: TaskSet, recipe: Recipe, cast: Cast, draws: Draws
) -> Verdict | None:
    """The one look at the audit tasks; None where there are none or the budget does not reach."""
    if not tasks.audit:
        return None
    try:
        return compared(
            environment, evolution.base, evolution.skill, tasks.audit, draws,
            repeats=recipe.repeats, metric=recipe.reward(), seed=recipe.seed, evidence=cast.attempter.evidence,
        )  # fmt: skip
    except Exhausted:
        return None


class _Told:
    """The observer of a run: each step goes into the folder before the next begins."""

    def __init__(
        self,
        skill: Skill,
        tasks: TaskSet,
        plan: Plan,
        cast: Cast,
        folder: RunFolder,
        meter: Meter,
        progress: Progress,
    ) -> None:
        self._base = self._skill = skill
        self._tasks = tasks
        self._cast = cast
        self._folder = folder
        self._meter = meter
        self._progress = progress
        self._steps: list[Step] = []
        self._epochs = 0
        self._optimizer_tokens = 0.0
        folder.keep_best(skill)
        progress.stage("training", plan.schedule.epochs * plan.schedule.steps_per_epoch(len(tasks.train)))

    def step(self, step: Step) -> None:
        """A line of the log, the candidate's text, and the best text where it is a new one."""
        if step.epoch > self._epochs:
            self._end_epoch()
        self._steps.append(step)
        number = len(self._steps)
        if step.candidate is not None:
            self._folder.keep(number, step.candidate)
        line = self._folder.note(step_line(number, step, self._meter.lap(), self._spent()))
        self._optimizer_tokens += line["stages"]["optimizer"]["tokens"]
        if step.kept and step.candidate is not None:
            self._skill = step.candidate
            self._folder.keep_best(step.candidate)
        self._progress.advance(step.number + 1)
        self._progress.say(said_of(step))

    def done(self, evolution: Evolution) -> None:
        """The last epoch's line; an epoch that the budget cut short has none."""
        if self._steps and evolution.stopped != "budget":
            self._end_epoch()

    def signals(self, evolution: Evolution) -> tuple[Signal, ...]:
        """The health signals of the whole run."""
        tokens, gate_tasks = self._optimizer_tokens / max(self._epochs, 1), len(self._tasks.gate)
        return health(evolution, gate_tasks, tokens_per_epoch=tokens, thresholds=self._cast.thresholds)

    def _end_epoch(self) -> None:
        epoch = self._epochs
        so_far = Evolution(self._base, self._skill, tuple(self._steps))
        steps = [step for step in self._steps if step.epoch == epoch]
        self._epochs += 1
        self._folder.note(epoch_line(epoch, steps, self._skill.digest, self.signals(so_far), self._spent()))

    def _spent(self) -> Json:
        return self._cast.budget.as_json()


def said_of(step: Step) -> str:
    """A step in a line: `epoch 1, step 1: 2 of 3 edits tried, accept: 0.00 → 0.83 on 8 gate tasks`."""
    what = "slow update" if step.stage == "slow_update" else f"step {step.number + 1}"
    head = f"epoch {step.epoch + 1}, {what}"
    verdict = step.verdict
    if verdict is None or step.candidate is None:
        return f"{head}: nothing to try" + (f", {step.proposed} edits fell out" if step.proposed else "")
    tried = f"{len(step.patch.edits)} of {step.proposed} edits tried, {verdict.outcome}"
    if verdict.before is None or verdict.after is None:
        return f"{head}: {tried}: {verdict.why}"
    return f"{head}: {tried}: {verdict.before:.2f} → {verdict.after:.2f} on {len(verdict.units)} gate tasks"


def _tokens(cast: Cast) -> int:
    spent = cast.budget.as_json()["tokens"]
    return int(spent["spent"]) if isinstance(spent, dict) else 0
