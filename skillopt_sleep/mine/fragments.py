"""Fragments of code: what failing lines have in common and others have not, and what one line became in the next.

A fragment is a run of whole tokens with the spacing between them as it was written, so that it can be looked for as
plain text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(
    r"[A-Za-z_$][\w$]*|\d[\w.]*|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`|"
    r":=|=>|->|::|===|!==|==|!=|<=|>=|&&|\|\||\+\+|--|\.\.\.|[^\s\w]"
)
_WORD: Final = re.compile(r"[A-Za-z_]\w+")
_LONGEST_LINE: Final = 240
_MOST_TOKENS: Final = 48
_LONGEST_RUN: Final = 7
_TRIED: Final = 400

PRECISE: Final = 0.2
"""A fragment is worth a try where at least this share of the writes that add it went wrong; the gate decides."""
_AS_GOOD: Final = 0.8
_LITERAL: Final = re.compile(r"[\"'`]|\d")


@dataclass(frozen=True, slots=True)
class Bad:
    """A line that went wrong: in which session, in which write (an action's id), and what it became."""

    session: str
    action: int
    line: str
    mended: str = ""


@dataclass(frozen=True, slots=True)
class Fragment:
    """What is common: in how many sessions and writes it went wrong, and in how many writes it stood at all."""

    text: str
    sessions: int
    wrong: int
    all: int

    @property
    def precision(self) -> float:
        return self.wrong / max(1, self.all)


def tokens(line: str) -> list[tuple[int, int]]:
    """The places of a line's tokens, at most 48."""
    return [m.span() for m in _TOKEN.finditer(line[:_LONGEST_LINE])][:_MOST_TOKENS]


def runs(line: str) -> set[str]:
    """All fragments of one to seven tokens that could be looked for."""
    spans = tokens(line)
    found = set()
    for i in range(len(spans)):
        for j in range(i, min(i + _LONGEST_RUN, len(spans))):
            text = line[spans[i][0] : spans[j][1]]
            if telling(text):
                found.add(text)
    return found


def telling(text: str) -> bool:
    """Whether a fragment can stand for itself: a name of four letters, or a shorter one with marks around it."""
    if len(text.strip()) < 4 or "`" in text or "\n" in text:
        return False
    return bool(_WORD.search(text)) or len(re.sub(r"[\s\w]", "", text)) >= 3


def common(bad: Sequence[Bad], writes_with: Callable[[str], Iterable[int]]) -> Fragment | None:
    """The fragment that most sessions' bad lines share and few other writes add.

    None where none is shared by more than half of the sessions, or precise enough.

    `writes_with` gives the ids of all writes (to files of that kind) that add a fragment.
    """
    sessions: dict[str, set[str]] = defaultdict(set)
    wrong: dict[str, set[int]] = defaultdict(set)
    for row in bad:
        for run in runs(row.line):
            sessions[run].add(row.session)
            wrong[run].add(row.action)
    shared = [run for run, seen in sessions.items() if len(seen) >= 2]
    shared.sort(key=lambda run: (-len(sessions[run]), -len(run), run))
    enough = len({row.session for row in bad}) / 2

    def measured(run: str) -> Fragment:
        return Fragment(run, len(sessions[run]), len(wrong[run]), len(wrong[run] | set(writes_with(run))))

    found = (measured(run) for run in _widest(shared, sessions)[:_TRIED])
    precise = [f for f in found if f.precision >= PRECISE and f.sessions > enough]
    if not precise:
        return None
    best = max(precise, key=lambda f: (f.sessions * f.precision, f.sessions, len(f.text), f.text))
    inner = [measured(run) for run in sorted(runs(best.text)) if len(sessions[run]) >= best.sessions]
    return _most_general([best, *(f for f in inner if f.precision >= _AS_GOOD * best.precision)])


def _most_general(equals: Sequence[Fragment]) -> Fragment:
    """Of a fragment and those inside it: without literals, beginning with a name, precise, long."""
    return max(
        equals, key=lambda f: (not _LITERAL.search(f.text), bool(_WORD.match(f.text)), f.precision, len(f.text), f.text)
    )


def _widest(shared: list[str], sessions: dict[str, set[str]]) -> list[str]:
    """Without fragments that lie inside a longer one seen in the same sessions: that one says more."""
    kept: dict[frozenset[str], list[str]] = defaultdict(list)
    for run in shared:
        longer = kept[frozenset(sessions[run])]
        if len(longer) < 40 and not any(run in other for other in longer):
            longer.append(run)
    return [run for runs_ in kept.values() for run in runs_]


def replaced(old: str, new: str) -> tuple[str, str]:
    """What one line lost and what it got instead, whole tokens; ("", "") where more than one stretch differs a lot.

    >>> replaced("x = load(a)", "x = fetch(a)")
    ('load', 'fetch')
    """
    a, b = old[:_LONGEST_LINE], new[:_LONGEST_LINE]
    spans_a, spans_b = tokens(a), tokens(b)
    words_a, words_b = [a[i:j] for i, j in spans_a], [b[i:j] for i, j in spans_b]
    front = _alike(words_a, words_b)
    back = min(_alike(words_a[::-1], words_b[::-1]), min(len(words_a), len(words_b)) - front)
    if front + back == 0:
        return "", ""
    return _between(a, spans_a, front, back), _between(b, spans_b, front, back)


def _alike(a: Sequence[str], b: Sequence[str]) -> int:
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return n


def _between(line: str, spans: Sequence[tuple[int, int]], front: int, back: int) -> str:
    inner = spans[front : len(spans) - back]
    return line[inner[0][0] : inner[-1][1]] if inner else ""


def line_pairs(old: str, new: str) -> list[tuple[str, str]]:
    """Lines that one text lost, each with what the other has in its place ("" where it has nothing)."""
    before, after = _lines(old), _lines(new)
    kept, had = set(after), set(before)
    gone = [line for line in before if line not in kept]
    come = [line for line in after if line not in had]
    if len(gone) == len(come):
        return list(zip(gone, come, strict=True))
    others = [(line, frozenset(_WORD.findall(line))) for line in come[:60]]
    return [(line, _closest(line, others)) for line in gone[:60]]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n", 400)[:400] if line.strip()]


def _closest(line: str, others: Sequence[tuple[str, frozenset[str]]]) -> str:
    words = frozenset(_WORD.findall(line))
    scored = [(len(words & theirs) / max(1, len(words)), -i) for i, (_, theirs) in enumerate(others)]
    best = max(scored, default=(0.0, 0))
    return others[-best[1]][0] if best[0] >= 0.5 else ""


def common_start(texts: Sequence[str]) -> str:
    """The whole tokens with which all the texts begin, "" where they begin differently."""
    if not texts:
        return ""
    words = [[text[i:j] for i, j in tokens(text)] for text in texts]
    n = min(_alike(words[0], other) for other in words)
    spans = tokens(texts[0])[:n]
    start = texts[0][spans[0][0] : spans[-1][1]] if spans else ""
    return start if all(text.lstrip().startswith(start) for text in texts) else ""
