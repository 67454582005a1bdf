"""Rows of the public benchmark gbrain-skillopt-v1: `task_id`, `task`, and a `judge` by rules or by a model.

Both of its revisions load (rules on sections, or on what an answer contains), and both readings of a judge: the soft
score is the fraction of its checks, the hard one whether all pass; a recipe's `metric` chooses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from skillopt_sleep.checks import Check
from skillopt_sleep.checks.reading import told
from skillopt_sleep.train.rows import BadRow, Row, known_keys, text_of

KEYS: Final = frozenset({"task_id", "task", "judge", "meta"})
_RULE: Final = frozenset({"kind", "checks"})
_MODEL: Final = frozenset({"kind", "rubric", "model"})
_CHECK: Final = frozenset({"op", "arg"})
_KINDS: Final = "A judge is of kind rule, with checks, or of kind llm, with a rubric"


def is_row(row: Mapping[str, object]) -> bool:
    """Whether a line is of this dialect."""
    return "task_id" in row or "judge" in row


def read_row(row: Mapping[str, object], longest: int) -> Row:
    """What a line of the benchmark says. `BadRow` with the key for what is none."""
    known_keys(row, KEYS)
    name = text_of(row, "task_id", "It is the task's name", longest)
    prompt = text_of(row, "task", "It is what the agent is asked", longest)
    judge = row.get("judge")
    if not isinstance(judge, dict):
        raise BadRow("judge", f"it is {told(judge)}", _KINDS)
    match judge.get("kind"):
        case "rule":
            return Row(name, prompt, _rules(judge), spelled=_rule_key)
        case "llm":
            return Row(name, prompt, (_rubric(judge),), spelled=_model_key)
        case other:
            said = f"there is no kind {other!r}" if isinstance(other, str) else f"it is {told(other)}"
            raise BadRow("judge.kind", said, _KINDS)


def _rules(judge: Mapping[str, object]) -> tuple[Check, ...]:
    known_keys(judge, _RULE, "judge.", aside="")
    checks = judge.get("checks")
    if not isinstance(checks, list) or not checks:
        raise BadRow("judge.checks", f"it is {told(checks)}", 'It is a list like [{"op": "contains", "arg": "…"}]')
    return tuple(_check(number, check) for number, check in enumerate(checks))


def _check(number: int, check: object) -> Check:
    key = f"judge.checks[{number}]"
    if not isinstance(check, dict):
        raise BadRow(key, f"it is {told(check)}", 'It is an object like {"op": "contains", "arg": "…"}')
    known_keys(check, _CHECK, f"{key}.", aside="")
    op = check.get("op")
    if not isinstance(op, str):
        raise BadRow(f"{key}.op", f"it is {told(op)}", "It names a kind of check, such as contains")
    return Check(op, check.get("arg"))


def _rubric(judge: Mapping[str, object]) -> Check:
    known_keys(judge, _MODEL, "judge.", aside="")
    return Check("rubric", {key: judge[key] for key in ("rubric", "model") if key in judge})


def _rule_key(key: str) -> str:
    return f"judge.{key}".replace("].kind", "].op").replace("].argument", "].arg")


def _model_key(key: str) -> str:
    return f"judge{key.removeprefix('checks[0]').removeprefix('.argument')}"
