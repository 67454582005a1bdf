"""What checks say of code, read from command output by its shape: a file, a line, a code.

No tool is known by name. A finding is a line with a position (`path:12:5:`, `path(12,5):`, `--> path:12:5`, a row below
a file's name) and a code (a number with letters before it; a word in round or square brackets at the end; the last
column of a row). Where a position with line and column has no code, the message's shape stands in for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from skillopt_sleep.mine.wording import shape

_MOST_LINES: Final = 400
_LINE: Final = 400

_POSITION: Final = re.compile(
    r"\s*(?:-->\s*)?(?P<path>(?:[A-Za-z]:[\\/])?[^\s:()'\"`]*[^\s:()'\"`/]\.[A-Za-z]\w{0,7})"
    r"(?::(?P<line>\d+)(?::(?P<column>\d+))?|\((?P<row>\d+)(?:,\s?(?P<cell>\d+))?\)(?=\s*:))(?:-\d+)?(?:\s*[:\-]\s*|\s+|\Z)(?P<rest>.*)"
)
_IN_FILE: Final = re.compile(r"In (?P<path>[^\s:]+) line (?P<line>\d+):\s*\Z")
_ROW: Final = re.compile(
    r"\s+(?P<line>\d+):(?P<column>\d+)\s+(?:error|warning|info)\s+(?P<rest>\S.*?)\s{2,}(?P<code>@?[\w/-]+)\s*\Z"
)
_FILE_ALONE: Final = re.compile(r"\s*(?:[^\s:]+[\\/])?[^\s:\\/]+\.[A-Za-z]\w{0,7}\s*\Z")

_SEVERITY: Final = r"(?:(?:fatal |internal )?(?:error|warning|note|info|style|hint|convention|refactor)\b\s*:?\s*)?"
_LEADING: Final = re.compile(rf"{_SEVERITY}\[?(?P<code>[A-Z]{{1,10}}-?\d{{2,5}})\b\]?", re.IGNORECASE)
_LABEL: Final = re.compile(r"(?:error|warning)\[(?P<code>[A-Za-z][\w:.-]{2,40})\]", re.IGNORECASE)
_MARKED: Final = re.compile(r"\s*\^-+\s*(?P<code>[A-Z]{1,8}\d{2,5})\b")
_ROUND: Final = re.compile(r"\s\((?P<code>[A-Za-z@][\w@-]{2,40}(?:/[\w-]+)?)\)\.?\s*\Z")
_SQUARE: Final = re.compile(r"\[(?P<code>-?[A-Za-z@][\w@=-]{2,50}(?:/[\w-]+)?)\]\s*\Z")
_MARKS: Final = re.compile(r"[\s^~|\-_]*\Z")
_MARGIN: Final = re.compile(r"\A\s*\d*\s*\|\s?")
_UPPER: Final = re.compile(r"[A-Z]{1,10}-?\d{2,5}\Z")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found. `code` is its code, or `~` and the message's shape where it has none.

    `line` is 0 where it was not told. `source` is the line of code that the check printed below, "" where it did not.
    """

    path: str
    line: int
    code: str
    message: str
    source: str = ""

    @property
    def coded(self) -> bool:
        return not self.code.startswith("~")


def findings_in(output: str) -> tuple[Finding, ...]:
    """The findings in a command's output, in order. Linear in its length."""
    lines = [line[:_LINE] for line in output.split("\n", _MOST_LINES)[:_MOST_LINES]]
    return tuple(_read(lines))


def _read(lines: Sequence[str]) -> Iterator[Finding]:
    file, label, place = "", "", ("", 0)
    for at, line in enumerate(lines):
        if match := _POSITION.match(line):
            place = (match["path"], int((match["line"] or match["row"])[:9]))
            code = _code_of(match["rest"], exact=_exact(match)) or label or _shape_of(match)
            label = ""
            if code:
                yield Finding(*place, code, match["rest"], _source(lines, at))
        elif row := _ROW.match(line):
            if file:
                yield Finding(file, int(row["line"][:9]), row["code"], row["rest"])
        elif head := _IN_FILE.match(line):
            place = (head["path"], int(head["line"][:9]))
        elif (mark := _MARKED.match(line)) and place[0]:
            yield Finding(*place, mark["code"], line.strip(), lines[at - 1].strip() if at else "")
        elif match := _LABEL.match(line.lstrip()):
            label = match["code"]
        elif _FILE_ALONE.match(line):
            file = line.strip()


def _code_of(message: str, *, exact: bool) -> str:
    """The code of a message: the number that it begins with, else the word in brackets at its end.

    Round brackets count only where the position is exact to the column or stands at the margin: logs end in them too.
    """
    if (match := _LABEL.match(message)) or (match := _LEADING.match(message)):
        found = match["code"]
        if match.re is _LABEL or _UPPER.match(found):
            return found
    if (match := _SQUARE.search(message)) or (exact and (match := _ROUND.search(message))):
        return match["code"]
    return ""


def _exact(match: re.Match[str]) -> bool:
    return bool(match["column"] or match["cell"]) or not match.string[:1].isspace()


def _shape_of(match: re.Match[str]) -> str:
    """A stand-in for a code, only where the position has a column: test logs and stack traces have none."""
    if not (match["column"] or match["cell"]) or not match["rest"]:
        return ""
    words = shape(match["rest"])
    return f"~{words}" if len(words.replace("_", "").split()) >= 1 and any(c.isalpha() for c in words) else ""


def _source(lines: Sequence[str], at: int) -> str:
    """The line of code below a finding: the next one that is neither marks nor another position."""
    for line in lines[at + 1 : at + 4]:
        plain = _MARGIN.sub("", line)
        if _POSITION.match(line) or _ROW.match(line):
            return ""
        if plain.strip() and not _MARKS.match(plain):
            return plain.strip()
    return ""
