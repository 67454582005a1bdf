"""Kinds that have a meaning but nobody yet who could judge them: they are read, and then refused with the reason."""

from __future__ import annotations

from typing import Final

from skillopt_core.types import Missing
from skillopt_sleep.checks.model import BadArgument, Kind, Rule
from skillopt_sleep.checks.reading import fields, told, words
from skillopt_sleep.domain.answers import Need

NO_SANDBOX: Final = Missing("a command runs in a sandbox alone, and no agent with one is there")
NO_JUDGE: Final = Missing("a rubric is judged by a model, and no judge is there")


def _command(argument: object) -> Rule:
    given = fields(argument, frozenset({"run"}), frozenset({"status"}))
    run, status = given["run"], given.get("status", 0)
    if not isinstance(run, list) or not run:
        raise BadArgument(
            f"it is {told(run)}", 'It is a list of words, like ["pytest", "-q"]: no shell reads it', "run"
        )
    for word in run:
        words(word, "a word of the command", "run")
    if isinstance(status, bool) or not isinstance(status, int) or not 0 <= status <= 255:
        raise BadArgument(f"it is {told(status)}", "It is an exit status: 0 to 255", "status")
    return Rule(lambda _: NO_SANDBOX, lambda _: "A command that checks the work did not end as it should.")


def _rubric(argument: object) -> Rule:
    bare = isinstance(argument, str)
    given = {"rubric": argument} if bare else fields(argument, frozenset({"rubric"}), frozenset({"pass", "model"}))
    text = words(given["rubric"], "what the judge is told", "" if bare else "rubric")
    least = given.get("pass", 0.5)
    if isinstance(least, bool) or not isinstance(least, (int, float)) or not 0 < least <= 1:
        raise BadArgument(f"it is {told(least)}", "It is the least grade that passes, above 0 and at most 1", "pass")
    if "model" in given:
        words(given["model"], "the name of a model", "model")
    return Rule(lambda _: NO_JUDGE, lambda _: "The answer was judged not good enough.", (text,))


KINDS: Final = (
    Kind(
        "command",
        "object with `run` (list of words) and `status` (0 unless given)",
        "The command, run in the task's folder after the agent is done, ends with this exit status. **Not judged "
        "yet**: a task that needs it is refused when it is loaded, until an agent with a sandbox is there.",
        {"run": ["pytest", "-q"], "status": 0},
        _command,
        needs=frozenset({Need.SANDBOX}),
    ),
    Kind(
        "rubric",
        "text, or object with `rubric`, `pass` (0.5 unless given) and `model`",
        "A model that is given the task, the answer and the rubric grades the answer in [0, 1]; a grade of at least "
        "`pass` passes. **Not judged yet**: a task that needs it is refused when it is loaded, until a judge is there.",
        "The risks are specific to the decision, and each has a likelihood.",
        _rubric,
        needs=frozenset({Need.JUDGE}),
    ),
)
