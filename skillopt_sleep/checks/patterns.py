"""Regular expressions in linear time (RE2), so that no pattern and no answer can hang a night."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, cast

from skillopt_sleep.checks.model import BadArgument

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST: Final = 10_000
"""Characters of a pattern."""


class Pattern(Protocol):
    """A compiled pattern; `^`, `$` are the ends of the text unless it says `(?m)`, and classes are of ASCII."""

    def search(self, text: str) -> object | None: ...

    def finditer(self, text: str) -> Iterator[object]: ...


def compile_pattern(pattern: str) -> Pattern:
    """Compile a pattern of RE2's syntax. `BadArgument` for one that is none, says too much, or looks around."""
    import re2

    if len(pattern) > LONGEST:
        raise BadArgument(f"the pattern has {len(pattern)} characters", f"At most {LONGEST:,} are read")
    options = re2.Options()
    options.log_errors = False
    try:
        return cast("Pattern", re2.compile(pattern, options))
    except re2.error as error:
        said = error.args[0] if error.args else ""
        why = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise BadArgument(f"not a pattern ({why})", _remedy(why)) from error
    except UnicodeEncodeError as error:
        raise BadArgument("not a pattern (half a character)", "Write whole characters") from error


def _remedy(why: str) -> str:
    if "perl operator" in why or "escape sequence" in why:
        return "Patterns are RE2's, which match in linear time: no look-around, no back-references, no \\Z (use \\z)"
    return "Write a regular expression of RE2's syntax"
