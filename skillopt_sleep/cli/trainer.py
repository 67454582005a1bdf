"""What `train` and `eval` do once their options are read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from skillopt_core.gate.modes import CUT
from skillopt_core.protocols import Exhausted
from skillopt_core.types import Outcome, Skill, Task
from skillopt_sleep import casting
from skillopt_sleep.checks.judge import BOTH_ORDERS
from skillopt_sleep.cli.common import Call
from skillopt_sleep.cli.making import configured, make_world, the_store
from skillopt_sleep.cli.night import Shown
from skillopt_sleep.clock import SystemClock
from skillopt_sleep.domain.ledgers import Limits
from skillopt_sleep.errors import BudgetTooSmall, NeedsPerson, SleepError, UsageError
from skillopt_sleep.log import open_log
from skillopt_sleep.review import words
from skillopt_sleep.review.documents import Json
from skillopt_sleep.train import Training, train
from skillopt_sleep.train import recipe as recipes
from skillopt_sleep.train.costs import Forecast, of_eval, of_training
from skillopt_sleep.train.documents import eval_document, train_document
from skillopt_sleep.train.environments import afforded
from skillopt_sleep.train.evaluate import Row, evaluate
from skillopt_sleep.train.loading import load, warnings_of
from skillopt_sleep.train.plan import planned
from skillopt_sleep.train.recipe import Recipe
from skillopt_sleep.train.report import Head, headline, needs, report_page
from skillopt_sleep.train.runfolder import RunFolder, opened, read_skill, run_id, write
from skillopt_sleep.train.splits import Tasks, split, twins
from skillopt_sleep.world import LocalWorld, Silence

if TYPE_CHECKING:
    from skillopt_sleep.budget import Budget
    from skillopt_sleep.config import Config
    from skillopt_sleep.paths import Home
    from skillopt_sleep.train.cast import Attempter
    from skillopt_sleep.train.rows import LoadedTask


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a person chose on the command line: files, keys of the recipe, keys of the configuration."""

    tasks: Path
    skill: Path
    audit: Path | None
    recipe: Path | None
    settings: tuple[str, ...]
    recipe_options: Mapping[str, object]
    options: Mapping[str, tuple[object, str]]

    def resolved(self, config: Config) -> Recipe:
        """The recipe; the configuration's [gate] and [reward] hold where it says nothing."""
        base = recipes.configured(config.gate, config.reward)
        return recipes.resolve(self.recipe, self.settings, self.recipe_options, base)

    def player(
        self, config: Config, recipe: Recipe, home: Home, out: Path | None = None, against: Path | None = None
    ) -> Attempter:
        """Who attempts. Raises `UsageError` where what comes along with a skill would show an agent the checks."""
        skills, hidden = filter(None, [self.skill, against]), filter(None, [self.tasks, self.audit, out or home.root])
        return casting.attempter(config, recipe, skills, hidden, home=home)


def train_skill(call: Call, chosen: Chosen, out: Path | None) -> None:
    """One training run from start to exit code. Raises `BudgetTooSmall`, `NeedsPerson`, …"""
    config = configured(call, chosen.options)
    recipe, skill = chosen.resolved(config), read_skill(chosen.skill)
    player = chosen.player(config, recipe, call.home, out)  # nothing is made where nobody could attempt
    if player.open:
        call.view.warn(player.open)
    tasks = _loaded(call, chosen, recipe, player, config)
    clock = SystemClock()
    with the_store(call) as store, open_log(call.home, scrub=None):
        with call.view.progress("training") as step:
            world = make_world(call, config, store, Shown(step, call.view.note), loose=(chosen.tasks,))
            identity = _identity(world, recipe, skill, tasks, player)
            run = run_id(identity)
            path = (out or call.home.root / "train" / run).absolute()
            with opened(path, identity, recipe.as_yaml(), clock) as folder:
                if folder.begun:
                    call.view.note(f"going on in {path}")
                costs = _costs(world, recipe, skill, tasks, player)
                _say_costs(call, costs, world.budget(run), begun=folder.begun, run=str(path), stopped="budget")
                training = _trained(world, run, folder, recipe, skill, tasks, player)
                lines = folder.lines
                write(folder.report, report_page(training, _head(run, chosen, recipe, world, skill, player), lines))
        document = train_document(training, path, lines, simulated=player.simulated) | {"plan": costs.as_json()}
        for line in training.warnings:
            call.view.warn(line)
        if (problem := what_it_wants(training)) is not None and call.as_json:
            raise problem.beside(document)
        _show_training(call, training, document)
    if problem is not None:
        raise problem


def score_skill(call: Call, chosen: Chosen, against: Path | None, models: Sequence[str | None]) -> None:
    """`eval`: one row a target, all paid for from one budget."""
    config = configured(call, chosen.options)
    recipe, skill = chosen.resolved(config), read_skill(chosen.skill)
    other = read_skill(against) if against is not None else None
    players = [chosen.player(_with_target(call, chosen, one), recipe, call.home, against=against) for one in models]
    judges, said = casting.judges(players, config)
    loaded = load(chosen.tasks, judges)
    for line in (
        *dict.fromkeys(player.open for player in players if player.open),
        *said,
        *loaded.said,
        *warnings_of(loaded),
    ):
        call.view.warn(line)
    units = {task.id: unit for unit, group in twins(loaded).items() for task in group}
    every = [task.as_task(units[task.id]) for task in loaded]
    rows: list[Row] = []
    problem: SleepError | None = None
    with _purse(call, chosen, config, recipe, loaded, players) as purse, call.view.progress("eval") as step:
        costs = purse.costs(players, skill, every, recipe, texts=1 if other is None else 2, loaded=loaded)
        _say_costs(call, costs, purse.budget)
        for number, player in enumerate(players):
            step(f"{player.name}: {len(every)} tasks × {recipe.repeats}", number, len(players))
            try:
                rows.append(evaluate(skill, other, every, recipe, purse.pays(player), purse.judge))
            except Exhausted as error:
                problem = BudgetTooSmall(str(error), where=player.name, remedy="Give it more, or no limit")
                break
        budget, warnings = purse.spent(), purse.budget.warnings if purse.budget else ()
    for line in warnings:
        call.view.warn(line)
    document = eval_document(rows, budget, simulated=players[0].simulated, warnings=warnings) | {
        "plan": costs.as_json()
    }
    if problem is None and (failed := next((row for row in rows if row.failed), None)):
        problem = NeedsPerson("too few attempts came back", where=failed.target, remedy="Try again")
    if problem is not None and call.as_json:
        raise problem.beside(document)
    for row in (row for row in rows if row.verdict.counts.get(CUT)):
        had = f"{row.verdict.pairs} of {len(every) * recipe.repeats} pairs"
        call.view.warn(f"{row.target}: the budget ended the comparison: {had}")
    if rows:
        _show_rows(call, rows, document)
    if problem is not None:
        raise problem


@dataclass(frozen=True)
class _Purse:
    """Who pays in an `eval`; nobody where nothing costs anything. `judge` is who judges by rubrics, "" for none."""

    world: LocalWorld | None = None
    run: str = ""
    judge: str = ""

    def pays(self, player: Attempter) -> Attempter:
        """Who attempts, paid for."""
        if self.world is None:
            return player
        return afforded(casting.paid(player, self.world, self.run), self.world.budget(self.run))

    @property
    def budget(self) -> Budget | None:
        return None if self.world is None else self.world.budget(self.run)

    def costs(
        self, players: Sequence[Attempter], skill: Skill, tasks: Sequence[Task], recipe: Recipe, *,
        texts: int, loaded: Sequence[LoadedTask],
    ) -> Forecast:  # fmt: skip
        """What is planned, an attempt at the price of the first of who attempt."""
        once = all(player.environment.deterministic for player in players) and not self.judge
        attempts = of_eval(len(tasks), recipe.repeats, texts, len(players), deterministic=once)
        if self.world is None:
            return Forecast(attempts)
        each, prompts = casting.readings(loaded, recipe), [task.prompt for task in tasks]
        side_by_side = BOTH_ORDERS * attempts.all // 2 if each and texts > 1 else 0
        return casting.forecast(
            self.world, attempts, players[0], skill, prompts, judgements=attempts.all * each + side_by_side
        )

    def spent(self) -> Json | None:
        """The `budget` object of cli.md; None where nothing could cost anything."""
        return None if self.budget is None else self.budget.as_json()


@contextmanager
def _purse(
    call: Call,
    chosen: Chosen,
    config: Config,
    recipe: Recipe,
    tasks: Sequence[LoadedTask],
    players: Sequence[Attempter],
) -> Iterator[_Purse]:
    """Who pays for this `eval`, its judge seated. What is spent counts in the month's limits, so the store is opened.

    Judgements are kept there too, as those of a run of its own.
    """
    if not casting.wants_judge(tasks) and not any(map(casting.costs, players)):
        yield _Purse()
        return
    with the_store(call) as store, open_log(call.home, scrub=None):
        world = make_world(call, config, store, Silence(), loose=(chosen.tasks,))
        run = f"e-{uuid4().hex[:10]}"
        yield _Purse(world, run, casting.judge(world, run, store, recipe, tasks, *players))


def _costs(world: LocalWorld, recipe: Recipe, skill: Skill, tasks: Tasks, player: Attempter) -> Forecast:
    """What a training is planned to take."""
    given = tasks.task_set().disjoint()
    once = player.environment.deterministic and not casting.wants_judge(tasks.all)
    attempts = of_training(
        planned(recipe, given, player.evidence, deterministic=once), given, recipe.repeats, deterministic=once
    )
    prompts = [task.prompt for task in (*given.train, *given.gate)]
    asked = attempts.all * casting.readings(tasks.all, recipe)
    return casting.forecast(world, attempts, player, skill, prompts, edits=True, judgements=asked)


def _say_costs(call: Call, costs: Forecast, budget: Budget | None, *, begun: bool = False, **beside: str) -> None:
    """Say the plan and what the budget buys of it.

    Raises `BudgetTooSmall`, with what the document says `beside` it, where the budget cannot reach for one comparison;
    a run that has `begun` may go on with what is left.
    """
    limits = Limits() if budget is None else budget.limits
    spent = 0 if budget is None else budget.counts
    for line in costs.said(limits, spent):
        call.view.note(line)
    if budget is None or begun:
        return
    try:
        costs.must_reach(budget)
    except BudgetTooSmall as error:
        raise error.beside({**beside, "plan": costs.as_json()}) if call.as_json else error from None


def what_it_wants(training: Training) -> SleepError | None:
    """What of a run wants a person (cli.md, exit codes 5 and 3); None where nothing does."""
    if training.evolution.stopped == "budget":
        if not training.compared:
            return BudgetTooSmall(
                "the budget was out before a first comparison", remedy="Give it more; the same command goes on"
            )
        return None
    verdicts = [step.verdict for step in training.evolution.steps if step.verdict is not None]
    if verdicts and verdicts[-1].outcome is Outcome.INFRA_ERROR:
        return NeedsPerson(
            f"too many calls failed: {verdicts[-1].why}", remedy="Begin a new run with another --out once they work"
        )
    return None


def _loaded(call: Call, chosen: Chosen, recipe: Recipe, player: Attempter, config: Config) -> Tasks:
    """The tasks in their splits, for whoever attempts them; what is weak about them is said."""
    judges, said = casting.judges([player], config)
    loaded = load(chosen.tasks, judges)
    audit = load(chosen.audit, judges) if chosen.audit is not None else ()
    tasks = split(loaded, seed=recipe.seed, ratio=recipe.split, audit=audit, repeats=recipe.repeats, alpha=recipe.alpha)
    for line in (*said, *loaded.said, *warnings_of(tasks.all), *tasks.warnings):
        call.view.warn(line)
    if not tasks.train:
        raise UsageError("there are no train tasks", where=str(chosen.tasks), remedy="Leave some tasks without split")
    return tasks


def _trained(
    world: LocalWorld, run: str, folder: RunFolder, recipe: Recipe, skill: Skill, tasks: Tasks, player: Attempter
) -> Training:
    players = casting.cast(world, run, folder, recipe, skill, tasks.all, player)
    return train(
        skill, tasks.task_set(), recipe, players, folder,
        redact=world.redactor.redact, clock=world.clock, progress=world.progress,
    )  # fmt: skip


def _identity(world: LocalWorld, recipe: Recipe, skill: Skill, tasks: Tasks, player: Attempter) -> dict[str, Any]:
    """What a run is of: everything that its result depends on, and nothing of what it may cost."""
    part = world.part("judge")
    judge = {"name": part.model, "backend": part.backend, "address": part.base_url, "effort": part.effort}
    return {
        "format": 1,
        "skill": {"name": skill.name, "digest": skill.digest},
        "tasks": {name: _digest(getattr(tasks, name), tasks) for name in ("train", "gate", "audit")},
        "recipe": recipe.model_dump(mode="json"),
        "target": dict(player.named),
        "optimizer": {"name": casting.editor(world, recipe), "max_output": world.config.models.max_output},
        **({"judge": judge} if casting.wants_judge(tasks.all) else {}),
    }


def _digest(part: Sequence[LoadedTask], tasks: Tasks) -> str:
    """SHA-256 over all that says what these tasks are and how they are judged."""
    rows = [
        [
            task.id,
            task.prompt,
            tasks.units[task.id],
            [[check.kind, check.argument, check.weight] for check in task.checks],
            [task.scorer, task.argument],
            [[path, hashlib.sha256(content).hexdigest()] for path, content in sorted(task.files.items())],
            task.commit,
        ]
        for task in part
    ]
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()


def _head(run: str, chosen: Chosen, recipe: Recipe, world: LocalWorld, skill: Skill, player: Attempter) -> Head:
    return Head(
        run=run,
        skill=skill.name,
        tasks=chosen.tasks.name,
        target=player.name,
        optimizer=casting.editor(world, recipe),
        simulated=player.simulated,
        recipe=recipe.model_dump(mode="json"),
    )


def _with_target(call: Call, chosen: Chosen, model: str | None) -> Config:
    return configured(call, {**chosen.options, "models.target": (model, "--target-model")})


def _show_training(call: Call, training: Training, document: Mapping[str, object]) -> None:
    view = call.view
    if call.as_json:
        view.document(document)
        return
    simulated = " (simulated)" if document["evidence"] == "simulated" else ""
    view.text(headline(training) + simulated)
    if training.audit is not None and training.audit.effect is not None and training.evolution.changed:
        view.text(f"Audit: {words.figures(training.audit)}")
    if wanted := needs(training):
        view.text(f"What would change that: {wanted}")
    if training.judge is not None:
        view.note(training.judge.said())
    for one in training.signals:
        view.note(f"{one.finding}: {one.meaning}")
    view.text(f"Skill: {_near(document['best_skill'])}")
    view.text(f"Report: {_near(document['report'])}")
    if training.evolution.stopped == "budget":
        view.text("The same command with a larger budget goes on.")


def _near(path: object) -> str:
    """A path as seen from the working folder, where it lies below it."""
    whole, here = Path(str(path)), Path.cwd()
    return str(whole.relative_to(here) if whole.is_relative_to(here) else whole)


def _show_rows(call: Call, rows: Sequence[Row], document: Mapping[str, object]) -> None:
    view = call.view
    if call.as_json:
        view.document(document)
        return
    pairs = any(row.verdict.after is not None for row in rows)
    columns = ("target", "tasks", "before", "after", "effect", "95% interval", "p") if pairs else (
        "target", "tasks", "score", "95% interval"
    )  # fmt: skip
    view.table(columns, [_cells(row, pairs=pairs) for row in rows], right=tuple(range(1, len(columns))))
    for row in rows:
        for said in filter(None, (row.judge and row.judge.said(), row.preferred and row.preferred.said())):
            view.note(f"{row.target}: {said}")
    if isinstance(budget := document["budget"], dict):
        view.note(_bill(budget))
    if document["evidence"] == "simulated":
        view.note("Simulated: the agent is a program that obeys what the skill's text orders.")


def _bill(budget: Mapping[str, Mapping[str, Any]]) -> str:
    """What it took, in a line."""
    tokens, calls, usd = budget["tokens"], budget["calls"]["spent"], budget["usd"]["spent"]
    about = "" if tokens["exact"] else "about "
    return f"{about}{tokens['spent']:,} tokens in {calls:,} calls" + ("" if usd is None else f", {usd:.4f} USD")


def _cells(row: Row, *, pairs: bool) -> tuple[object, ...]:
    verdict = row.verdict
    low_high = None if verdict.interval is None else f"{verdict.interval[0]:.2f} to {verdict.interval[1]:.2f}"
    score = [row.target, len(verdict.units), words.number(verdict.before)]
    if not pairs:
        return (*score, low_high)
    effect = None if verdict.effect is None else words.signed(verdict.effect)
    return (*score, words.number(verdict.after), effect, low_high, words.number(verdict.p))
