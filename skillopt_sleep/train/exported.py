"""Lines of `tasks --export`: the same document as `tasks --json` prints, with the unit and the start of each task.

What the miner alone can judge, in recordings, has no check here that an attempt could pass: such lines are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from skillopt_sleep.checks import BUILT_IN, BadArgument, Check, Kind
from skillopt_sleep.checks.kept import kept_check
from skillopt_sleep.checks.reading import told
from skillopt_sleep.domain.tasks import FREE_OF, SUCCEEDS, TaskCheck
from skillopt_sleep.train.rows import BadRow, Row, text_of

_RECORDED: Final = frozenset({FREE_OF, SUCCEEDS})
_CHECKS: Final = 'It is a list like [{"kind": "contains", "argument": "…", "from": null}]'


def is_row(row: Mapping[str, object]) -> bool:
    """Whether a line is of this dialect."""
    return row.get("format") == 1 and "pattern" in row and "prompt" in row


def read_row(row: Mapping[str, object], longest: int, kinds: Mapping[str, Kind] = BUILT_IN) -> Row | None:
    """What a line says, None where only recordings could judge it. `BadRow` with the key for what is none."""
    given = row.get("checks")
    if not isinstance(given, list):
        raise BadRow("checks", f"it is {told(given)}", _CHECKS)
    found = [_kept(number, one) for number, one in enumerate(given)]
    if not found or any(one.kind in _RECORDED for one in found):
        return None
    start = row.get("start")
    return Row(
        text_of(row, "id", "It is the task's name, unique in all files", longest),
        text_of(row, "prompt", "It is what the agent is asked", longest),
        tuple(_read(number, one, kinds) for number, one in enumerate(found)),
        group=next((str(row[key]) for key in ("group", "session") if isinstance(row.get(key), str)), ""),
        commit=str(start.get("commit") or "") if isinstance(start, dict) else "",
        spelled=lambda key: "start.commit" if key == "commit" else key,
    )


def _kept(number: int, given: object) -> TaskCheck:
    if not isinstance(given, dict):
        raise BadRow(f"checks[{number}]", f"it is {told(given)}", _CHECKS)
    kind, argument = given.get("kind"), given.get("argument")
    if not isinstance(kind, str) or not isinstance(argument, str):
        raise BadRow(f"checks[{number}]", "kind or argument is no text", _CHECKS)
    return TaskCheck(kind, argument)


def _read(number: int, one: TaskCheck, kinds: Mapping[str, Kind]) -> Check:
    try:
        return kept_check(one, kinds)
    except BadArgument as error:
        raise BadRow(f"checks[{number}]", error.wrong, error.right) from error
