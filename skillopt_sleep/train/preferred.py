"""Two texts compared by what a judge prefers: the answers of each pair side by side, in both orders."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from skillopt_core.gate import interval
from skillopt_core.gate.exact import sign_flip_p
from skillopt_core.gate.table import unit_of
from skillopt_core.protocols import Exhausted
from skillopt_core.types import Missing, Task, Trajectory
from skillopt_sleep.checks.judge import Preference, Question, RubricJudge
from skillopt_sleep.checks.scoring import RULES
from skillopt_sleep.train.rows import LoadedTask

_D = {"second": 1.0, "first": -1.0, "neither": 0.0}


@dataclass(frozen=True, slots=True)
class Preferred:
    """Pairs in which the second text's answer was preferred (`better`), the first one's (`worse`), or neither's.

    `turned` are those of `neither` where the judge went another way with the order, `missing` pairs without a
    judgement. `effect` is the mean over units of +1, -1 and 0, with a 95 % interval and a one-sided p. Where the rules
    tell two answers apart, `sided` of `apart` times the judge preferred the one that passes them.
    """

    better: int
    worse: int
    neither: int
    turned: int
    missing: int
    units: int
    effect: float | None
    interval: tuple[float, float] | None
    p: float | None
    sided: int
    apart: int

    def as_json(self) -> dict[str, object]:
        return {
            "better": self.better,
            "worse": self.worse,
            "neither": self.neither,
            "turned": self.turned,
            "missing": self.missing,
            "tasks": self.units,
            "effect": self.effect,
            "interval": None if self.interval is None else list(self.interval),
            "p": self.p,
            "with_rules": {"apart": self.apart, "sided": self.sided},
        }

    def said(self) -> str:
        """For a person."""
        if self.effect is None:
            return f"the judge could compare none of {self.missing} pairs"
        low, high = self.interval or (-1.0, 1.0)
        turned = f" ({self.turned} times it changed its mind with the order)" if self.turned else ""
        missing = f", {self.missing} pairs could not be judged" if self.missing else ""
        rules = f"; where rules tell the two apart it sides with them in {self.sided} of {self.apart}"
        return (
            f"side by side the judge prefers the new answer in {self.better}, the old one in {self.worse} and neither "
            f"in {self.neither} pairs{turned}{missing}: {self.effect:+.2f} over {self.units} tasks "
            f"(95% {low:.2f} to {high:.2f}){rules if self.apart else ''}"
        )


def preferred(judge: RubricJudge, pairs: Sequence[tuple[Task, Trajectory, Trajectory]]) -> Preferred:
    """What the judge says of pairs (the first text's attempt, the second's) at tasks that have rubrics.

    A budget that does not reach leaves all of them without a judgement: the attempts themselves stay.
    """
    asked = [pair for pair in pairs if isinstance(pair[0].payload, LoadedTask) and pair[0].payload.rubrics]
    said = _compared(judge, [_question(*pair) for pair in asked])
    ds: dict[str, list[float]] = defaultdict(list)
    counts = dict.fromkeys(_D, 0)
    turned = sided = apart = 0
    for (task, before, after), verdict in zip(asked, said, strict=True):
        if isinstance(verdict, Missing):
            continue
        d = _D[verdict.better]
        counts[verdict.better] += 1
        turned += not verdict.steady
        ds[unit_of(task)].append(d)
        by_rules = after.score.objectives.get(RULES, 0.0) - before.score.objectives.get(RULES, 0.0)
        apart += by_rules != 0
        sided += by_rules * d > 0
    means = [sum(of) / len(of) for of in ds.values()]
    return Preferred(
        counts["second"], counts["first"], counts["neither"], turned, len(asked) - sum(counts.values()), len(means),
        sum(means) / len(means) if means else None, interval(means) if means else None,
        sign_flip_p(means) if means else None, sided, apart,
    )  # fmt: skip


def _compared(judge: RubricJudge, questions: Sequence[Question]) -> Sequence[Preference | Missing]:
    try:
        return judge.compare(questions)
    except Exhausted as out:
        return [Missing(str(out))] * len(questions)


def _question(task: Task, before: Trajectory, after: Trajectory) -> Question:
    assert isinstance(task.payload, LoadedTask)  # noqa: S101 - seen by the caller
    return Question(task.prompt, "\n\n".join(task.payload.rubrics), before.answer, after.answer)
