"""The rules of a night that a real agent attempts: on which tasks, at what price, and what came of it.

Of a rule's own tasks those before its cut show whether there is anything to gain, those after it whether the rule
helps. A sample of the project's other tasks after the cut is attempted along: what works there must go on working.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Final

from skillopt_core.gate import Calibration, spent, unless_halted
from skillopt_core.loop import evolve
from skillopt_core.memory import Memory, Rejection
from skillopt_core.protocols import Draws, Environment, Gate, Screen
from skillopt_core.types import Evolution, Outcome, Skill, Task, TaskSet, UnitScore, Verdict
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.frictions import Friction, Pattern
from skillopt_sleep.domain.reports import Spent
from skillopt_sleep.domain.sentences import Sentence
from skillopt_sleep.domain.tasks import FREE_OF, KeptTask
from skillopt_sleep.domain.world import Natively, World
from skillopt_sleep.night.plan import Subject
from skillopt_sleep.night.staging import Practised, planned_edit, practised
from skillopt_sleep.replay.native import as_task, kept_of
from skillopt_sleep.replay.practice import ONE_EDIT
from skillopt_sleep.review.words import count
from skillopt_sleep.store.evidence import alpha_of, trial_steps, trials
from skillopt_sleep.store.verdicts import last_verdict

MOST_TRAIN: Final = 3
"""Of a rule's earlier tasks, the newest: attempted once each, they show whether there is anything to gain."""
MOST_OWN: Final = 12
"""Of its later tasks: nine wins and no loss prove it."""
MOST_OTHERS: Final = 3
"""Of the project's other tasks after the cut."""
LEAST: Final = 3
"""Attempts of the smallest comparison: one baseline, one pair."""
CUT: Final = "cut_short"
"""Among a verdict's counts where the budget ended its comparison."""
HALTED: Final = "the gate has halted: nothing is attempted until its cause was found (`skillopt-sleep gate aa`)"
GOES_ON: Final = "its prompt goes on from an earlier one"

Shown = Mapping[str, Sequence[tuple[Friction, Sentence]]]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The tasks of one rule. `left` counts those that could not be taken, by reason; `bare` start from nothing.

    `scored` units were measured in earlier nights.
    """

    train: tuple[Task, ...]
    own: tuple[Task, ...]
    others: tuple[Task, ...]
    left: Mapping[str, int] = field(default_factory=dict)
    bare: int = 0
    scored: int = 0

    @property
    def possible(self) -> bool:
        """Whether there is anything before and after the cut."""
        return bool(self.train and (self.own or self.scored))

    def attempts(self, repeats: int) -> int:
        """The most that a comparison takes, the check that nothing breaks among them."""
        return len(self.train) + 2 * repeats * (len(self.own) + 2 * len(self.others))


@dataclass(frozen=True, slots=True)
class Plan:
    """What is attempted tonight: the tasks of each rule that has a slot."""

    player: Natively
    rules: Mapping[str, Chosen] = field(default_factory=dict)
    repeats: int = 1

    def as_json(self, subjects: Sequence[Subject]) -> dict[str, object]:
        """The same in figures."""
        titles = {one.rule: one.title for one in subjects}
        rules = [
            {"title": titles.get(rule, rule), "baseline": len(found.train), "tasks": len(found.own),
             "others": len(found.others), "pairs": self.repeats, "attempts": found.attempts(self.repeats),
             "empty_folder": found.bare, "left_out": dict(found.left)}
            for rule, found in self.rules.items()
        ]  # fmt: skip
        return {"agent": self.player.backend, "tokens_an_attempt": self.player.price, "rules": rules}

    def said(self, subjects: Sequence[Subject], tokens: Spent) -> Iterator[str]:
        """What it takes, and what the budget buys, said before anything is spent."""
        price, titles = self.player.price, {one.rule: one.title for one in subjects}
        rules = count(len(self.rules), "rule")
        yield f"{self.player.backend} attempts {rules}; an attempt is set aside at {price:,} tokens"
        for rule, chosen in self.rules.items():
            parts = [
                f"{len(chosen.train)} attempts as baseline",
                f"then {len(chosen.own)} tasks and {len(chosen.others)} others × {self.repeats} pairs",
            ]
            parts += [f"{chosen.bare} of them in an empty folder"] if chosen.bare else []
            parts += [f"left out: {why} ({n})" for why, n in sorted(chosen.left.items())]
            yield f"{titles.get(rule, rule)}: {', '.join(parts)}; at most {chosen.attempts(self.repeats)} attempts"
        if tokens.limit is None:
            yield "no limit in tokens"
            return
        left_tokens = tokens.limit - (tokens.spent or 0)
        bought, wanted = int(left_tokens // price), sum(c.attempts(self.repeats) for c in self.rules.values())
        short = ", fewer than the smallest comparison takes: nothing is attempted" if bought < LEAST else ""
        yield f"{left_tokens:,.0f} tokens buy {min(bought, wanted)} of {wanted} attempts{short}"


def planned(
    world: World, player: Natively, subjects: Sequence[Subject], kept: Sequence[KeptTask], episodes: Sequence[Episode]
) -> Plan:
    """Which rules are attempted tonight: those on trial first, then by what is at stake, as many as there are slots."""
    running = _scored(world, player.backend)
    follow = _that_follow(episodes)
    rules: dict[str, Chosen] = {}
    for one in sorted(subjects, key=lambda subject: subject.rule not in running):
        if len(rules) == world.config.gate.trials:
            break
        if one.pattern is None or one.edit is not None:
            continue
        found = chosen(one.pattern, one.cut_ms, kept, player, follow, running.get(one.rule, frozenset()))
        if found.possible:
            rules[one.rule] = found
    repeats = 1 if player.deterministic else world.config.gate.repeats
    return Plan(player, rules, repeats)


def chosen(
    pattern: Pattern,
    cut_ms: int,
    kept: Iterable[KeptTask],
    player: Natively,
    follow: Mapping[str, str] = {},
    scored: Collection[str] = (),
) -> Chosen:
    """The tasks of a pattern's rule, split by time alone, with no session and no twin on both sides.

    `follow` are prompts, by episode, that go on from an earlier one. `scored` units are not measured again.
    """
    left: Counter[str] = Counter()
    every = sorted(kept, key=lambda task: (task.began_ms, task.id))
    own = [task for task in every if task.pattern == pattern.key]
    rest = [task for task in every if task.pattern != pattern.key and task.began_ms >= cut_ms]

    def usable(tasks: Iterable[KeptTask], taken: set[tuple[str, str]]) -> Iterator[KeptTask]:
        for task in tasks:
            why = GOES_ON if follow.get(task.episode) == task.prompt else player.unjudged(task)
            if why:
                left[why] += 1
            elif not taken & as_task(task).keys:
                taken |= as_task(task).keys
                yield task

    taken: set[tuple[str, str]] = set()
    before = reversed([task for task in own if task.began_ms < cut_ms])
    train = list(islice(usable(before, taken), MOST_TRAIN))
    new = (task for task in own if task.began_ms >= cut_ms and as_task(task).unit not in scored)
    later = list(islice(usable(new, taken), MOST_OWN)) if train else []
    others = list(islice(usable(sorted(rest, key=_tells_more), taken), MOST_OTHERS)) if later or scored else []
    bare = sum(not player.has_start(task) for task in (*train, *later, *others))
    return Chosen(
        tuple(map(as_task, train)),
        tuple(map(as_task, later)),
        tuple(as_task(task, protected=True) for task in others),
        left,
        bare,
        len(scored),
    )


def practise_natively(
    world: World,
    night: str,
    plan: Plan,
    one: Subject,
    live: Skill,
    *,
    shown: Shown,
    screen: Screen,
    rejected: Sequence[Rejection],
    calibration: Calibration | None,
) -> Practised:
    """Take one rule through the optimizer and its gate with fresh attempts; paid draws are kept and not made twice.

    `shown` are the frictions of each episode, with the sentence that they suggest.
    """
    tasks, player = plan.rules[one.rule], plan.player
    if calibration is not None and calibration.halted_at is not None:
        return _untried(one, live, HALTED)  # nothing is worth an attempt
    if tasks.own and not player.affords(LEAST):
        why = f"the budget does not reach for one comparison: {LEAST} attempts at {player.price:,} tokens each"
        return _untried(one, live, why, exhausted=True)
    memory = one.document.kind == "memory"
    baseline = player.environment(night, f"rule {one.rule}", memory=memory)
    gate = Fresh(world, night, player, one.rule, memory, calibration)
    critic = world.critic({task.id: shown.get(kept_of(task).episode, ()) for task in tasks.train})
    evolution = evolve(
        live, TaskSet(tasks.train, (*tasks.own, *tasks.others)), baseline, critic, gate, ONE_EDIT,
        memory=Memory(rejected, preferences=world.config.preferences.rules), screen=screen,
    )  # fmt: skip
    return _result(one, live, evolution, player, len(tasks.train))


def overshot(player: Natively | None) -> list[str]:
    """What the morning is told of runs that took more than was set aside."""
    runs, tokens = player.overshot if player is not None else (0, 0)
    if player is None or not runs:
        return []
    return [f"{runs} of {player.backend}'s attempts took {tokens:,} tokens more than could be set aside for them"]


def _result(one: Subject, live: Skill, evolution: Evolution, player: Natively, train: int) -> Practised:
    if evolution.stopped == "no_headroom":
        why = f"nothing to gain: {player.backend} does all {train} earlier tasks well without it"
        return _untried(one, live, why)
    done = practised(one, live, evolution)
    out = done.exhausted or CUT in done.verdict.counts
    return Practised(done.edit, done.verdict, done.live, done.candidate, done.status, done.why, out, player.backend)


def _untried(one: Subject, live: Skill, why: str, *, exhausted: bool = False) -> Practised:
    outcome = Outcome.ABSTAIN if exhausted else Outcome.NO_CHANGE
    verdict = Verdict(outcome, why, needs=why if exhausted else "")
    return Practised(planned_edit(one), verdict, live.digest, "", "dropped", why, exhausted)


@dataclass(frozen=True)
class Fresh:
    """A gate whose attempts are this night's own; what earlier nights measured of the same two texts goes on.

    `rule` names what is tried, over nights.
    """

    world: World
    night: str
    player: Natively
    rule: str
    memory: bool
    calibration: Calibration | None

    def __call__(
        self, environment: Environment, live: Skill, candidate: Skill, tasks: Sequence[Task], draws: Draws
    ) -> Verdict:
        """As the configured gate, asked about fresh attempts."""
        fresh = self.player.environment(self.night, f"rule {self.rule} {self.night}", memory=self.memory)
        gate: Gate = self.player.gate(self._alpha(live, candidate), self._prior(live, candidate))
        state = self.calibration or Calibration(self.world.config.gate.alpha)
        return unless_halted(gate, state)(fresh, live, candidate, tasks, draws)

    def _prior(self, live: Skill, candidate: Skill) -> tuple[UnitScore, ...]:
        """The units of earlier nights. A backtest knows none but its own."""
        if self.world.as_of_ms is not None or live.digest == candidate.digest:
            return ()
        agent = self.player.backend
        found = last_verdict(self.world.store, self.rule, live.digest, candidate.digest, agent, self.night)
        return found.units if found else ()

    def _alpha(self, live: Skill, candidate: Skill) -> float:
        """What this trial may err: its own share, or the one of the t-th candidate of the one that all have together.

        A trial that began anew, on another text, is another candidate. A backtest spends nothing.
        """
        gate = self.world.config.gate
        if gate.alpha_policy == "trial" or live.digest == candidate.digest:
            return gate.trial_alpha
        if self.world.as_of_ms is not None:
            return spent(gate.alpha, 1)
        tried = f"{self.rule} {live.digest} {candidate.digest}"
        return alpha_of(self.world.store, f"trials of {self.player.backend}", tried, partial(spent, gate.alpha))


def _scored(world: World, backend: str) -> Mapping[str, frozenset[str]]:
    """The rules that are on trial with this agent, each with the units that were measured. None in a backtest."""
    own = [] if world.as_of_ms is not None else trials(world.store, "running")
    ours = [trial for trial in own if trial.id.endswith(f"-{backend}")]
    return {trial.rule: frozenset(step.task for step in trial_steps(world.store, trial.id)) for trial in ours}


def _that_follow(episodes: Sequence[Episode]) -> Mapping[str, str]:
    """The prompts that are not the first of their session, by episode."""
    first: dict[str, Episode] = {}
    for episode in episodes:
        known = first.setdefault(episode.session, episode)
        if episode.prompt_event < known.prompt_event:
            first[episode.session] = episode
    return {e.id: e.prompt for e in episodes if first[e.session] is not e}


def _tells_more(task: KeptTask) -> tuple[bool, str]:
    """A check that doing nothing does not pass comes first, then an order that nobody chose."""
    idle = all(check.kind == FREE_OF for check in task.checks)
    return idle, hashlib.sha256(task.id.encode()).hexdigest()
