"""What a project's history shows, asked as of a moment: which paths were found, what was written, what was run.

Every question takes `until_ms`: what began later is not seen, so that a rule can be phrased from the days before a cut.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from skillopt_sleep.domain.episodes import ActionKind
from skillopt_sleep.mine.trace import CHANGES, LOOKS, Step, Trace
from skillopt_sleep.mine.wording import MISSING, ending, first_line, stem

EVER: Final = 2**62
"""A moment after all others."""
MOSTLY: Final = 0.6
"""The share of looks at a path that must have failed before it is said not to exist."""
_CHANGERS: Final = frozenset({"rm", "mv", "rmdir", "unlink"})
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_MOST_WORDS: Final = 2000

_Times = dict[tuple[str, str], list[int]]
"""Moments by project and path, or by project and the start of a command."""


@dataclass(frozen=True, slots=True)
class Written:
    """New content that an edit or write brought, where the call succeeded."""

    at_ms: int
    session: str
    action: int
    path: str
    new: str
    old: str

    def adds(self, fragment: str) -> bool:
        """Whether the fragment is new here: what an edit only carries along is not its doing."""
        return fragment in self.new and fragment not in self.old


def ancestors(path: str) -> Iterator[str]:
    """The path itself and the folders above it, from below; nothing above a root, a home or the project."""
    while path and path not in {".", "..", "/", "~"}:
        yield path
        path = path.rpartition("/")[0]


def missing_paths(step: Step) -> tuple[str, ...]:
    """The paths of an action of which its own message says that they are not there."""
    action = step.action
    if action.kind is ActionKind.COMMAND:
        return _missed_by_command(step)
    tool = action.kind in LOOKS or action.kind is ActionKind.EDIT
    missing = tool and step.failed and bool(MISSING.search(first_line(action.output)))
    return action.paths[:1] if missing else ()


def _missed_by_command(step: Step) -> tuple[str, ...]:
    if not (step.failed or step.ok) or not step.action.paths:
        return ()
    lines = [line for line in step.action.output.split("\n", 40)[:40] if MISSING.search(line)]
    return tuple(p for p in step.action.paths if len(p) > 1 and any(p.removeprefix("~") in line for line in lines))


def _shows_its_paths(step: Step) -> bool:
    """Whether an action that worked shows that what it names is there."""
    if step.action.kind is not ActionKind.COMMAND:
        return True
    if any(p.words[0] in _CHANGERS or p.joint in {"|", "||"} for p in step.parts) or MISSING.search(step.action.output):
        return False
    return len(step.parts) == 1


class History:
    """Indexes over all sessions. Building is linear in the actions, questions are a bisection or a short scan."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        self._missed: _Times = defaultdict(list)
        self._found: _Times = defaultdict(list)
        self._named: dict[tuple[str, str], int] = {}
        self._by_stem: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._written: dict[tuple[str, str], list[Written]] = defaultdict(list)
        self._holding: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        self._ran: _Times = defaultdict(list)
        self._direct: _Times = defaultdict(list)
        self._last_check: dict[tuple[str, str], int] = {}
        for trace in traces:
            for step in trace.steps:
                self._take(trace, step)
        for table in (self._missed, self._found, self._ran, self._direct):
            for times in table.values():
                times.sort()

    def _take(self, trace: Trace, step: Step) -> None:
        action = step.action
        missing = missing_paths(step)
        for path in missing:
            self._direct[trace.project, path].append(step.at_ms)
        if missing or (action.kind in LOOKS and action.empty):
            self._count(self._missed, trace, missing or action.paths, step.at_ms)
        elif step.ok and action.kind is not ActionKind.OTHER and _shows_its_paths(step):
            self._count(self._found, trace, action.paths, step.at_ms)
            for path in action.paths:
                self._remember(trace.project, path, step.at_ms)
        if step.ok and action.kind in CHANGES and action.new and action.paths:
            self._write(trace, step)
        for part in step.parts:
            for n in range(1, min(4, len(part.words) + 1)):
                self._ran[trace.project, " ".join(part.words[:n])].append(step.at_ms)
        for head in step.heads:
            key = (trace.session, " ".join(head))
            self._last_check[key] = max(step.at_ms, self._last_check.get(key, step.at_ms))

    def _count(self, table: _Times, trace: Trace, paths: Iterable[str], at_ms: int) -> None:
        for prefix in {a for path in paths for a in ancestors(path)}:
            table[trace.project, prefix].append(at_ms)

    def _remember(self, project: str, path: str, at_ms: int) -> None:
        first = self._named.get((project, path))
        self._named[project, path] = at_ms if first is None else min(first, at_ms)
        if named := stem(path):
            self._by_stem[project, named].add(path)

    def _write(self, trace: Trace, step: Step) -> None:
        path = step.action.paths[0]
        kind = ending(path)
        rows = self._written[trace.project, kind]
        for word in sorted(set(_WORD.findall(step.action.new)))[:_MOST_WORDS]:
            self._holding[trace.project, kind, word].append(len(rows))
        rows.append(Written(step.at_ms, trace.session, step.action.id, path, step.action.new, step.action.old))

    def missed(self, project: str, path: str, until_ms: int = EVER) -> int:
        """How often a look at the path or below it found nothing."""
        return bisect_left(self._missed.get((project, path), ()), until_ms)

    def found(self, project: str, path: str, until_ms: int = EVER) -> int:
        """How often a look or change at the path or below it worked."""
        return bisect_left(self._found.get((project, path), ()), until_ms)

    def gone(self, project: str, path: str, until_ms: int = EVER) -> bool:
        """Whether looks at the path or below it mostly fail, or have failed ever since it was last found.

        The latter takes two failures, one of them a word that this very path is not there.
        """
        missed = self._missed.get((project, path), [])
        found = self._found.get((project, path), [])
        n, m = bisect_left(missed, until_ms), bisect_left(found, until_ms)
        if n and n >= MOSTLY * (n + m):
            return True
        last = found[m - 1] if m else 0
        direct = self.said_missing(project, path, until_ms)
        return n - bisect_left(missed, last) >= 2 and bool(direct) and direct[-1] > last

    def said_missing(self, project: str, path: str, until_ms: int = EVER) -> list[int]:
        """When it was said that this very path is not there."""
        times = self._direct.get((project, path), [])
        return times[: bisect_left(times, until_ms)]

    def named(self, project: str, path: str, until_ms: int = EVER) -> bool:
        """Whether some action had named this very path, and worked."""
        return self._named.get((project, path), EVER) < until_ms

    def other_endings(self, project: str, path: str, until_ms: int = EVER) -> list[str]:
        """Paths that differ from this one by their ending alone and that worked, in order of their names."""
        known = self._by_stem.get((project, stem(path)), ())
        return sorted(p for p in known if p != path and self.named(project, p, until_ms))

    def ran(self, project: str, start: str, until_ms: int = EVER) -> int:
        """How often a command began with these (one to three) words."""
        return bisect_left(self._ran.get((project, start), ()), until_ms)

    def checked(self, row: Written, checks: Iterable[str]) -> bool:
        """Whether one of these commands (program and sub-command) ran in the same session after the write."""
        return any(self._last_check.get((row.session, check), -1) >= row.at_ms for check in checks)

    def holding(self, project: str, kind: str, fragment: str, until_ms: int = EVER) -> list[Written]:
        """What was written to files of that ending and adds the fragment."""
        rows = self._written.get((project, kind), [])
        words = _WORD.findall(fragment)
        inner = words[1:-1] if len(words) > 2 else []  # the first and last may be parts of longer words
        whole = [w for w in (*inner, *words) if _stands_alone(fragment, w)]
        candidates = min((self._holding.get((project, kind, w), []) for w in whole), key=len, default=range(len(rows)))
        return [rows[i] for i in candidates if rows[i].at_ms < until_ms and rows[i].adds(fragment)]

    def kinds_holding(self, project: str, fragment: str, until_ms: int = EVER) -> dict[str, int]:
        """How many writes added the fragment, found by its longest word, by the ending of the file."""
        words = sorted(set(_WORD.findall(fragment)), key=len, reverse=True)[:1]
        counts: dict[str, int] = {}
        for kind in sorted(kind for owner, kind in self._written if owner == project):
            rows = self._written[project, kind]
            held = self._holding.get((project, kind, *words), []) if words else []
            n = sum(rows[i].at_ms < until_ms and rows[i].adds(fragment) for i in held)
            counts.update({kind: n} if n else {})
        return counts


def _stands_alone(fragment: str, word: str) -> bool:
    """Whether the word cannot be part of a longer one in a text that holds the fragment."""
    at = fragment.find(word)
    before, after = fragment[:at], fragment[at + len(word) :]
    return bool(before) and bool(after)
