"""A check by a command compares an exit status; what gave none is missing, whatever the other checks say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skillopt_core.types import Missing, Score
from skillopt_sleep.checks import Answer, Check, score


def scored(said: int | Missing, **argument: Any) -> Score | Missing:
    def run(argv: Sequence[str], seconds: float) -> int | Missing:
        asked.append((tuple(argv), seconds))
        return said

    asked: list[tuple[tuple[str, ...], float]] = []
    got = score(
        [Check("command", {"run": ["make", "test"], **argument}), Check("max_chars", 9)],
        Answer("ok", files={}, run=run),
    )
    assert asked == [(("make", "test"), argument.get("seconds", 120))]
    return got


def test_the_wanted_status_passes_and_every_other_one_fails() -> None:
    passed, failed = scored(0), scored(2)
    assert isinstance(passed, Score)
    assert isinstance(failed, Score)
    assert (passed.hard, failed.hard, failed.soft) == (1.0, 0.0, 0.5)
    assert failed.failed == ("A command that checks the work did not end as it should.",)
    wanted = scored(2, status=2, seconds=7)
    assert isinstance(wanted, Score)
    assert wanted.hard == 1.0


def test_a_command_that_could_not_be_run_is_no_score() -> None:
    assert scored(Missing("the command make: a program is not there")) == Missing(
        "the command make: a program is not there"
    )
