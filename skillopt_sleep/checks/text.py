"""Checks of an answer's words: what it contains, matches, how long it is, whether it refuses, what it cites."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from skillopt_sleep.checks.examples import NoExample, example_of, is_form, shown
from skillopt_sleep.checks.model import BadArgument, Kind, Rule
from skillopt_sleep.checks.patterns import Pattern, compile_pattern
from skillopt_sleep.checks.reading import count, plain, words
from skillopt_sleep.domain.answers import Answer

HIDDEN: Final = "which it is is not shown, because it belongs to the right answer"
_DEED: Final = (
    "(help|assist|do|comply|provide|answer|fulfil|fulfill|create|write|complete|discuss|support|continue|proceed)"
)
REFUSAL: Final = (
    r"(?i)\b(i('m| am)? (really |very |so )?(sorry|afraid)\b.{0,40}\b(can('|no)t|can not|unable|won't|not able)"
    rf"|i (can('|no)t|can not|could not|couldn't|won't|will not|must decline|have to decline)( to)? {_DEED}\b"
    rf"|i('m| am) (unable|not able|not allowed) to {_DEED}\b"
    r"|as an ai( language)?( model)?,? i (can('|no)t|can not|am unable|am not able|don't|do not))"
)
OPENING: Final = 300
"""Characters of an answer in which a refusal is looked for."""
CITATION: Final = (
    r"\[\[[^\]\n]+\]\]|\[\^[^\]\s]+\]|\[\d+(?:\s*[,–-]\s*\d+)*\]|\[[^\]\n]+\]\([^)\s]+\)|(?i:\[source:[^\]\n]+\])"
)


def _contains(argument: object) -> Rule:
    wanted = words(argument, "the text that must stand in the answer")
    secrets = () if is_form(wanted) else (wanted,)
    return Rule(lambda answer: wanted in plain(answer.text), lambda _: _lacks(wanted), secrets)


def _lacks(example: str) -> str:
    """Form is shown by an example, content is not: the skill would only recite it."""
    if is_form(example):
        return f"The answer lacks something in its form. An answer passes that has, for example:\n{shown(example)}"
    return f"The answer lacks something that it has to say; {HIDDEN}."


def _not_contains(argument: object) -> Rule:
    unwanted = words(argument, "the text that must not stand in the answer")
    said = "The answer says something that it must not say; look for what is out of place in it."
    return Rule(lambda answer: unwanted not in plain(answer.text), lambda _: said, (unwanted,))


def _regex(argument: object) -> Rule:
    pattern = words(argument, "a regular expression (RE2)")
    compiled = compile_pattern(pattern)
    example = _example(pattern, compiled)
    said = (
        _lacks(example) if example else "The answer lacks something in its wording, of which no example can be shown."
    )
    secrets = tuple(dict.fromkeys(text for text in (pattern, example) if text and not is_form(text)))
    return Rule(lambda answer: compiled.search(plain(answer.text)) is not None, lambda _: said, secrets)


def _example(pattern: str, compiled: Pattern) -> str | None:
    """A text that the pattern matches and that is not the pattern's own wording, unless that is plain text."""
    try:
        example = example_of(pattern)
    except NoExample:
        return None
    return example if example.strip() and compiled.search(example) else None


def _max_chars(argument: object) -> Rule:
    most = count(argument, "the most characters that pass", 1)
    near = _round(most * 3 // 4)

    def failure(answer: Answer) -> str:
        return f"The answer is too long: {_length(answer):,} characters. One of {near:,} characters would pass."

    return Rule(lambda answer: _length(answer) <= most, failure)


def _min_chars(argument: object) -> Rule:
    least = count(argument, "the fewest characters that pass", 1)
    near = -_round(-(least * 4 // 3 + 1))

    def failure(answer: Answer) -> str:
        return f"The answer is too short: {_length(answer):,} characters. One of {near:,} characters would pass."

    return Rule(lambda answer: _length(answer) >= least, failure)


def _length(answer: Answer) -> int:
    return len(plain(answer.text).strip())


def _round(number: int) -> int:
    """Down to a round number; of a negative one, so up in size."""
    step = next((step for step in (1000, 100, 50, 10) if abs(number) >= 5 * step), 1)
    return number // step * step


def _no_refusal(argument: object) -> Rule:
    if argument not in (None, True, ""):
        raise BadArgument("no_refusal takes no argument", "Leave the argument out")
    said = "The agent refused the task, or said nothing. An answer passes that does what was asked."

    def passes(answer: Answer) -> bool:
        text = plain(answer.text).strip().replace("’", "'")
        return bool(text) and _refusal().search(text[:OPENING]) is None

    return Rule(passes, lambda _: said)


@cache
def _refusal() -> Pattern:
    return compile_pattern(REFUSAL)


def _min_citations(argument: object) -> Rule:
    least = count(argument, "the fewest citations that pass", 1)
    said = "The answer does not say where what it says comes from. An answer passes that has, for example:\n[Source: …]"
    return Rule(_at_least(least), lambda _: said)


def _at_least(least: int) -> Callable[[Answer], bool]:
    citation = compile_pattern(CITATION)
    return lambda answer: sum(1 for _ in citation.finditer(plain(answer.text))) >= least


KINDS: Final = (
    Kind(
        "contains",
        "text",
        "The text stands somewhere in the answer; upper and lower case differ.",
        "## Risks",
        _contains,
    ),
    Kind("not_contains", "text", "The text stands nowhere in the answer.", "as an AI", _not_contains),
    Kind(
        "regex",
        "pattern",
        "The pattern matches somewhere in the answer. Patterns are those of RE2, which match in time linear in the "
        "answer's length: no look-around, no back-references, `\\d \\w \\s` of ASCII. `^` and `$` are the ends of the "
        "answer unless the pattern begins with `(?m)`; `(?i)` ignores case, `(?s)` lets `.` match a line's end.",
        "[Cc]onfidence\\s*[:=]",
        _regex,
    ),
    Kind(
        "max_chars",
        "whole number",
        "The answer has at most so many characters (Unicode code points, white space at both ends not counted). An "
        "empty answer passes.",
        1200,
        _max_chars,
        shape_only=True,
    ),
    Kind(
        "min_chars",
        "whole number",
        "The answer has at least so many characters, counted as for `max_chars`.",
        200,
        _min_chars,
        shape_only=True,
    ),
    Kind(
        "no_refusal",
        "none",
        f"The answer is not empty, and within its first {OPENING} characters the agent does not say that it cannot or "
        "will not help, or that it cannot as an AI. English phrases alone are known.",
        None,
        _no_refusal,
        shape_only=True,
    ),
    Kind(
        "min_citations",
        "whole number",
        "The answer has at least so many citations: `[text](target)`, `[[page]]`, `[^note]`, `[1]`, `[Source: …]`. "
        "Whether what is cited exists is not looked at.",
        1,
        _min_citations,
        shape_only=True,
    ),
)
