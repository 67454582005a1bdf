"""One rule, practised: made from what was before its cut, measured on what came after, only where it applies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from skillopt_core.gate import RecordedGate, Recurrence
from skillopt_core.protocols import Draws, Environment
from skillopt_core.scripted import ScriptedCritic
from skillopt_core.types import Edit, Missing, Outcome, Score, Skill, Task, Trajectory, Verdict
from skillopt_sleep.critics.preferences import from_preference
from skillopt_sleep.critics.screen import Grounds, StrictScreen
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.ledgers import AttemptKey
from skillopt_sleep.night.work import Quiet
from skillopt_sleep.replay.practice import WEEK_MS, Narrowed, Practice, Shown, practise, prevented_in, task_of, task_set
from tests.mine.building import DAY, START, Session

LIVE = Skill("# x\n\n## Rules\n\n## Project facts\n", "x")
RULE = Edit("add", "## Rules", "- Use `pnpm`, not `npm`.")
CUT = (START // DAY + 10) * DAY


def episode(day: float, prompt: str = "npm", person: str = "kim") -> Episode:
    """One episode that began on a day, counted from the tenth before the cut."""
    session = Session(f"s-{day}-{person}", 0, person=person)
    session.at = CUT - 10 * DAY + int(day * DAY)
    return session.prompt(prompt).bash("ls").episodes()[0]


def exactly(one: Episode, began_ms: int) -> Episode:
    return replace(one, began_ms=began_ms)


class Agent:
    """Exposed where the prompt says `npm` and the text has the rule; prevents the friction there. `asked` are tasks."""

    deterministic = True

    def __init__(self, unknown: bool = False) -> None:
        self.asked: list[str] = []
        self.unknown = unknown

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        self.asked += [task.id for task in tasks]
        return [self._one(task, skill, draw) for task, draw in zip(tasks, draws, strict=True)]

    def exposed(self, tasks: Sequence[Task], skill: Skill) -> Sequence[bool]:
        return ["npm" in task.prompt and "pnpm" in skill.text for task in tasks]

    def _one(self, task: Task, skill: Skill, draw: int) -> Trajectory:
        helped = float("npm" in task.prompt and "pnpm" in skill.text)
        counts = {"unknown": helped, "applied": helped} if self.unknown else {"prevented": helped, "applied": helped}
        return Trajectory(task.id, draw, skill.digest, Score(helped, helped, (), counts))


class Book:
    def known(self, keys: Sequence[AttemptKey]) -> Mapping[str, Trajectory]:
        return {}

    def save(self, rows: Sequence[tuple[AttemptKey, Trajectory | str]]) -> None:
        """Forget it."""


def practice(shown: Sequence[Episode] = (), **more: object) -> Practice:
    known: dict[str, object] = {"until_ms": CUT + 100 * DAY, "recurrence": Recurrence(9, 10, 0.01), **more}
    return Practice("r-1", LIVE, CUT, shown_by={e.id: "npm was refused" for e in shown}, **known)  # type: ignore[arg-type]


def verdict(subject: Practice, episodes: Sequence[Episode], agent: Agent) -> Verdict:
    evolution = practise(
        subject, episodes, agent, {"name": "scripted"}, Book(), ScriptedCritic([[RULE]]), RecordedGate,
        screen=StrictScreen(Grounds()), observer=Quiet(),
    )  # fmt: skip
    assert evolution.verdict is not None
    return evolution.verdict


def test_train_is_what_shows_the_friction_before_the_cut_and_gate_all_that_came_after_it() -> None:
    shows, other, late, unlike = episode(1), episode(2, "cargo"), episode(11), episode(12, "cargo")
    found = task_set(practice([shows, late]), [shows, other, late, unlike])
    assert [task.id for task in found.train] == [shows.id]
    assert [task.id for task in found.gate] == [late.id, unlike.id], "also where the rule will not help"


def test_the_cut_itself_belongs_to_what_came_after() -> None:
    at, before = episode(10), episode(9.9999)
    at, before = exactly(at, CUT), exactly(before, CUT - 1)
    found = task_set(practice([at, before]), [at, before])
    assert [task.id for task in found.train] == [before.id]
    assert [task.id for task in found.gate] == [at.id]


def test_a_day_that_is_not_over_waits_for_the_next_night() -> None:
    yesterday, today = episode(11), episode(12.2)
    until = CUT - 10 * DAY + int(12.9 * DAY)
    assert [t.id for t in task_set(practice(until_ms=until), [yesterday, today]).gate] == [yesterday.id]
    assert len(task_set(practice(until_ms=until + DAY), [yesterday, today]).gate) == 2


def test_sessions_of_one_day_and_person_are_one_unit_and_stay_told_apart() -> None:
    first, second = episode(11.1), episode(11.5)
    other_person, next_day = episode(11.2, person="lou"), episode(12.1)
    tasks = [task_of(one, "r-1") for one in (first, second, other_person, next_day)]
    assert tasks[0].unit == tasks[1].unit
    assert len({task.unit for task in tasks}) == 3
    assert len({task.source for task in tasks}) == 4
    assert task_of(first, "r-2").unit != tasks[0].unit
    assert (tasks[0].began, tasks[0].payload) == (first.began_ms, first)


def test_a_rule_that_helps_on_later_days_is_supported() -> None:
    shows = [episode(day) for day in (1, 2)]
    later = [episode(10 + day) for day in range(8)]
    found = verdict(practice(shows), [*shows, *later], Agent())
    assert (found.outcome, len(found.units)) == (Outcome.SUPPORTED, 8)
    assert found.counts["prevented"] == 8


def test_only_tasks_in_which_the_rule_changes_anything_are_attempted() -> None:
    shows = [episode(day) for day in (1, 2)]
    later = [episode(10 + day, "npm" if day < 3 else "cargo") for day in range(20)]
    agent = Agent()
    found = verdict(practice(shows), [*shows, *later], agent)
    measured = [name for name in agent.asked if name not in {one.id for one in shows}]
    assert sorted(measured) == sorted([one.id for one in later[:3]] * 2), "both arms, and nothing else"
    assert found.pairs == 3
    assert found.counts["applied_sessions"] == 3


def test_a_mined_rule_without_a_later_occasion_is_unverified_and_a_wish_has_no_exposure() -> None:
    shows, later = [episode(1), episode(2)], [episode(12, "cargo"), episode(13, "cargo")]
    found = verdict(practice(shows), [*shows, *later], Agent())
    assert found.outcome is Outcome.UNVERIFIED
    assert found.why == "it applies in none of the 2 later sessions"
    wish = verdict(practice(edit=RULE), [*shows[:0], *later], Agent())
    assert wish.outcome is Outcome.NO_EXPOSURE


def test_without_any_later_session_nothing_is_measured() -> None:
    shows = [episode(1), episode(2)]
    assert verdict(practice(shows), shows, Agent()).outcome is Outcome.UNVERIFIED


def test_an_outcome_that_is_unknown_counts_for_nothing() -> None:
    shows = [episode(1), episode(2)]
    found = verdict(practice(shows), [*shows, *(episode(10 + n) for n in range(9))], Agent(unknown=True))
    assert (found.outcome, found.units) == (Outcome.ABSTAIN, ())
    assert found.counts["unknown"] == 9


def test_a_wish_is_weighed_as_it_was_said_without_any_reflection() -> None:
    critic = ScriptedCritic([[RULE]])
    evolution = practise(
        practice(edit=RULE), [episode(10 + n) for n in range(8)], Agent(), {"name": "scripted"}, Book(), critic,
        RecordedGate, screen=StrictScreen(Grounds()), observer=Quiet(),
    )  # fmt: skip
    assert critic.asked == {}
    assert evolution.verdict is not None
    assert evolution.verdict.outcome is Outcome.SUPPORTED


def test_a_friction_makes_a_recorded_attempt_fail_unless_the_text_prevents_it() -> None:
    shows, calm = episode(1), episode(2, "cargo")
    environment = Shown(Agent(), {shows.id: "npm was refused"})
    tasks = [task_of(shows, "r"), task_of(calm, "r")]
    before = environment.attempt(tasks, LIVE, [0, 0])
    after = environment.attempt(tasks, Skill(LIVE.text + RULE.text), [0, 0])
    assert isinstance(before[0], Trajectory)
    assert before[0].score.failed == ("npm was refused",)
    assert [a.score.hard for a in (*before, *after) if isinstance(a, Trajectory)] == [0.0, 0.0, 1.0, 0.0]
    assert environment.deterministic


def test_a_missing_attempt_stays_missing() -> None:
    class Down(Agent):
        def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
            return [Missing("down") for _ in tasks]

    shows = [episode(1), episode(2)]
    assert Shown(Down(), {shows[0].id: "x"}).attempt([task_of(shows[0], "r")], LIVE, [0]) == [Missing("down")]
    found = verdict(practice(shows), [*shows, *(episode(10 + n) for n in range(8))], Down())
    assert found.outcome in {Outcome.INFRA_ERROR, Outcome.NO_CHANGE, Outcome.ABSTAIN}
    assert found.e is None or found.e <= 1.0


@pytest.mark.parametrize(("days", "rate"), [(range(7), 7.0), (range(0, 14, 2), 7 * 7 / 13)])
def test_the_rate_is_that_of_units_in_which_the_rule_applies(days: Sequence[int], rate: float) -> None:
    asked: list[float | None] = []

    def gate(recurrence: Recurrence | None, per_week: float | None) -> RecordedGate:
        asked.append(per_week)
        return RecordedGate(recurrence, per_week)

    narrowed = Narrowed(Agent(), gate, practice())
    tasks = [task_of(exactly(episode(11), CUT + day * DAY), "r") for day in days]
    tasks = [Task(f"t{n}", "npm", f"u{n}", f"s{n}", task.began) for n, task in enumerate(tasks)]
    narrowed(Agent(), LIVE, Skill(LIVE.text + RULE.text), tasks, Count())
    assert asked == [pytest.approx(rate)]
    assert WEEK_MS == 7 * DAY


class Count(Draws):
    def take(self, n: int) -> Sequence[int]:
        return range(n)


def test_where_nothing_applies_the_rate_is_unknown() -> None:
    asked: list[float | None] = []

    class Never:
        def __call__(
            self, environment: Environment, live: Skill, candidate: Skill, tasks: Sequence[Task], draws: Draws
        ) -> Verdict:
            return Verdict(Outcome.NO_EXPOSURE, "")

    def gate(recurrence: Recurrence | None, per_week: float | None) -> Never:
        asked.append(per_week)
        return Never()

    Narrowed(Agent(), gate, practice())(Agent(), LIVE, LIVE, [Task("t", "cargo", "u", "s", CUT)], Count())
    assert asked == [None]


def test_what_a_sentence_would_have_prevented_is_told_by_session() -> None:
    sentence = from_preference("use pnpm, never npm")
    assert sentence is not None
    applies, not_here = episode(1), episode(2, "cargo")
    assert prevented_in(Agent(), sentence, [applies, not_here]) == {applies.session}
