"""A check by a rubric: what no rule can see of an answer, graded by a model (judge.py)."""

from __future__ import annotations

from typing import Final

from skillopt_core.types import Missing
from skillopt_sleep.checks.model import BadArgument, Kind, Rule
from skillopt_sleep.checks.reading import fields, plain, told, words
from skillopt_sleep.domain.answers import Answer, Need

NO_JUDGE: Final = Missing("a rubric is judged by a model, and no judge is there")
PASS: Final = 0.5


def _rubric(argument: object) -> Rule:
    text, least = rubric_of(argument), _least(argument)

    def passes(answer: Answer) -> bool | Missing:
        grade = NO_JUDGE if answer.grade is None else answer.grade(text)
        return grade if isinstance(grade, Missing) else grade >= least

    return Rule(passes, lambda _: "The answer was judged not good enough.", (text,), by_model=True)


def rubric_of(argument: object) -> str:
    """What the judge is told by a check of this kind. `BadArgument`."""
    bare = isinstance(argument, str)
    given = {"rubric": argument} if bare else fields(argument, frozenset({"rubric"}), frozenset({"pass", "model"}))
    if "model" in given:
        words(given["model"], "the name of a model", "model")
    return plain(words(given["rubric"], "what the judge is told", "" if bare else "rubric"))


def _least(argument: object) -> float:
    least = argument.get("pass", PASS) if isinstance(argument, dict) else PASS
    if isinstance(least, bool) or not isinstance(least, (int, float)) or not 0 < least <= 1:
        raise BadArgument(f"it is {told(least)}", "It is the least grade that passes, above 0 and at most 1", "pass")
    return least


KINDS: Final = (
    Kind(
        "rubric",
        "text, or object with `rubric`, `pass` (0.5 unless given) and `model`",
        "A model, the judge, grades the answer by the rubric in [0, 1], in steps of a tenth; a grade of at least "
        "`pass` passes. It is asked as often as the recipe says (`judge_readings`, 3), and the median counts. It is "
        "shown the task's prompt, the rubric and the agent's last words, and nothing of the skill, of what the agent "
        "did or of who made the answer. An answer without a word gets 0 unasked. The files that an agent left are not "
        "shown: what an answer says of them is not proof.\n\n"
        "Who judges is said by you (`--judge-backend`, `--judge-model`, or `[models]`); a `model` that a task file "
        "names is read and not followed, since a file that came with a repository must not choose to whom anything is "
        "sent. "
        "Without a judge a task with a rubric is refused when it is loaded. Readings that failed or could not be "
        "read are missing; where they are half of them or more, or the answer has more than 60,000 characters, the "
        "attempt has no score.\n\n"
        "**A judge is an opinion.** `train` and `eval` say how often it agrees with the rule checks of tasks that have "
        "both, and warn where that is poor or not known: give some of your tasks both. What the answer says is fenced "
        "as data, and a verdict counts only with a mark that no answer can know; still, no frame keeps a model from "
        "being talked over by what it reads. An answer that names its author or its skill does so to the judge as "
        "well.",
        "The risks are specific to the decision, and each has a likelihood.",
        _rubric,
        needs=frozenset({Need.JUDGE}),
    ),
)
