"""Checks against a known answer: the same text, the same words, the same number, the same shape of JSON."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from typing import Any, Final

from skillopt_sleep.checks.model import BadArgument, Kind, Rule
from skillopt_sleep.checks.reading import fields, plain, told, words

_ARTICLES: Final = frozenset({"a", "an", "the"})
_NUMBER: Final = re.compile(r"[-+−]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?")
_APART: Final = re.compile(r"[\s=(){}\[\]|<>]+")
_BEFORE: Final = "*_`'\"“„~≈$€£¥"
_BEHIND: Final = "*_`'\"”“.,;:!?%°$€£¥\\"
_FENCED: Final = re.compile(r"^ {0,3}```[^\n]*\n(.*?)^ {0,3}```[ \t]*$", re.DOTALL | re.MULTILINE)
_WRONG: Final = "The answer is not the one that was wanted; which one is right is not shown."


def _exact(argument: object) -> Rule:
    golds = _golds(argument)
    whole = {gold.strip() for gold in golds}
    return Rule(lambda answer: plain(answer.text).strip() in whole, lambda _: _WRONG, golds)


def _normalised(argument: object) -> Rule:
    golds = _golds(argument)
    whole = {normalised(gold) for gold in golds}
    if "" in whole:
        raise BadArgument("nothing of it is left after normalisation", "It needs a word that is not a, an or the")
    return Rule(lambda answer: normalised(answer.text) in whole, lambda _: _WRONG, golds)


def normalised(text: str) -> str:
    """The words of a text: NFKC, without case, punctuation, symbols, articles (a, an, the) and extra white space."""
    folded = unicodedata.normalize("NFKC", plain(text)).casefold()
    bare = "".join(c if unicodedata.category(c)[0] not in "PS" else " " for c in folded)
    return " ".join(word for word in bare.split() if word not in _ARTICLES)


def _golds(argument: object) -> tuple[str, ...]:
    """One right answer, or a list of them."""
    given = argument if isinstance(argument, list) else [argument]
    if not given:
        raise BadArgument("it is an empty list", "It is the right answer, or a list of right answers")
    return tuple(words(gold, "the right answer, or a list of right answers") for gold in given)


def _number(argument: object) -> Rule:
    """The bare number, or an object with its tolerance."""
    bare = not isinstance(argument, dict)
    given = {"value": argument} if bare else fields(argument, frozenset({"value"}), frozenset({"absolute", "relative"}))
    value = _real(given["value"], "the right number", "" if bare else "value")
    absolute = _tolerance(given.get("absolute", 0), "absolute")
    allowed = max(absolute, abs(value) * _tolerance(given.get("relative", 0), "relative"), abs(value) * 1e-9)
    secrets = tuple(dict.fromkeys((f"{value:g}", f"{value:,g}", repr(given["value"]))))

    def passes(text: str) -> bool:
        found = last_number(text)
        return found is not None and abs(found - value) <= allowed

    return Rule(
        lambda answer: passes(plain(answer.text)),
        lambda answer: "The answer holds no number." if last_number(plain(answer.text)) is None else _WRONG,
        secrets,
    )


def last_number(text: str) -> float | None:
    """The last number that stands alone in a text (`-1,234.5`, `6e-3`), a currency or `%` beside it set aside."""
    for word in reversed(_APART.split(text)):
        bare = word.lstrip(_BEFORE).rstrip(_BEHIND)
        if _NUMBER.fullmatch(bare):
            return float(bare.replace(",", "").replace("−", "-"))
    return None


def _real(argument: object, what: str, key: str) -> float:
    if isinstance(argument, bool) or not isinstance(argument, (int, float)) or not math.isfinite(argument):
        raise BadArgument(f"it is {told(argument)}", f"It is {what}", key)
    if abs(argument) > 1e300:
        raise BadArgument("the number is too large", f"It is {what}, below 1e300", key)
    return float(argument)


def _tolerance(argument: object, key: str) -> float:
    number = _real(argument, "how far off a number may be: 0 or more", key)
    if number < 0:
        raise BadArgument(f"it is {told(argument)}", "It is how far off a number may be: 0 or more", key)
    return number


def _json_schema(argument: object) -> Rule:
    import jsonschema_rs

    if not isinstance(argument, (dict, bool)):
        raise BadArgument(f"it is {told(argument)}", "It is a JSON Schema: an object")
    try:
        # Linear-time patterns, and no schema that is named in a task file is ever fetched.
        validator = jsonschema_rs.validator_for(argument, pattern_options=jsonschema_rs.RegexOptions(), offline=True)
    except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        why = str(error).split("\n", maxsplit=1)[0]
        right = "It is a JSON Schema that refers to nothing outside itself, with RE2-like patterns (no look-around)"
        raise BadArgument(f"not a usable JSON Schema ({why})", right) from error

    def passes(text: str) -> bool:
        found = json_of(text)
        return found is not NOTHING and validator.is_valid(found)

    def failure(text: str) -> str:
        found = json_of(text)
        if found is NOTHING:
            return "The answer is not JSON. An answer passes that is nothing but JSON, or has it in one ```json block."
        first = next(iter(validator.iter_errors(found)), None)
        at = "/".join(map(str, first.instance_path)) if first else ""
        return f"The answer's JSON has not the wanted shape at /{at}: a key, a type or a value there is wrong."

    return Rule(lambda answer: passes(plain(answer.text)), lambda answer: failure(plain(answer.text)))


NOTHING: Final = object()


def json_of(text: str) -> Any:
    """The JSON value that an answer is, else the one in its first code block; `NOTHING` where there is none.

    Strict JSON: `NaN` and `Infinity` are none.
    """
    block = _FENCED.search(text)
    for part in (text, *((block.group(1),) if block else ())):
        try:
            return json.loads(part, parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
    return NOTHING


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


KINDS: Final = (
    Kind(
        "exact",
        "text, or a list of texts",
        "The whole answer is the text (or one of the texts), character by character; white space at both ends is not "
        "counted.",
        "42 Elm Street",
        _exact,
    ),
    Kind(
        "normalised",
        "text, or a list of texts",
        "The whole answer is the text (or one of the texts) after normalisation of both: NFKC, without case, "
        "punctuation and symbols, the articles a, an, the, and extra white space.",
        ["Elm Street", "Elm St."],
        _normalised,
    ),
    Kind(
        "number",
        "number, or object with `value` and `absolute` or `relative`",
        "The last number that stands alone in the answer (`-1,234.5`, `6e-3`; commas only between groups of three "
        "digits; quotes, emphasis, brackets, a currency sign and `%` beside it are set aside) is the value, off by at "
        "most `absolute` or `relative` × |value|, whichever is more; without either, by 1e-9 × |value|.",
        {"value": 9.81, "absolute": 0.01},
        _number,
    ),
    Kind(
        "json_schema",
        "JSON Schema",
        "The answer is JSON, or its first code block is, and it is valid by the schema (draft 2020-12 unless `$schema` "
        "names another). `format` is not asserted; `pattern` matches in linear time; references lead nowhere outside "
        "the schema.",
        {"type": "object", "required": ["verdict"], "properties": {"verdict": {"enum": ["ship", "wait"]}}},
        _json_schema,
    ),
)
