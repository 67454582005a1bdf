"""The user's own patterns, admitted only where they run in linear time whatever the text.

Python's engine backtracks, so a pattern is measured before it is used: the product of its choices (branches, spans of
repeats) times its length is the most work that a start can cost, and that must be a small constant. A repeat without an
upper bound is admitted at the very end only, where nothing after it can fail.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from re import _constants as op  # type: ignore[attr-defined]  # the only parser of Python's own syntax
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from skillopt_sleep.errors import ConfigError
from skillopt_sleep.redact.spans import Span

_MOST_WORK = 4_096
_MOST_LENGTH = 1_024
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


def linear_patterns(texts: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    """The patterns compiled, or ConfigError for the first that is broken, empty or not linear."""
    return tuple(map(_linear, texts))


def custom_spans(scan: bytes, patterns: Sequence[re.Pattern[str]]) -> list[Span]:
    """What the user's patterns match in `scan` (UTF-8)."""
    text = scan.decode("utf-8")
    return [Span(*_in_bytes(text, match), "custom") for pattern in patterns for match in pattern.finditer(text)]


def _in_bytes(text: str, match: re.Match[str]) -> tuple[int, int]:
    start = len(text[: match.start()].encode())
    return start, start + len(match[0].encode())


def _linear(text: str) -> re.Pattern[str]:
    where = f"[redact] {text[:80]!r}"
    try:
        pattern = re.compile(text)
        parsed = parser.parse(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigError(
            f"not a regular expression: {error}", where=where, remedy="Mend or remove the pattern"
        ) from error
    least, _ = parsed.getwidth()
    if least < 3:
        raise ConfigError(
            "the pattern can match fewer than 3 characters", where=where, remedy="Make it say more of the secret"
        )
    choices, length = _work(parsed, where, last=True)
    if choices * length > _MOST_WORK:
        raise ConfigError(
            "the pattern may take too long on hostile text",
            where=where,
            remedy="Use fewer or narrower repeats, or make them possessive, as in {8,40}+",
        )
    return pattern


def _work(parsed: Any, where: str, *, last: bool) -> tuple[int, int]:
    """(most ways to match, most characters) of a parsed sequence. `last`: nothing follows it."""
    choices, length = 1, 0
    items = list(parsed)
    for index, (kind, argument) in enumerate(items):
        ways, size = _item_work(kind, argument, where, last=last and index == len(items) - 1)
        choices, length = choices * ways, length + size
        if choices > _MOST_WORK:
            break
    return choices, length


def _item_work(kind: Any, argument: Any, where: str, *, last: bool) -> tuple[int, int]:
    if kind in _REPEATS:
        return _repeat_work(kind, argument, where, last=last)
    if kind is op.BRANCH:
        branches = [_work(branch, where, last=last) for branch in argument[1]]
        return sum(ways for ways, _ in branches), max(size for _, size in branches)
    if kind is op.SUBPATTERN:
        return _work(argument[3], where, last=last)
    if kind is op.ATOMIC_GROUP:
        return 1, _work(argument, where, last=False)[1]
    if kind in (op.ASSERT, op.ASSERT_NOT):
        return _work(argument[1], where, last=False)
    if kind in (op.GROUPREF, op.GROUPREF_EXISTS):
        raise ConfigError("back references are not admitted", where=where, remedy="Write the text out")
    return 1, 0 if kind is op.AT else 1


def _repeat_work(kind: Any, argument: Any, where: str, *, last: bool) -> tuple[int, int]:
    low, high, body = argument
    ways, size = _work(body, where, last=False)
    if high is op.MAXREPEAT:
        if not last or ways > 1 or kind is op.MIN_REPEAT:
            raise ConfigError(
                "a repeat without an upper bound stands before the end of the pattern, or repeats choices",
                where=where,
                remedy="Give it a bound, as in {8,200}",
            )
        return 1, size * (low + 1)
    if high * size > _MOST_LENGTH:
        raise ConfigError(
            f"a repeat may match more than {_MOST_LENGTH} characters", where=where, remedy="Lower its bound"
        )
    if kind is op.POSSESSIVE_REPEAT and ways == 1:
        return 1, high * size
    return sum(ways**count for count in range(low, high + 1)) if ways > 1 else high - low + 1, high * size
