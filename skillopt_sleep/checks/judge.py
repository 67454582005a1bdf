"""The rubric judge: a model that sees a task, a rubric and an answer, and nothing of who made the answer or how.

It is asked several times, and the median of its grades counts; two answers are compared in both orders. What it reads
is data of strangers: fenced in tags that no text can close, and a reply counts only with a mark that stands outside of
them. That keeps a planted verdict from passing for the judge's own; it cannot keep a model from being talked over.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from statistics import median
from typing import Final, Literal, TypeVar, cast

from skillopt_core.asking import Complete, Prompt
from skillopt_core.prompting import fenced, filled
from skillopt_core.replies import Unusable, json_object
from skillopt_core.schemas import LONGEST_SENTENCE, Schema
from skillopt_core.types import Missing

READINGS: Final = 3
"""How often one answer is graded."""
LONGEST: Final = 60_000
"""Characters of an answer that is judged: what is not seen whole is not judged."""
BOTH_ORDERS: Final = 2
"""How often two answers are compared."""
BEST: Final = 10
TOO_LONG: Final = Missing(f"an answer of more than {LONGEST:,} characters is not judged by a rubric")
Better = Literal["first", "second", "neither"]
_OTHER_WAY: Final[Mapping[object, Better]] = {"first": "second", "second": "first", "neither": "neither"}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Question:
    """Two answers to one task, to be compared by a rubric."""

    task: str
    rubric: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Preference:
    """Which of two answers is better. Not `steady`: the judge went another way once their order was changed."""

    better: Better
    steady: bool = True


class RubricJudge:
    """Asks a model through `complete`, and raises what that raises: `Exhausted`, `ModelError`.

    A reply that cannot be read is not sent back: to be asked again with the form at hand would lend the mark to a
    verdict that was copied out of the answer.
    """

    def __init__(self, complete: Complete, readings: int = READINGS) -> None:
        self._complete = complete
        self._readings = readings

    def grade(self, task: str, rubric: str, answer: str) -> float | Missing:
        """The median of all readings."""
        grades = self.grades(task, rubric, answer)
        return grades if isinstance(grades, Missing) else median(grades)

    def grades(self, task: str, rubric: str, answer: str) -> Sequence[float] | Missing:
        """What each reading gave, in [0, 1]. `Missing` where no more than half of them gave a grade.

        An answer without a word is worth nothing by any rubric, and nobody is asked.
        """
        if not answer.strip():
            return (0.0,)
        if len(answer) > LONGEST:
            return TOO_LONG
        blocks = {"task": fenced("task", task), "rubric": fenced("rubric", rubric), "answer": fenced("answer", answer)}
        numbers = [{"reading": str(n + 1), "readings": str(self._readings)} for n in range(self._readings)]
        said = self._asked("grade", [blocks | number for number in numbers], "grade", range(BEST + 1), _grade)
        grades = [one for one in said if not isinstance(one, Missing)]
        return grades if len(grades) * 2 > self._readings else _first_missing(said)

    def compare(self, questions: Sequence[Question]) -> list[Preference | Missing]:
        """Which answer of each question is better, asked in both orders; where these disagree, neither is.

        `Missing` where one of the two gave nothing. Answers that are the same are not asked about.
        """
        open_ones = [one for one in questions if _settled(one) is None]
        said = iter(self._asked("compare", list(_orders(open_ones)), "better", list(_OTHER_WAY), _better))
        found = []
        for question in questions:
            settled = _settled(question)
            found.append(_both(next(said), next(said)) if settled is None else settled)
        return found

    def _asked(
        self, name: str, asked: Sequence[Mapping[str, str]], key: str, values: Sequence[object],
        read: Callable[[object], T],
    ) -> list[T | Missing]:  # fmt: skip
        """What is read out of each reply; all are asked together."""
        marks = [_mark(slots) for slots in asked]
        prompts = [
            Prompt(filled(_template(name), {**slots, "mark": mark}), _schema(mark, key, values))
            for slots, mark in zip(asked, marks, strict=True)
        ]
        replies = self._complete(prompts) if prompts else ()
        return [_read(reply, mark, key, read) for reply, mark in zip(replies, marks, strict=True)]


def _settled(question: Question) -> Preference | Missing | None:
    """What is known of a question without asking."""
    if max(len(question.first), len(question.second)) > LONGEST:
        return TOO_LONG
    return Preference("neither") if question.first.split() == question.second.split() else None


def _orders(questions: Iterable[Question]) -> Iterator[Mapping[str, str]]:
    for question in questions:
        blocks = {"task": fenced("task", question.task), "rubric": fenced("rubric", question.rubric)}
        for one, other in ((question.first, question.second), (question.second, question.first)):
            yield blocks | {"first": fenced("first-answer", one), "second": fenced("second-answer", other)}


def _both(there: Better | Missing, back: Better | Missing) -> Preference | Missing:
    """Of the verdicts on one pair in both orders."""
    if isinstance(there, Missing) or isinstance(back, Missing):
        return _first_missing((there, back))
    steady = there == _OTHER_WAY[back]
    return Preference(there if steady else "neither", steady)


def _schema(mark: str, key: str, values: Sequence[object]) -> Schema:
    fields = {
        "mark": {"enum": [mark]},
        "reason": {"type": "string", "maxLength": LONGEST_SENTENCE},
        key: {"enum": list(values)},
    }
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _read(reply: str | Missing, mark: str, key: str, read: Callable[[object], T]) -> T | Missing:
    if isinstance(reply, Missing):
        return reply
    try:
        found = json_object(reply, "mark")
        if found["mark"] != mark:
            raise Unusable("its mark is another one")
        return read(found.get(key))
    except Unusable as error:
        return Missing(f"a judgement could not be read: {error}")


def _grade(said: object) -> float:
    if isinstance(said, bool) or not isinstance(said, (int, float)) or not 0 <= said <= BEST:
        raise Unusable(f"the grade is no number from 0 to {BEST}")
    return said / BEST


def _better(said: object) -> Better:
    if not isinstance(said, str) or said not in _OTHER_WAY:
        raise Unusable('"better" is neither first nor second nor neither')
    return cast("Better", said)


def _first_missing(said: Sequence[object]) -> Missing:
    return next(Missing(f"the judge: {one.reason}") for one in said if isinstance(one, Missing))


def _mark(slots: Mapping[str, str]) -> str:
    """What nobody can have written into a text that it is the digest of."""
    whole = "\0".join(slots[name] for name in sorted(slots))
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:12]


@cache
def _template(name: str) -> str:
    return (resources.files("skillopt_sleep.checks") / "prompts" / f"{name}.md").read_text(encoding="utf-8")
