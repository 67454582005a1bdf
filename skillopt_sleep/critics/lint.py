"""Edit lint: what an edit names and nobody knows. A plausible wrong parameter name is the commonest machine mistake.

What is known is given as plain data: the tools that were called or offered, with their parameters where their schemas
were seen, the programs and flags that were run, the files that were touched or are there. What is not known at all
(None) is not asked about. An unknown name is flagged, not refused: it may be right and new.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal

from skillopt_sleep.critics.spans import Masked, mask
from skillopt_sleep.domain.commands import PROGRAMS, bare, flags, split

Kind = Literal["tool", "parameter", "program", "flag", "file"]

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][\w.:-]*\Z")
_CALL: Final = re.compile(r"([A-Za-z_][\w.:-]*)\s*\(([^()]*)\)\Z")
_GIVEN: Final = re.compile(r"(?<![\w.\"'])[\"']?([A-Za-z_]\w*)[\"']?\s*(?:=(?!=)|:(?!:))")
_TOOL_NAMED: Final = re.compile(
    r"(?i)\b(?:tools?|call|calls|calling|invoke)\s+(?:the\s+)?\x00(\d+)\x00|\x00(\d+)\x00\s+tool\b"
)
_PARAMETER_NAMED: Final = re.compile(
    r"(?i)\b(?:parameters?|arguments?|params?|field|key)\s+(?:called\s+|named\s+)?\x00(\d+)\x00"
    r"|\x00(\d+)\x00\s+(?:parameter|argument|param|field)\b"
)
_PATH: Final = re.compile(r"(?:~|\.{1,2})?/?[\w.@+-]+(?:/[\w.@+-]+)*/?\Z")
_ENDING: Final = re.compile(r"[\w-]\.[A-Za-z][A-Za-z0-9]{0,4}\Z")
_CLUSTER: Final = re.compile(r"-[A-Za-z]{1,4}\Z")
_CLOSE: Final = 0.65
MOST: Final = 12
"""Names of one edit that are flagged: looking for what was meant takes time."""

_Named = tuple[Kind, str, Iterable[str]]
"""An unknown name, and the known ones of its kind."""


@dataclass(frozen=True, slots=True)
class Known:
    """What there is, as far as it is known; None asks nothing.

    `tools` by name with their parameters (None where no schema was seen). `programs` as they were run, `flags` as pairs
    of program and flag. `files` are paths relative to the project; `has_file` asks the project itself.
    """

    tools: Mapping[str, frozenset[str] | None] | None = None
    programs: frozenset[str] | None = None
    flags: frozenset[tuple[str, str]] | None = None
    files: frozenset[str] | None = None
    has_file: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name that nothing known holds. `likely` is the known name that was probably meant, "" where none is near."""

    kind: Kind
    name: str
    likely: str = ""

    def __str__(self) -> str:
        meant = f" (is `{self.likely}` meant?)" if self.likely else ""
        return f"{self.kind} `{self.name}`{meant}"


def unknown(text: str, known: Known) -> tuple[Unknown, ...]:
    """What the lines of a text name in code spans that is not known, each once, in order; at most `MOST`."""
    found: dict[tuple[Kind, str], Iterable[str]] = {}
    for kind, name, there in (one for line in text.splitlines() for one in _in_line(mask(line), known)):
        if len(found) == MOST:
            break
        found.setdefault((kind, name), there)
    return tuple(Unknown(kind, name, _likely(name, there)) for (kind, name), there in found.items())


def _in_line(line: Masked, known: Known) -> Iterator[_Named]:
    yield from _tools_in(line, known)
    yield from _commands_in(line, known)
    yield from _files_in(line, known)


def _tools_in(line: Masked, known: Known) -> Iterator[_Named]:
    if known.tools is None:
        return
    named = [line.codes[n] for n in _numbers(_TOOL_NAMED, line.text)]
    calls = [call for code in line.codes if (call := _CALL.match(code.strip()))]
    near = [call.group(1) for call in calls if call.group(1) in known.tools or _likely(call.group(1), known.tools)]
    tools = [name for name in dict.fromkeys([*(_called(code) for code in named), *near]) if _IDENTIFIER.match(name)]
    for name in tools:
        if name not in known.tools and name not in PROGRAMS and name not in (known.programs or ()):
            yield "tool", name, known.tools
    given = [(call.group(1), name) for call in calls for name in _GIVEN.findall(call.group(2))]
    spoken = [line.codes[n] for n in _numbers(_PARAMETER_NAMED, line.text)]
    mentioned = [code for code in line.codes if code in known.tools]
    given += [(tool, name) for name in spoken if _IDENTIFIER.match(name) for tool in mentioned or [""]]
    for tool, name in given:
        yield from _parameter(tool, name, known.tools)


def _called(code: str) -> str:
    call = _CALL.match(code.strip())
    return call.group(1) if call else code.strip()


def _parameter(tool: str, name: str, tools: Mapping[str, frozenset[str] | None]) -> Iterator[_Named]:
    """The parameter, where the tool's schema was seen and has no such one; without a tool, where no schema has it."""
    schemas = [tools.get(tool)] if tool else list(tools.values())
    seen = [schema for schema in schemas if schema is not None]
    if seen and not any(name in schema for schema in seen):
        yield "parameter", name, frozenset[str]().union(*seen)


def _commands_in(line: Masked, known: Known) -> Iterator[_Named]:
    runs = [bare(simple.words) for code in line.codes if not _CALL.match(code.strip()) for simple in split(code)]
    programs = [words[0] for words in runs if words and not words[0].startswith("-")]
    spoken = [words[0] for words in runs if len(words) > 1 and _IDENTIFIER.match(words[0])]
    if known.programs is not None:
        common = known.programs | PROGRAMS
        yield from (("program", name, known.programs) for name in spoken if name not in common)
    for words in runs:
        own = programs if not words or words[0].startswith("-") else words[:1]
        yield from _flags_in(flags(("", *words)), own, known)


def _flags_in(named: Sequence[str], programs: Sequence[str], known: Known) -> Iterator[_Named]:
    if known.flags is None:
        return
    of = {flag for program, flag in known.flags if program in programs or not programs}
    for flag in named:
        common = _CLUSTER.match(flag) and set(programs) & PROGRAMS
        if flag not in of and not common:
            yield "flag", flag, of


def _files_in(line: Masked, known: Known) -> Iterator[_Named]:
    if known.files is None:
        return
    for word in (word for code in line.codes for word in code.split()):
        if _is_path(word) and not _is_there(word, known.files, known.has_file):
            yield "file", word, _beside(word, known.files)


def _is_path(word: str) -> bool:
    return bool(_PATH.match(word)) and ("/" in word.strip("/") or bool(_ENDING.search(word)))


def _beside(word: str, files: frozenset[str]) -> Iterator[str]:
    """The files in the same folder, or of the same name elsewhere."""
    folder, _, name = word.rpartition("/")
    for file in files:
        its_folder, _, its_name = file.rpartition("/")
        if folder == its_folder or name == its_name:
            yield file


def _is_there(word: str, files: frozenset[str], has_file: Callable[[str], bool] | None) -> bool:
    """True for a file, a folder of one, and the bare name of one."""
    path = word.removeprefix("./").rstrip("/")
    if path in files or any(file.startswith(f"{path}/") or file.endswith(f"/{path}") for file in files):
        return True
    return has_file is not None and has_file(path)


def _likely(name: str, known: Iterable[str]) -> str:
    """The nearest known name. One that begins with or ends in the other is near whatever its length (`file_path`)."""
    known = sorted(known)
    inside = sorted((one for one in known if len(name) > 2 and name in re.split(r"[_.:-]", one)), key=len)
    return next(iter(inside or get_close_matches(name, known, 1, _CLOSE)), "")


def _numbers(pattern: re.Pattern[str], text: str) -> Iterator[int]:
    for found in pattern.finditer(text):
        yield int(next(group for group in found.groups() if group is not None))
