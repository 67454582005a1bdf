"""A run as a whole: who sees which tasks, what a budget does, what is written down."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep import casting
from skillopt_sleep.budget import Limits
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.config import Config
from skillopt_sleep.paths import Home
from skillopt_sleep.train.lines import read_lines
from skillopt_sleep.train.meter import Meter, MeteredEnvironment, MeteredGate
from skillopt_sleep.train.misses import Misses, remembered
from tests.train.runs import RECIPE, trained

SECRET = "AKIA" + "IOSFODNN7" + "EXAMPLF"


class Watched:
    """The simulated agent, and what it was asked in order."""

    deterministic = False

    def __init__(self, said: str = "") -> None:
        config = Config.model_validate({"models": {"backend": "simulated"}})
        self._inner = casting.attempter(config, RECIPE, home=Home(Path("nowhere"))).environment
        self._said = said
        self.asked: list[tuple[str, str]] = []

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """As the inner one; `said` is added to what it says."""
        self.asked += [(task.id, skill.digest) for task in tasks]
        answers = self._inner.attempt(tasks, skill, draws)
        return [
            answer
            if isinstance(answer, Missing)
            else Trajectory(answer.task, answer.draw, answer.skill, answer.score, answer.transcript + self._said)
            for answer in answers
        ]


def log_of(folder: Path) -> list[dict[str, object]]:
    return read_lines(folder / "run" / "training_log.jsonl")


def test_audit_tasks_are_attempted_once_at_the_end_and_by_two_texts_alone(tmp_path: Path) -> None:
    agent = Watched()
    done = trained(tmp_path, environment=agent)
    audit = {task.id for task in done.tasks.audit}
    first = next(n for n, (task, _) in enumerate(agent.asked) if task in audit)
    assert all(task in audit for task, _ in agent.asked[first:])
    texts = {digest for _, digest in agent.asked[first:]}
    assert texts == {done.evolution.base.digest, done.evolution.skill.digest}
    assert len(agent.asked) - first == len(audit) * RECIPE.repeats * 2


def test_the_log_has_a_line_a_step_one_an_epoch_and_one_at_the_end(tmp_path: Path) -> None:
    trained(tmp_path)
    lines = log_of(tmp_path)
    assert [line["kind"] for line in lines].count("epoch") == RECIPE.epochs
    assert lines[-1]["kind"] == "end"
    steps = [line for line in lines if line["kind"] == "step"]
    assert [line["n"] for line in steps] == list(range(1, len(steps) + 1))
    for line in steps:
        assert set(line) >= {"train", "before", "after", "proposed", "kept", "missed", "refused", "verdict", "stages"}
        if line["skill"] is not None:
            candidate = (tmp_path / "run" / str(line["skill"])).read_text()
            assert Skill(candidate).digest == line["digest"]


def test_the_best_skill_is_the_last_that_was_kept(tmp_path: Path) -> None:
    done = trained(tmp_path)
    assert (tmp_path / "run/best_skill.md").read_text() == done.evolution.skill.text
    assert (tmp_path / "run/skills/0000.md").read_text() == done.evolution.base.text
    kept = [line for line in log_of(tmp_path) if line["kind"] == "step" and line["kept"]]
    assert kept[-1]["digest"] == done.evolution.skill.digest


def test_a_budget_that_is_out_leaves_a_log_without_an_end_and_the_run_goes_on(tmp_path: Path) -> None:
    done = trained(tmp_path, limits=Limits(seconds=0))
    assert done.evolution.stopped == "budget"
    assert not done.compared
    assert done.audit is None
    assert "end" not in [line["kind"] for line in log_of(tmp_path)]
    assert trained(tmp_path).evolution.stopped == "done"
    assert log_of(tmp_path)[-1]["kind"] == "end"


def test_what_an_agent_says_is_redacted_before_anything_of_it_is_kept(tmp_path: Path) -> None:
    trained(tmp_path, environment=Watched(f" The key is {SECRET}."))
    kept = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert SECRET.encode() not in kept


def test_completions_that_failed_in_a_finished_call_stay_failed(tmp_path: Path) -> None:
    path = tmp_path / "misses.jsonl"
    down = remembered(lambda prompts: [Missing("down")] * len(prompts), Misses(path))
    assert down(["a", "b"]) == [Missing("down"), Missing("down")]
    asked: list[str] = []

    def up(prompts: Sequence[str]) -> Sequence[str]:
        asked.extend(prompts)
        return [prompt.upper() for prompt in prompts]

    again = remembered(up, Misses(path))
    assert again(["a", "b"]) == [Missing("down"), Missing("down")]
    assert again(["c"]) == ["C"]
    assert asked == ["c"]


@pytest.mark.parametrize("inside", ["gate", "rollout"])
def test_time_goes_to_the_stage_that_took_it(inside: str) -> None:
    clock = FixedClock(0)
    meter = Meter(lambda: (clock.ms / 1000, clock.ms // 10))

    class Slow:
        deterministic = True

        def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory]:
            clock.ms += 1000
            return [Trajectory(task.id, 0, skill.digest, Score(1, 1)) for task in tasks]

    environment = MeteredEnvironment(Slow(), meter)
    clock.ms += 500
    if inside == "gate":
        gate = MeteredGate(lambda world, a, _b, tasks, _draws: world.attempt(tasks, a, [0]), meter)  # type: ignore[arg-type,return-value]
        gate(environment, Skill(""), Skill("x"), [Task("t", "")], None)  # type: ignore[arg-type]
    else:
        environment.attempt([Task("t", "")], Skill(""), [0])
    lap = meter.lap()
    assert lap["optimizer"] == {"seconds": 0.5, "tokens": 50}
    assert lap[inside] == {"seconds": 1.0, "tokens": 100}
    assert meter.lap()[inside] == {"seconds": 0.0, "tokens": 0}
