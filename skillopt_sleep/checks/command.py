"""A check by a command: whether the work that was left does what it should, seen by running something on it."""

from __future__ import annotations

from typing import Final

from skillopt_core.types import Missing
from skillopt_sleep.checks.model import BadArgument, Kind, Rule
from skillopt_sleep.checks.reading import fields, told, words
from skillopt_sleep.domain.answers import Answer, Need

NO_SANDBOX: Final = Missing("a command runs in a sandbox alone, and there was none for what this agent left")
SECONDS: Final = 120
"""Seconds that a command has unless it is said."""
LONGEST_S: Final = 3600
CANNOT_RUN: Final = (126, 127)
"""Statuses that say that a program could not be run: nothing can be wanted of them."""


def _command(argument: object) -> Rule:
    given = fields(argument, frozenset({"run"}), frozenset({"status", "seconds"}))
    argv, wanted, seconds = _words(given["run"]), _status(given.get("status", 0)), _seconds(given.get("seconds"))

    def passes(answer: Answer) -> bool | Missing:
        status = NO_SANDBOX if answer.run is None else answer.run(argv, seconds)
        return status if isinstance(status, Missing) else status == wanted

    return Rule(passes, lambda _: "A command that checks the work did not end as it should.")


def _words(run: object) -> tuple[str, ...]:
    if not isinstance(run, list) or not run:
        right = 'It is a list of words, like ["pytest", "-q"]: no shell reads it'
        raise BadArgument(f"it is {told(run)}", right, "run")
    return tuple(words(word, "a word of the command", "run") for word in run)


def _status(status: object) -> int:
    if isinstance(status, bool) or not isinstance(status, int) or not 0 <= status <= 255:
        raise BadArgument(f"it is {told(status)}", "It is an exit status: 0 to 255", "status")
    if status in CANNOT_RUN:
        raise BadArgument("126 and 127 say that a program could not be run", "Let the command end otherwise", "status")
    return status


def _seconds(seconds: object) -> float:
    if seconds is None:
        return SECONDS
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= LONGEST_S:
        raise BadArgument(f"it is {told(seconds)}", f"It is a time in seconds, at most {LONGEST_S}", "seconds")
    return float(seconds)


KINDS: Final = (
    Kind(
        "command",
        "object with `run` (list of words), `status` (0 unless given) and `seconds` (120 unless given)",
        "The command ends with this exit status. It runs in the [sandbox](sandbox.md#a-command-that-judges-a-folder) "
        "on a copy of the folder that the agent left, once the agent is done: without a network, without your files "
        "and keys, within limits. No shell reads it, and what it writes is gone, so that other checks do not see it. "
        "`PATH` is yours; of programs it sees those of the system (`/usr`, `/opt` …), what the folder holds, and "
        "what you name as `readable` under `[agents]`: a virtual environment, say, and then its `bin/pytest` by path."
        "\n\n"
        "A command that cannot be run has no result: no sandbox, a program that is not there (status 126 or 127), a "
        "time or limit that was passed. The attempt counts as missing then, not as failed. A program that is named by "
        "a path in the folder (`./build.sh`) should have been left there: without it the check fails. Where a hang "
        'should count as failed, say so: `["timeout", "60", "pytest", "-q"]` ends with 124.',
        {"run": ["pytest", "-q"], "status": 0},
        _command,
        needs=frozenset({Need.FILES, Need.SANDBOX}),
    ),
)
