"""What a run would take, said before it takes it: attempts, questions, and whether the budget reaches at all.

Nobody knows beforehand what a run of a real agent takes, so two figures stand for one attempt: what is set aside for
the next one, and what no attempt can stay below. By the first it is said what the budget buys; only a budget that is
too small by the second is turned away, for then it could not reach for one comparison whatever happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skillopt_core.types import TaskSet
from skillopt_sleep.budget import Budget
from skillopt_sleep.domain.ledgers import Limits
from skillopt_sleep.errors import BudgetTooSmall
from skillopt_sleep.review.documents import Json
from skillopt_sleep.review.words import count
from skillopt_sleep.train.plan import Plan


@dataclass(frozen=True, slots=True)
class Ask:
    """One paid call: tokens of prompt and output that are set aside for the next one, and the `least` of any."""

    model: str
    prompt: int
    output: int
    least: int

    @property
    def first(self) -> int:
        return self.prompt + self.output


@dataclass(frozen=True, slots=True)
class Attempts:
    """How many attempts are planned: as `baseline`, in one `comparison` at most, in all `train` steps, in the `audit`.

    `smallest` is what one comparison takes with what has to come before it: each gate task once under either text.
    `first` of them are asked for together.
    """

    baseline: int
    comparison: int
    comparisons: int
    train: int
    audit: int
    smallest: int
    first: int

    @property
    def all(self) -> int:
        return self.train + self.comparisons * self.comparison + self.audit


@dataclass(frozen=True, slots=True)
class Forecast:
    """Attempts, and what an attempt and a question to who edits are paid with; None where they cost nothing.

    `at_once` attempts are set aside together. A judge is asked `judgements` times at most; an answer without a word is
    not put to it, so that none of them is certain.
    """

    attempts: Attempts
    attempt: Ask | None = None
    question: Ask | None = None
    at_once: int = 1
    judgements: int = 0

    def said(self, limits: Limits, spent: int) -> Iterator[str]:
        """What is planned and what the budget buys of it, a line each. `spent` tokens are gone already."""
        planned = self.attempts
        compared = f"{count(planned.comparisons, 'comparison')} of {count(planned.comparison, 'attempt')}"
        before = f"baseline {count(planned.baseline, 'attempt')} at train tasks, then " if planned.train else ""
        audit = f", audit {count(planned.audit, 'attempt')}" if planned.audit else ""
        yield f"plan: {before}{compared}{audit}: at most {count(planned.all, 'attempt')}"
        if self.judgements:
            yield f"a judge is asked about what they say, {self.judgements:,} times at most"
        if self.attempt is None:
            yield "attempts cost nothing" + ("" if self.question else ", nor does who edits")
            return
        if limits.tokens is None:
            yield f"an attempt is set aside at {self.attempt.first:,} tokens; there is no limit in tokens"
            return
        left = max(limits.tokens - spent, 0)
        bought = min(left // max(self.attempt.first, 1), planned.all)
        price = f"an attempt is set aside at {self.attempt.first:,} tokens until others have been seen"
        yield f"{price}: {left:,} tokens buy {bought} of {planned.all}, more where they take less"

    def must_reach(self, budget: Budget) -> None:
        """Raises `BudgetTooSmall` where the budget cannot reach for one comparison, before anything is spent."""
        if short := budget.short_of(self._calls(), [*self._least()]):
            raise BudgetTooSmall(
                f"the budget does not reach for one comparison, which takes {self._smallest()}: {short}",
                remedy="Give it more, or fewer tasks",
            )

    def as_json(self) -> Json:
        planned, attempt = self.attempts, self.attempt
        return {
            "baseline": planned.baseline,
            "comparison": planned.comparison,
            "comparisons": planned.comparisons,
            "train": planned.train,
            "audit": planned.audit,
            "attempts": planned.all,
            "judgements": self.judgements,
            "set_aside": attempt.first if attempt else 0,
            "least": {
                "calls": self._calls(),
                "tokens": sum(prompt + output for _, prompt, output in self._least()),
            },
        }

    def _calls(self) -> int:
        return (self.attempts.smallest if self.attempt else 0) + (1 if self.question else 0)

    def _least(self) -> Iterator[tuple[str, int, int]]:
        """Tokens of prompt and of output that the smallest comparison takes at least, by model."""
        if (attempt := self.attempt) is not None:
            together, whole = min(self.at_once, self.attempts.first), self.attempts.smallest * attempt.least
            aside = together * attempt.prompt, together * attempt.output
            yield (attempt.model, *(aside if sum(aside) >= whole else (whole, 0)))
        if self.question is not None:
            yield self.question.model, self.question.least, self.question.output

    def _smallest(self) -> str:
        parts = [f"{count(self.attempts.smallest, 'attempt')}"] if self.attempt else []
        parts += ["a question to who edits"] if self.question else []
        return " and ".join(parts)


def of_training(plan: Plan, tasks: TaskSet, repeats: int, *, deterministic: bool) -> Attempts:
    """The attempts of a training; a deterministic agent is asked once."""
    steps, once = list(plan.schedule.steps(len(tasks.train))), 1 if deterministic else repeats
    sizes = [step.size * (1 if deterministic else step.rollouts) for step in steps]
    look_back = sum(2 * min(step.look_back, len(tasks.train)) for step in steps)
    gate = 2 * len(tasks.gate)
    return Attempts(
        baseline=sizes[0] if sizes else 0,
        comparison=gate * once,
        comparisons=plan.looks if gate else 0,
        train=sum(sizes) + look_back,
        audit=2 * len(tasks.audit) * once,
        smallest=(sizes[0] if sizes else 0) + gate,
        first=sizes[0] if sizes else len(tasks.gate),
    )


def of_eval(tasks: int, repeats: int, texts: int, targets: int, *, deterministic: bool) -> Attempts:
    """The attempts of an `eval` of one text or two."""
    once = tasks * texts
    return Attempts(0, once * (1 if deterministic else repeats), targets, 0, 0, once, tasks)
