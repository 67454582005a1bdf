"""How arguments and answers are read, the same for all kinds."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Final

from skillopt_core.types import Missing
from skillopt_sleep.checks.model import BadArgument

LONGEST: Final = 100_000
"""Characters of a text argument."""
UNKNOWN_TOOLS: Final = Missing("which tools were called is not known")
UNKNOWN_FILES: Final = Missing("which files were left is not known")


def plain(text: str) -> str:
    """A text as all checks see it: NFC, lines ended by a line feed, half characters replaced by a question mark."""
    whole = text if text.isascii() else unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode("utf-8"))
    return whole.replace("\r\n", "\n").replace("\r", "\n") if "\r" in whole else whole


def words(argument: object, what: str, key: str = "") -> str:
    """A text argument that says something, as `plain` makes it."""
    if not isinstance(argument, str) or not argument.strip():
        raise BadArgument(f"it is {told(argument)}", f"It is {what}: a text that is not empty", key)
    if len(argument) > LONGEST:
        raise BadArgument(f"it has {len(argument)} characters", f"It is {what} of at most {LONGEST:,} characters", key)
    return plain(argument)


def count(argument: object, what: str, least: int) -> int:
    """A whole number of at least `least`. A whole number written as text is read too: some files have it so."""
    number = int(argument) if isinstance(argument, str) and argument.isascii() and argument.isdigit() else argument
    if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= 10**9:
        raise BadArgument(f"it is {told(argument)}", f"It is {what}: a whole number from {least} on")
    return number


def fields(argument: object, needed: frozenset[str], allowed: frozenset[str]) -> Mapping[str, object]:
    """An object with all keys of `needed` and none beside those and `allowed`."""
    keys = ", ".join([*sorted(needed), *(f"{key} (optional)" for key in sorted(allowed))])
    if not isinstance(argument, dict):
        raise BadArgument(f"it is {told(argument)}", f"It is an object with the keys {keys}")
    if unknown := sorted(set(argument) - needed - allowed):
        raise BadArgument("there is no such key", f"Keys are {keys}", str(unknown[0]))
    if absent := sorted(needed - set(argument)):
        raise BadArgument("the key is missing", f"Keys are {keys}", absent[0])
    return argument


def told(argument: object) -> str:
    """What an argument is, in words and in short."""
    if argument is None:
        return "missing"
    if argument == "":
        return "empty"
    names = {
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
    }
    said = names.get(type(argument), type(argument).__name__)
    return f"{said} ({argument!r})" if isinstance(argument, (bool, int, float)) else said
